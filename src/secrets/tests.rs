//! Keys of many kinds, made from random tokens, and ordinary lines.

use proptest::prelude::*;

use crate::secrets::tests::formats::{FORMATS, Format, alphabet};
use crate::secrets::*;

mod formats;

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
    let text = format!("{key}\n\n{escaped}\n").repeat(2_000);
    let found = find_lines(&text, 5);
    let lines: Vec<usize> = found.iter().map(|(_, line)| *line).collect();
    let expected: Vec<usize> = (0..2_000).flat_map(|at| [5 + 3 * at, 7 + 3 * at]).collect();
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
    let aws = format!("{}/{}", &DRAWN[..21], &DRAWN[21..39]);
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
        ("password: hunter2horse9", "hunter2horse9"),
        ("root pw: zx81Spectrum", "zx81Spectrum"),
        ("smtp:\n  - user: ada\n  - password: hunter2horse9\n  - port: 25", "hunter2horse9"),
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
fn finds_values_behind_names_of_other_languages_and_notations() {
    let key = &DRAWN[..32];
    for text in [
        "const apiKey: string = '{}';",
        "API_KEY: str = \"{}\"",
        "api_key: str | None = \"{}\"",
        "val authToken: String = \"{}\"",
        "const TOKEN: &'static str = \"{}\";",
        "password: |\n  {}\n",
        "client_secret: >-\n    {}\n",
        "the API key `{}`",
        "access token \"{}\"",
        "mot de passe : {}",
        "Contraseña: {}",
        "senha={}",
        "пароль: {}",
        "パスワード：{}",
        "密码：{}。然后",
    ] {
        let text = text.replace("{}", key);
        let found: Vec<&str> = find(&text).iter().map(|one| &text[one.range.clone()]).collect();
        assert_eq!(found, [key], "{text}");
    }
}

#[test]
fn emphasis_and_invisible_characters_hide_no_key() {
    let hex = "9f86d081884c7d659a2feaa0c55ad015";
    for key in [format!("SK{hex}"), format!("{hex}-us7"), drawn("ghp_", 36)] {
        assert_eq!(redact(&format!("_{key}_")).text, "_[redacted]_");
        for unseen in ["\u{200b}", "\u{ad}", "\u{200d}", "\u{2060}"] {
            let split = format!("{}{unseen}{}", &key[..20], &key[20..]);
            assert_eq!(redact(&format!("the {split}{unseen} box")).text, "the [redacted] box");
        }
    }
    let word = format!("box\u{200b}{}", drawn("sk_live_", 16));
    assert_eq!(redact(&word).text, "box\u{200b}[redacted]");
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
fn finds_passwords_of_tools_and_of_letters_alone() {
    for (text, value) in [
        ("htpasswd -bB users.htpasswd ada hunterXqz9", "hunterXqz9"),
        ("htpasswd -nb ada kqWzRtVbNx", "kqWzRtVbNx"),
        ("unzip -o -P hunterXqz9 backup.zip", "hunterXqz9"),
        ("gh secret set DEPLOY --body 'q7Zt2LmX9vKc4RbW8nYs'", "q7Zt2LmX9vKc4RbW8nYs"),
        ("{\"sensitive\": true, \"type\": \"string\", \"value\": \"hunter2xq9\"}", "hunter2xq9"),
        ("API_TOKEN=kqWzRtVbNxLp", "kqWzRtVbNxLp"),
        ("the token is kqWzRtVbNxLp.", "kqWzRtVbNxLp"),
        ("smtp_pass = kqwzrtvbnxlpcdfg", "kqwzrtvbnxlpcdfg"),
        ("App password: kqwz rtvb nxlp cdfg", "kqwz rtvb nxlp cdfg"),
        ("echo 'ada:hunter2xq9' | sudo chpasswd", "hunter2xq9"),
        ("echo hunter2xq9 | docker login -u ada --password-stdin", "hunter2xq9"),
        (
            "npm config set //npm.example.org/:_authToken 7b1f2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d",
            "7b1f2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d",
        ),
        ("key_9f86d081884c7d659a2feaa0c55ad015-us7", "9f86d081884c7d659a2feaa0c55ad015-us7"),
        (
            "decide on q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUoB0iN",
            "q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUoB0iN",
        ),
    ] {
        let found = find(text);
        let found: Vec<&str> = found.iter().map(|secret| &text[secret.range.clone()]).collect();
        assert_eq!(found, [value], "{text}");
    }
}

#[test]
fn every_row_of_the_table_can_be_read() {
    let kinds: Vec<&Kind> = KINDS.values().flatten().collect();
    let starts: usize = rows("prefixes").map(|row| row.split_whitespace().count() - 3).sum();
    assert_eq!(kinds.len(), starts);
    for kind in kinds {
        let is_signs = kind.body.bytes().all(|byte| byte.is_ascii_punctuation());
        let is_body = is_signs || ["hex", "upper", "alnum"].contains(&kind.body);
        assert!(is_body && (8..=100).contains(&kind.least), "{}", kind.rule);
    }
    for row in &*ROWS {
        assert!(compiled(row.pattern).as_str().len() > 4, "{}", row.pattern);
    }
    for row in ROWS.iter().filter(|row| row.section == "contexts") {
        assert!(
            ["named", "url", "pair", "basic", "bearer", "random", "chosen"].contains(&row.word),
            "{}",
            row.pattern
        );
    }
    assert!(SECTIONS.values().all(|section| !section.text.trim().is_empty()));
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
        ["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "/bPxRfiCY", "EXAMPLEKEY"].concat(),
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
        "- Password: PBKDF2-SHA256\n- Password: bcrypt-hashed\ntests_pass: 100.0%".to_owned(),
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
        "password: string = 'Enter your password', apiKey: string = config.apiKey2".to_owned(),
        "the token `refresh_token_v2`, the secret \"api-credentials\", API key `X-Api-Key-2`".to_owned(),
        "mot de passe : oublié, 密码：请输入密码。secret: |\n  see the vault\n".to_owned(),
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
        "\"token\" ", "password=", "token|", "password>", "--token ", "|-|-|\n", "a/B0",
    ] {
        assert_eq!(find(&piece.repeat(1 << 12)), [], "{piece}");
    }
}

#[test]
fn a_long_word_with_many_names_is_read_once() {
    let text = "API_KEY=q7Zt2LmX9vKc4".repeat(1 << 14);
    assert_eq!(redact(&text).text, "API_KEY=[redacted]");
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

/// A small deterministic generator: the same tokens in every run and on every machine.
struct Generator(u64);

impl Generator {
    fn index(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn token(&mut self, format: Format) -> String {
        let mut token = String::new();
        for (literal, name, length) in format {
            token.push_str(literal);
            let letters = alphabet(*name);
            token.extend((0..*length).map(|_| char::from(letters[self.index(letters.len())])));
        }
        token
    }
}

#[test]
fn random_keys_of_current_kinds_are_found() {
    const TOKENS: usize = 200;
    let mut generator = Generator(7);
    let mut weak = Vec::new();
    for format in FORMATS {
        let tokens: Vec<String> =
            (0..TOKENS).map(|_| format!("use {} for the box", generator.token(format))).collect();
        let missed: Vec<&String> = tokens.iter().filter(|token| find(token).is_empty()).collect();
        if missed.len() * 100 > TOKENS {
            weak.push(format!("{} missed, such as {:?}", missed.len(), missed[0]));
        }
    }
    assert!(FORMATS.len() >= 130);
    assert!(weak.is_empty(), "{} kinds\n{}", weak.len(), weak.join("\n"));
}

#[test]
fn words_after_the_name_of_a_password_are_a_password_unless_they_are_a_message() {
    for text in ["{\"password\": \"three words here\"}", "'passphrase': 'purple tiger lamp nine'"] {
        assert_eq!(find(text).len(), 1, "{text}");
    }
    for text in ["\"password\": \"enter a password\"", "\"password\": \"see the wiki page\""] {
        assert_eq!(find(text), [], "{text}");
    }
}

#[test]
fn a_word_with_digits_after_the_name_of_a_password_is_one_unless_it_names_an_algorithm() {
    for text in [
        "password = swordfish99",
        "password: hunter2",
        "password is hunter2hunter2",
        "the admin password is hunter2, ask Ada",
        "- **Password:** hunter2 (staging)",
        "Kennwort: blauwal77",
        "das Passwort für den Testserver lautet blauwal77",
        "la contraseña es ballena77",
        "le mot de passe est baleine77",
        "DB_PW=swordfish99",
        "the password for the staging server is swordfish99",
    ] {
        assert_eq!(find(text).len(), 1, "{text}");
    }
    for text in [
        "password is required",
        "password: see 1Password",
        "the password is stored in vault 2",
        "password: sha256 of the input",
        "password is 12-character",
        "password = config.db2.pass",
        "password: test1234",
    ] {
        assert_eq!(find(text), [], "{text}");
    }
}

#[test]
fn ordinary_lines_raise_no_alarm() {
    let lines: Vec<&str> = include_str!("tests/ordinary.txt").lines().collect();
    let alarms: Vec<_> = lines
        .iter()
        .flat_map(|line| find(line).into_iter().map(move |found| (found.rule, line)))
        .collect();
    assert!(lines.len() >= 250, "{}", lines.len());
    assert!(alarms.is_empty(), "{alarms:#?}");
}

#[test]
fn the_lines_of_a_certificate_raise_no_alarm() {
    let line = &DRAWN[..64];
    for label in ["CERTIFICATE", "PUBLIC KEY"] {
        for end in ["", "\n-----END x-----"] {
            let block = format!("-----BEGIN {label}-----\n{line}\n{line}{end}");
            assert!(find(&block).is_empty(), "{block}");
        }
    }
    assert_eq!(find(line).len(), 1);
}

#[test]
fn nothing_public_hides_a_key() {
    let key = drawn("ghp_", 36);
    for text in [
        format!("-----BEGIN CERTIFICATE-----\n{key}\n-----END CERTIFICATE-----"),
        format!("pk_live_51H8xYzAbCd/{key}"),
        format!("-----BEGIN x-----\n-----END {} {key}", "é".repeat(30)),
    ] {
        let found = find(&text);
        assert_eq!(
            found.iter().map(|secret| &text[secret.range.clone()]).collect::<Vec<_>>(),
            [&key],
            "{text}"
        );
    }
}

#[test]
fn keys_are_found_whatever_their_letters() {
    for token in [
        ["gh", "p_xxxYourPlaceholderChangemeRedacted1234567"].concat(),
        ["AK", "IAXXXQ7YOURKEYZ2Q4"].concat(),
        ["AK", "IAABABABABABABABAB"].concat(),
        ["sk_", "live_abcdefghijklmnopqrstuvwx"].concat(),
    ] {
        assert_eq!(find(&token).len(), 1, "{token}");
    }
}

#[test]
fn names_of_secrets_are_known_in_the_plural_and_with_qualifiers() {
    for (name, expected) in [
        ("db_password", Some("password")),
        ("api tokens", Some("token")),
        ("github.api_keys_prod", Some("key")),
        ("clientSecretV2", None),
        ("client_secret_v2", Some("secret")),
        ("project.auth", None),
        ("max_tokens_used", None),
    ] {
        assert_eq!(secret_name(name), expected, "{name}");
    }
}

#[test]
fn random_basic_credentials_are_found() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let mut generator = Generator(11);
    let missed = (0..300).filter(|_| {
        let pair = generator.token(&[("", 'a', 6), (":", 't', 12)]);
        find(&format!("Authorization: Basic {}", STANDARD.encode(pair))).is_empty()
    });
    assert!(missed.count() <= 3);
}
