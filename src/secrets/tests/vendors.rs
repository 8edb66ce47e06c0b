//! Measures how many randomly generated, well-formed tokens of each vendor are found.

use crate::secrets::find;

const TOKENS_PER_VENDOR: usize = 300;
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALPHANUMERIC: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HEX: &str = "0123456789abcdef";
const DIGITS: &str = "0123456789";
const BECH32: &str = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
const TYPED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-_=~";

/// The format of a token: literal texts, each followed by a number of characters of an alphabet.
type TokenFormat = &'static [(&'static str, &'static str, usize)];

/// Split into parts, so that no scanner finds a token in this file.
const VENDOR_FORMATS: &[(&str, TokenFormat)] = &[
    ("aws access key", &[("AKIA", BASE32, 16)]),
    ("aws session key", &[("ASIA", BASE32, 16)]),
    ("aws secret key", &[("AWS_SECRET_ACCESS_KEY=", BASE64, 40)]),
    ("aws secret key, quoted", &[("\"SecretAccessKey\": \"", BASE64, 40), ("\"", "", 0)]),
    ("github", &[("ghp_", ALPHANUMERIC, 36)]),
    ("github app", &[("ghs_", ALPHANUMERIC, 36)]),
    ("github fine-grained", &[("github_pat_", ALPHANUMERIC, 22), ("_", ALPHANUMERIC, 59)]),
    ("gitlab", &[("glpat-", WORD, 20)]),
    ("slack bot", &[("xoxb-", DIGITS, 12), ("-", DIGITS, 13), ("-", ALPHANUMERIC, 24)]),
    ("slack user", &[("xoxp-", DIGITS, 12), ("-", DIGITS, 12), ("-", DIGITS, 13), ("-", HEX, 32)]),
    ("slack app", &[("xapp-1-A", UPPER, 10), ("-", DIGITS, 13), ("-", HEX, 64)]),
    (
        "slack webhook",
        &[
            ("https://hooks.slack.com/services/T", UPPER, 10),
            ("/B", UPPER, 10),
            ("/", ALPHANUMERIC, 24),
        ],
    ),
    ("stripe", &[("sk_live_", ALPHANUMERIC, 24)]),
    ("stripe restricted", &[("rk_test_", ALPHANUMERIC, 99)]),
    ("stripe webhook", &[("whsec_", ALPHANUMERIC, 32)]),
    ("google api", &[("AIza", WORD, 35)]),
    ("google oauth secret", &[("GOCSPX-", WORD, 28)]),
    ("openai", &[("sk-", ALPHANUMERIC, 48)]),
    ("openai project", &[("sk-proj-", WORD, 74), ("T3BlbkFJ", WORD, 74)]),
    ("anthropic", &[("sk-ant-api03-", WORD, 93), ("AA", "", 0)]),
    ("hugging face", &[("hf_", ALPHANUMERIC, 34)]),
    ("npm", &[("npm_", ALPHANUMERIC, 36)]),
    ("pypi", &[("pypi-AgEIcHlwaS5vcmc", WORD, 60)]),
    ("sendgrid", &[("SG.", WORD, 22), (".", WORD, 43)]),
    ("digitalocean", &[("dop_v1_", HEX, 64)]),
    ("twilio key", &[("SK", HEX, 32)]),
    ("twilio account", &[("AC", HEX, 32)]),
    ("twilio auth token", &[("TWILIO_AUTH_TOKEN=", HEX, 32)]),
    ("age", &[("AGE-SECRET-KEY-1", BECH32, 58)]),
    ("jwt", &[("eyJ", WORD, 33), (".eyJ", WORD, 60), (".", WORD, 43)]),
    ("url", &[("postgres://app:", TYPED, 16), ("@db.internal/app", "", 0)]),
    ("json", &[("{\"password\": \"", TYPED, 12), ("\"}", "", 0)]),
];

/// A small deterministic generator: the same tokens in every run and on every machine.
struct TokenGenerator(u64);

impl TokenGenerator {
    fn index(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn token(&mut self, form: TokenFormat) -> String {
        let mut token = String::new();
        for (literal, alphabet, length) in form {
            token.push_str(literal);
            for _ in 0..*length {
                let at = self.index(alphabet.len());
                token.push_str(&alphabet[at..=at]);
            }
        }
        token
    }
}

#[test]
fn at_least_99_percent_of_random_tokens_of_each_vendor_are_found() {
    let mut generator = TokenGenerator(7);
    let mut weak = Vec::new();
    for (vendor, form) in VENDOR_FORMATS {
        let tokens: Vec<String> = (0..TOKENS_PER_VENDOR).map(|_| generator.token(form)).collect();
        let missed: Vec<&String> = tokens.iter().filter(|token| find(token).is_empty()).collect();
        if missed.len() * 100 > TOKENS_PER_VENDOR {
            weak.push(format!("{vendor}: {} missed, such as {}", missed.len(), missed[0]));
        }
    }
    assert!(weak.is_empty(), "\n{}", weak.join("\n"));
}

#[test]
fn vendor_tokens_are_found_whatever_their_letters() {
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
fn random_basic_credentials_are_found() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let mut generator = TokenGenerator(11);
    let missed = (0..TOKENS_PER_VENDOR).filter(|_| {
        let pair = generator.token(&[("", ALPHANUMERIC, 6), (":", TYPED, 12)]);
        find(&format!("Authorization: Basic {}", STANDARD.encode(pair))).is_empty()
    });
    assert!(missed.count() * 100 <= TOKENS_PER_VENDOR);
}
