//! Finds and redacts secrets: keys, tokens and passwords.

mod assignment;
mod encoded;
mod keys;
mod name;
mod password;
mod value;
mod word;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use name::secret_name;
use serde_json::Value;

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// How text that looks like a secret is handled when it is to be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretPolicy {
    /// It is not stored: the write is refused, or the text is left out or redacted.
    #[default]
    Refuse,
    /// It is stored unchanged.
    Allow,
}

impl From<bool> for SecretPolicy {
    /// Converts the option `--allow-secret`.
    fn from(is_allowed: bool) -> Self {
        if is_allowed { Self::Allow } else { Self::Refuse }
    }
}

/// A part of a text that looks like a key, token or password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The rule that matched, as shown in an error: `aws-access-key`, `github-token`, `password`, ….
    pub rule: &'static str,
    /// Byte range: of an assignment the value, of a private key the whole block.
    pub range: Range<usize>,
}

/// A text with its secrets redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text with [`REDACTED`] in place of each secret.
    pub text: Cow<'a, str>,
    /// The rules that matched, without duplicates, in the order of the text.
    pub rules: Vec<&'static str>,
}

/// Returns all secrets in the text, in order and without overlaps.
///
/// Keys with a known format are found anywhere; a value without one only if it is assigned to a name such as
/// `password` and looks random. Hashes, UUIDs, paths and placeholders are not secrets. A single pass over the
/// bytes: a text without a suspicious word costs nothing more.
pub fn find(text: &str) -> Vec<Secret> {
    let mut secrets = in_plain(text);
    if text.contains("\\_") || text.contains("\\-") {
        secrets.extend(escaped(text, &secrets));
        secrets.sort_by_key(|secret| secret.range.start);
    }
    secrets
}

/// Returns the rule that the first secret in the text matches.
pub(crate) fn first_rule(text: &str) -> Option<&'static str> {
    find(text).first().map(|secret| secret.rule)
}

/// Returns the rule that a secret in one of the strings of a JSON value matches; keys are not searched.
pub(crate) fn first_rule_in_json(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => first_rule(text),
        Value::Array(items) => items.iter().find_map(first_rule_in_json),
        Value::Object(fields) => fields.values().find_map(first_rule_in_json),
        _ => None,
    }
}

/// Returns the rule and the line number of every secret in a text whose first line is line `first`.
pub(crate) fn find_lines(text: &str, first: usize) -> Vec<(&'static str, usize)> {
    let mut line = first;
    let mut at = 0;
    let place = |secret: Secret| {
        line += text[at..secret.range.start].matches('\n').count();
        at = secret.range.start;
        (secret.rule, line)
    };
    find(text).into_iter().map(place).collect()
}

/// Returns the secrets that are only recognisable without Markdown's escapes, which converters write:
/// `ghp\_…`.
fn escaped(text: &str, known: &[Secret]) -> Vec<Secret> {
    let mut plain = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len() + 1);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let escapes = |next: &(usize, char)| matches!(next.1, '_' | '-');
        if c == '\\' && chars.peek().is_some_and(escapes) {
            continue;
        }
        plain.push(c);
        places.extend((0..c.len_utf8()).map(|byte| at + byte));
    }
    places.push(text.len());
    let overlaps = |range: &Range<usize>| {
        let first = known.partition_point(|known| known.range.end <= range.start);
        let first = known.get(first);
        first.is_some_and(|known| known.range.start < range.end)
    };
    let found = in_plain(&plain).into_iter();
    let found = found.map(|secret| Secret {
        range: places[secret.range.start]..places[secret.range.end],
        ..secret
    });
    found.filter(|secret| !overlaps(&secret.range)).collect()
}

fn in_plain(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut secrets = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let word = bytes[at..].iter().take_while(|b| is_word(**b)).count();
        let secret = match byte {
            _ if word > 0 => word::at_word(text, at, at + word),
            b':' => assignment::at_separator(text, at).or_else(|| password::in_quotes(text, at)),
            b'=' => assignment::at_separator(text, at),
            _ => None,
        };
        at += word.max(1);
        if let Some(secret) = secret {
            at = at.max(secret.range.end);
            secrets.push(secret);
        }
    }
    secrets
}

/// Returns the text with every secret replaced, and the rules that matched.
pub fn redact(text: &str) -> Redacted<'_> {
    let secrets = find(text);
    let mut rules = Vec::new();
    if secrets.is_empty() {
        return Redacted { text: Cow::Borrowed(text), rules };
    }
    let mut clean = String::with_capacity(text.len());
    let mut kept = 0;
    for Secret { rule, range } in secrets {
        clean.push_str(&text[kept..range.start]);
        clean.push_str(REDACTED);
        kept = range.end;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    clean.push_str(&text[kept..]);
    Redacted { text: Cow::Owned(clean), rules }
}

/// Returns whether a byte may be part of a word in a key.
fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    mod vendors;

    use proptest::prelude::*;

    use super::*;

    /// Letters and digits like those of a key generator. Keys are assembled at run time, so that no scanner
    /// finds one in this file.
    const DRAWN: &str = "q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUoB0iNxMwCrVyGkSzDfAhJlEpOuI7t2";

    fn drawn(prefix: &str, length: usize) -> String {
        format!("{prefix}{}", &DRAWN[..length])
    }

    fn positives() -> Vec<(&'static str, String)> {
        let hex = "9f86d081884c7d659a2feaa0c55ad015";
        let jwt = format!("{}.{}.{}", drawn("eyJ", 20), drawn("eyJ", 30), drawn("", 43));
        let upper = DRAWN[..16].to_uppercase();
        vec![
            ("aws-access-key", format!("AKIA{upper}")),
            ("aws-access-key", format!("ASIA{upper}")),
            ("github-token", drawn("ghp_", 36)),
            ("github-token", drawn("gho_", 36)),
            ("github-token", format!("{}_{}", drawn("github_pat_", 22), drawn("", 59))),
            ("gitlab-token", drawn("glpat-", 20)),
            ("slack-token", drawn("xoxb-123456789012-1234567890123-", 24)),
            ("slack-webhook", drawn("hooks.slack.com/services/T00000000/B00000000/", 24)),
            ("stripe-key", drawn("sk_live_", 24)),
            ("stripe-key", drawn("rk_test_", 24)),
            ("google-api-key", drawn("AIza", 35)),
            ("anthropic-key", drawn("sk-ant-api03-", 60)),
            ("openai-key", drawn("sk-proj-", 48)),
            ("openai-key", drawn("sk-", 48)),
            ("huggingface-token", drawn("hf_", 34)),
            ("npm-token", drawn("npm_", 36)),
            ("pypi-token", drawn("pypi-AgEIcHlwaS5vcmc", 60)),
            ("sendgrid-key", format!("{}.{}", drawn("SG.", 22), drawn("", 43))),
            ("digitalocean-token", format!("dop_v1_{hex}{hex}")),
            ("jwt", jwt),
        ]
    }

    #[test]
    fn finds_keys_with_known_formats_anywhere() {
        for (rule, key) in positives() {
            for (before, after) in [
                ("", ""),
                ("use ", " now"),
                ("é`", "`."),
                ("KEY=\"", "\""),
                ("(", ")"),
                ("x/", ""),
                ("prod_", ""),
                ("old-key-", "."),
                ("\"first line\\n", "\\n\""),
            ] {
                let text = format!("{before}{key}{after}");
                let range = before.len()..before.len() + key.len();
                assert_eq!(find(&text), [Secret { rule, range }], "{text}");
            }
        }
    }

    #[test]
    fn each_of_many_keys_is_found_on_its_line() {
        let key = drawn("ghp_", 36);
        let escaped = key.replacen('_', "\\_", 1);
        let text = format!("{key}\n\n{escaped}\n").repeat(20_000);
        let found = find_lines(&text, 5);
        let lines: Vec<usize> = found.iter().map(|(_, line)| *line).collect();
        let expected: Vec<usize> = (0..20_000).flat_map(|at| [5 + 3 * at, 7 + 3 * at]).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn finds_a_private_key_as_a_block() {
        let (begin, end) = (
            ["-----BEGIN", " RSA PRIVATE KEY-----"].concat(),
            ["-----END", " RSA PRIVATE KEY-----"].concat(),
        );
        let body = format!("{DRAWN}\n{DRAWN}");
        for (text, clean) in [
            (format!("a\n{begin}\n{body}\n{end}\nb"), "a\n[redacted]\nb"),
            (format!("a {begin} {DRAWN} {end} b"), "a [redacted] b"),
            (format!("a {begin}\\n{DRAWN}\\n{end}\\n b"), "a [redacted]\\n b"),
            (format!("{begin}\n{body}\nthe end"), "[redacted]\nthe end"),
            (format!("a line of {begin} is refused"), "a line of [redacted] is refused"),
        ] {
            let redacted = redact(&text);
            assert_eq!((redacted.text.as_ref(), redacted.rules), (clean, vec!["private-key"]));
        }
        assert_eq!(find(&begin.replace("PRIVATE", "PUBLIC")), []);
    }

    #[test]
    fn finds_random_values_assigned_to_secret_names() {
        let hex = "9f86d081884c7d659a2feaa0c55ad015";
        let aws = ["wJalrXUtnFEMI/K7MDENG", "/bPxRfiCY", "EXAMPLEKEY"].concat();
        let base36 = DRAWN[..32].to_lowercase();
        for (name, value) in [
            ("password=", "Tr0ub4dor&3"),
            ("PASSWORD: ", "S3cr3tP@ssw0rd!"),
            ("\"db_password\": \"", "Sup3rS3cretPass"),
            ("export API_KEY=", hex),
            ("**API key:** `", hex),
            ("apiKey: '", &base36),
            ("client_secret = ", &DRAWN[..24]),
            ("aws_secret_access_key = ", &aws),
            ("Authorization: Bearer ", &base36),
            ("Authorization: Bearer  ", &base36),
            ("API_KEY_PROD=", &base36),
            ("AUTH_TOKEN_V2=", &base36),
            ("STRIPE_SECRET_TEST_2: ", &base36),
            ("password1=", "Tr0ub4dor&3"),
            ("password=", "Zk!vQp@LmRtWx"),
            ("curl -H \"authorization: bearer ", &base36),
        ] {
            for after in ["", "\"", "'\n", "` and more", ", next", "\u{a0}next"] {
                let text = format!("{name}{value}{after}");
                let found = find(&text);
                assert_eq!(found.len(), 1, "{text}");
                assert_eq!(&text[found[0].range.clone()], value, "{text}");
            }
        }
        for (text, value) in [
            ("{\"password\": \"hunter2\"}", "hunter2"),
            ("{\"password\":\"correcthorsebattery\"}", "correcthorsebattery"),
            ("\\\"dbPassword\\\": \\\"gh7Kp2vQ\\\"", "gh7Kp2vQ"),
            ("{'password': 'hunter2xq9'}", "hunter2xq9"),
            ("{\"password2\": \"hunter2xq9\"}", "hunter2xq9"),
            ("redis://:p4ssw0rd-9@cache:6379", "p4ssw0rd-9"),
            ("https://deploy:correcthorsebattery@git.example.org", "correcthorsebattery"),
            ("Authorization: Basic YWRhOmh1bnRlcjI=", "YWRhOmh1bnRlcjI="),
        ] {
            let found = find(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(&text[found[0].range.clone()], value, "{text}");
        }
        let url = format!("postgres://app:{base36}@db.example.org/app");
        assert_eq!(redact(&url).text, "postgres://app:[redacted]@db.example.org/app");
        let token = drawn("ghp_", 36);
        assert_eq!(find(&format!("TOKEN={token}"))[0].rule, "github-token");
        assert_eq!(
            find(&format!("https://x-access-token:{token}@example.org"))[0].rule,
            "github-token"
        );
    }

    #[test]
    fn finds_passwords_in_urls_whatever_their_characters() {
        for (text, value) in [
            ("postgres://app:Xy7:kQ9zLm2p@db.example.org", "Xy7:kQ9zLm2p"),
            ("postgres://app:Xy7/kQ9zLm2p@db/app?to=a@b", "Xy7/kQ9zLm2p"),
            ("postgres://app:Xy7'kQ9zLm2p@db", "Xy7'kQ9zLm2p"),
            ("postgres://app:$Xy7kQ9z#Lm2p@db.example.org/app", "$Xy7kQ9z#Lm2p"),
            ("postgres://app:$Xy7kQ9z/Lm2p@db.example.org", "$Xy7kQ9z/Lm2p"),
            ("postgres://app:Xy7@kQ9zLm2p@db/app", "Xy7@kQ9zLm2p"),
            ("postgres://app:gehäim9Zx7Qw@db", "gehäim9Zx7Qw"),
        ] {
            let found = find(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(&text[found[0].range.clone()], value, "{text}");
        }
    }

    #[test]
    fn ignores_text_without_secrets() {
        let sha1 = "84e9493aab1f0c2d3e4f5a6b7c8d9e0f1a2b3c4d";
        let sha256 = [&sha1[..32], &sha1[..32]].concat();
        let base36 = DRAWN[..32].to_lowercase();
        for text in [
            format!("fixed in {sha1}, was {}", &sha1[..7]),
            format!("sha256:{sha256}"),
            format!("image token: sha256:{sha256}"),
            "id: 123e4567-e89b-12d3-a456-426614174000".to_owned(),
            "token: 123e4567-e89b-12d3-a456-426614174000".to_owned(),
            "password: see vault".to_owned(),
            "Password hashing: Argon2id, token: Phase-5.1".to_owned(),
            "password = \"Password1\", pwd: changeme123".to_owned(),
            "API_KEY=<API_KEY> token=${GITHUB_TOKEN_2} secret: {{ vault.db2 }}".to_owned(),
            "token: ${{ secrets.GITHUB_TOKEN }}, api_key = os.environ[\"API_KEY_2\"]".to_owned(),
            ["AWS_ACCESS_KEY_ID=AKIA", "IOSFODNN7", "EXAMPLE"].concat(),
            "{\"password\": \"string\", \"old_password\": \"Please enter it\"}".to_owned(),
            "{\"password\": \"${DB_PASS}\", \"pwd\": \"test1234\", \"password\": \"DB_PASSWORD\"}".to_owned(),
            "https://user:password@example.org postgres://app:your-password@db".to_owned(),
            "Basic authentication, Authorization: Basic dXNlcjpwYXNzd29yZA==".to_owned(),
            "AGE-SECRET-KEY-1XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX".to_owned(),
            "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxx github_pat_XXXXXXXXXXXXXXXXXXXXXX_XXXXXXXXXXXXXXXXXXXXX"
                .to_owned(),
            "OPENAI_API_KEY=sk-... or sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx AKIAXXXXXXXXXXXXXXXX".to_owned(),
            "API_KEY=your-api-key-goes-here-2024x1".to_owned(),
            "sk-learn-based-ranking-pipeline-v2 and task-sk-1".to_owned(),
            "xoxb-your-slack-bot-token-here".to_owned(),
            "max_tokens: 4096, tokens_consumed: 123456789, token_count=12a34b56c78d90ef".to_owned(),
            "secret_name: my-app-db-secret-v2".to_owned(),
            "secret: config/prod/db_v2.yaml, token = useAuthTokenV2Provider".to_owned(),
            "const token = createToken(user1, 'abc12345xyz')".to_owned(),
            "let key = Secret::new9x8y7z6w5v4u".to_owned(),
            "src/auth/token_store.rs:120, docs/api-key.md".to_owned(),
            "postgres://postgres:postgres@localhost:5432/app".to_owned(),
            "https://example.org:8443/@scope/pkg@1.2.3".to_owned(),
            "http://localhost:$PORT/@vite/client".to_owned(),
            "http://localhost:$PORT/users/ann@example.org".to_owned(),
            "token: RS256/JWT v1.2.3-beta.4, secret: AES-256-GCM".to_owned(),
            "password: [redacted]".to_owned(),
            "password: ********, secret: …".to_owned(),
            "eyJhbGciOiJIUzI1NiJ9 alone".to_owned(),
            "token: \"1708992000000.a3f9c8...\"".to_owned(),
            "Bearer authentication-middleware-for-v2".to_owned(),
            "パスワード: 東京123abc".to_owned(),
            "oci://image:v1.2/app@sha256, jar:file://C:/Users/a1@b".to_owned(),
            "fetch('http://localhost:3000','ann@example.org')".to_owned(),
            "'http://host:'+port1+'@x', http://api:8080, see a@b".to_owned(),
            "http://localhost:3000/v1/users/ann@example.org".to_owned(),
            "{'password': 'required', 'password2': 'Please enter it'}".to_owned(),
            format!("token_count_2=12a34b56c78d90ef token_hash: {base36}"),
            "?password=Please&User=Admin&Next=Home, token=Foo::Bar!==Baz".to_owned(),
            "Bearer  authentication-middleware-for-v2".to_owned(),
        ] {
            assert_eq!(find(&text), [], "{text}");
        }
    }

    #[test]
    fn long_values_are_redacted_completely_and_hostile_ones_read_once() {
        let long = drawn("", 60).repeat(20);
        assert_eq!(redact(&format!("token={long} x")).text, "token=[redacted] x");
        assert_eq!(redact(&format!("{}{long} x", drawn("sk-proj-", 20))).text, "[redacted] x");
        for piece in [
            "token:", "SG.", "://", "://a:b", "eyJ.", "-----BEGIN ", "Bearer ", "sk-", "x-eyJ",
            "\"token\" ",
        ] {
            assert_eq!(find(&piece.repeat(1 << 14)), [], "{piece}");
        }
    }

    #[test]
    fn escapes_of_markdown_hide_no_key() {
        let key = drawn("ghp_", 36);
        let text = format!("é use {} and \\_this\\_", key.replace('_', "\\_"));
        assert_eq!(redact(&text).text, "é use [redacted] and \\_this\\_");
        let both = format!("{key} {}", key.replace('_', "\\_"));
        assert_eq!(redact(&both).text, "[redacted] [redacted]");
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(redact("nothing here").text, Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn redacted_secrets_are_gone(text in "\\PC*", before in "[a-zé:=\"' -]{0,12}", name in "(password=|Bearer |é: )?") {
            prop_assert!(find(&text).iter().all(|secret| text.get(secret.range.clone()).is_some()));
            for (_, key) in positives() {
                let redacted = redact(&format!("{before} {name}{key}")).text.into_owned();
                prop_assert!(!redacted.contains(&key[key.len() - 12..]), "{redacted}");
                prop_assert_eq!(redact(&redacted).text, redacted.as_str());
            }
        }
    }
}
