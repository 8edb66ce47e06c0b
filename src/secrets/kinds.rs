//! The kinds of keys whose format says what they are.

use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::secrets::Secret;
use crate::secrets::value::{is_english, is_wordy};

/// The characters after the prefix of a key.
#[derive(Clone, Copy)]
enum Body {
    Hex,
    Upper,
    Alnum,
    /// Letters, digits, `-` and `_`.
    Word,
    /// The same, with dots: no part of it is short.
    Dotted,
    /// What base64 and percent-encoding use, and the slashes and dots of a path.
    Any,
}

use Body::{Alnum, Any, Dotted, Hex, Upper, Word};

impl Body {
    fn contains(self, byte: u8) -> bool {
        match self {
            Hex => byte.is_ascii_hexdigit(),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alnum => byte.is_ascii_alphanumeric(),
            Word => byte.is_ascii_alphanumeric() || b"-_".contains(&byte),
            Dotted => byte.is_ascii_alphanumeric() || b"-_.".contains(&byte),
            Any => byte.is_ascii_alphanumeric() || b"-_./+=%:~$@".contains(&byte),
        }
    }
}

/// A row is a kind: its name, the prefixes of its keys, and the characters and least length of what follows.
const KINDS: &[(&str, &str, Body, usize)] = &[
    // Clouds
    ("aws-access-key", "AKIA ASIA ABIA ACCA", Upper, 16),
    ("aws-bedrock-key", "ABSK bedrock-api-key-", Any, 80),
    ("google-api-key", "AIza", Word, 35),
    ("google-api-key", "AQ.Ab8", Word, 30),
    ("google-oauth-secret", "GOCSPX-", Word, 24),
    ("google-oauth-token", "ya29. 1//0", Any, 30),
    ("alibaba-key", "LTAI", Alnum, 16),
    ("tencent-key", "AKID", Alnum, 32),
    ("yandex-key", "AQVN y0_ t1.", Any, 35),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", Hex, 60),
    ("scaleway-key", "SCW", Upper, 17),
    ("cloudflare-key", "v1.0-", Word, 100),
    ("fly-token", "fm1r_ fm1a_ fm2_ fo1_", Any, 30),
    ("heroku-key", "HRKU-", Word, 36),
    ("render-key", "rnd_", Alnum, 24),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_", Alnum, 32),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", Word, 24),
    ("exoscale-key", "EXO", Alnum, 24),
    ("tailscale-key", "tskey-", Word, 20),
    // Code and packages
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", Alnum, 36),
    ("github-token", "github_pat_", Word, 40),
    (
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- gloas- glsoat- glagent- glft- glimt- glffct- glwt- GR1348941",
        Dotted,
        20,
    ),
    ("bitbucket-token", "ATBB ATCTT3xFfG", Any, 24),
    ("atlassian-token", "ATATT3 ATSTT3 ATOA", Any, 50),
    ("npm-token", "npm_", Alnum, 36),
    ("pypi-token", "pypi-AgE pypi-AgN", Word, 50),
    ("crates-token", "cio", Alnum, 32),
    ("rubygems-key", "rubygems_", Hex, 40),
    ("nuget-key", "oy2", Alnum, 43),
    ("clojars-token", "CLOJARS_", Alnum, 40),
    ("docker-token", "dckr_pat_ dckr_oat_", Word, 20),
    ("artifactory-key", "AKCp", Alnum, 60),
    ("artifactory-token", "cmVmdGtuO", Alnum, 40),
    ("circleci-token", "CCIPAT_ CCIPRJ_", Word, 40),
    ("buildkite-token", "bkua_ bkaa_ bkct_", Alnum, 32),
    ("sonar-token", "sqp_ squ_ sqa_ sqb_", Hex, 40),
    ("sourcegraph-token", "sgp_ slk_ sgd_", Word, 40),
    ("snyk-token", "snyk_uat. snyk_sat.", Any, 30),
    ("pulumi-token", "pul-", Hex, 40),
    ("infracost-key", "ico-", Alnum, 32),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", Any, 40),
    ("vault-token", "hvs. hvb. hvr.", Word, 24),
    ("vault-token", "s.", Alnum, 24),
    ("onepassword-token", "ops_eyJ A3-", Any, 30),
    ("infisical-token", "st.", Dotted, 60),
    ("akeyless-key", "p-", Alnum, 48),
    ("postman-key", "PMAK- PMAT-", Word, 24),
    // Models
    ("anthropic-key", "sk-ant-", Word, 20),
    ("openai-key", "sk- sess-", Word, 20),
    ("huggingface-token", "hf_ api_org_", Alnum, 30),
    ("groq-key", "gsk_", Alnum, 40),
    ("xai-key", "xai-", Alnum, 60),
    ("perplexity-key", "pplx-", Alnum, 40),
    ("replicate-token", "r8_", Alnum, 36),
    ("nvidia-key", "nvapi-", Word, 40),
    ("cerebras-key", "csk-", Alnum, 40),
    ("fireworks-key", "fw_", Alnum, 22),
    ("together-key", "tgp_v1_", Word, 40),
    ("langchain-key", "lsv2_pt_ lsv2_sk_ ls__", Word, 32),
    ("pinecone-key", "pcsk_", Word, 40),
    ("tavily-key", "tvly-", Word, 20),
    ("firecrawl-key", "fc-", Hex, 32),
    ("elevenlabs-key", "sk_", Alnum, 40),
    ("e2b-key", "e2b_", Hex, 40),
    ("modal-key", "ak- as-", Alnum, 22),
    ("jina-key", "jina_", Alnum, 40),
    ("voyage-key", "pa-", Word, 40),
    ("llama-key", "llx- LLM|", Any, 30),
    ("cursor-key", "key_", Hex, 60),
    ("runpod-key", "rpa_", Alnum, 30),
    // Money
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_ sk_org_live_ sk_org_test_", Any, 16),
    ("square-token", "sq0atp- sq0csp- sq0idp-", Word, 22),
    ("square-token", "EAAA", Word, 56),
    ("paypal-token", "access_token$production$ access_token$sandbox$", Any, 32),
    ("plaid-token", "access-sandbox- access-development- access-production-", Word, 32),
    ("razorpay-key", "rzp_live_ rzp_test_", Alnum, 14),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ atkn_", Hex, 32),
    ("flutterwave-key", "FLWSECK_TEST- FLWSECK-", Word, 12),
    ("mollie-key", "live_ test_", Alnum, 30),
    ("paddle-key", "pdl_", Word, 40),
    ("adyen-key", "AQE", Any, 80),
    ("easypost-key", "EZAK EZTK", Alnum, 54),
    ("gocardless-token", "live_ sandbox_", Word, 40),
    // Messages
    ("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxe- xoxe. xapp- xwfp-", Any, 20),
    ("slack-webhook", "hooks.slack.com/", Any, 36),
    ("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", Any, 60),
    ("teams-webhook", "webhook.office.com/", Any, 60),
    ("zapier-webhook", "hooks.zapier.com/hooks/catch/", Any, 12),
    ("sendgrid-key", "SG.", Dotted, 60),
    ("mailgun-key", "key-", Alnum, 32),
    ("brevo-key", "xkeysib- xsmtpsib-", Word, 60),
    ("resend-key", "re_", Word, 24),
    ("mandrill-key", "md-", Word, 22),
    ("intercom-token", "dG9rO", Any, 40),
    ("facebook-token", "EAA IGQ", Alnum, 60),
    ("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", Any, 50),
    // Data
    ("supabase-key", "sbp_ sb_secret_", Word, 22),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_app_secret_", Any, 32),
    ("neon-key", "napi_ neon_", Alnum, 40),
    ("databricks-token", "dapi dose dkea", Hex, 32),
    ("prefect-key", "pnu_ pnb_", Alnum, 32),
    ("dbt-token", "dbtc_ dbtu_", Any, 30),
    ("airtable-token", "pat", Dotted, 70),
    ("notion-token", "ntn_ secret_", Alnum, 40),
    ("confluent-key", "cflt", Any, 50),
    ("xata-key", "xau_", Alnum, 30),
    ("clickhouse-key", "4b1d", Alnum, 38),
    ("atlas-key", "mdb_sa_sk_ mdb_sa_id_", Any, 24),
    ("contentful-token", "CFPAT-", Word, 40),
    ("sanity-token", "skt", Alnum, 80),
    ("mapbox-token", "sk.eyJ tk.eyJ", Any, 50),
    // Work and watching
    ("linear-key", "lin_api_ lin_oauth_ lin_wh_", Alnum, 30),
    ("figma-token", "figd_ figu_ figo_", Word, 30),
    ("dropbox-token", "sl.", Word, 60),
    ("hubspot-key", "pat-na1- pat-na2- pat-eu1- pat-ap1-", Word, 32),
    ("typeform-token", "tfp_", Any, 40),
    ("readme-key", "rdme_", Alnum, 60),
    ("frame-token", "fio-u-", Any, 50),
    ("grafana-token", "glc_ glsa_", Any, 32),
    ("sentry-token", "sntrys_ sntryu_ sntrya_", Any, 40),
    ("newrelic-key", "NRAK- NRII- NRJS- NRRA- NRSP- NRAL- NRIQ-", Word, 19),
    ("newrelic-key", "eu01xx", Alnum, 30),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s16.", Dotted, 60),
    ("honeycomb-key", "hcaik_ hcxik_ hcamk_ hcalk_ hcblk_", Alnum, 30),
    ("posthog-key", "phx_ phs_", Alnum, 32),
    ("axiom-token", "xaat- xapt-", Word, 32),
    ("statsig-key", "secret- console-", Alnum, 40),
    ("pagerduty-key", "u+", Alnum, 18),
    ("checkly-key", "cu_", Hex, 32),
    ("workos-key", "sk_a2V5X", Alnum, 20),
    ("adafruit-key", "aio_", Alnum, 28),
    ("inngest-key", "signkey-prod- signkey-test- signkey-branch-", Hex, 32),
    ("expo-token", "expo_", Word, 30),
    ("apify-token", "apify_api_", Alnum, 30),
    ("age-key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", Upper, 50),
    // A private key, encoded once more as in a kubeconfig.
    (
        "private-key",
        "LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBQUklWQVRF LS0tLS1CRUdJTiBFQy LS0tLS1CRUdJTiBPUEVO",
        Any,
        20,
    ),
];

/// The kinds without a fixed start: a text that each of their keys contains, and the whole form; a group of it is the
/// secret where not all of it is.
const FORMS: &[(&str, &str, &str)] = &[
    ("telegram-token", ":AA", "[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    ("discord-token", ".", r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
    ("mailchimp-key", "-us", "[0-9a-f]{32}-us[0-9]{1,2}"),
    ("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    ("azure-secret", "Q~", "[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,}"),
    ("azure-devops-token", "AZDO", "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    ("twilio-key", "SK", r"\bSK[0-9a-f]{32}\b"),
    ("twilio-key", "AC", r"\bAC[0-9a-f]{32}\b"),
    ("okta-token", "00", "^00[A-Za-z0-9_-]{40}$"),
    ("clickup-token", "pk_", "pk_[0-9]{6,10}_[A-Z0-9]{32}"),
    (
        "launchdarkly-key",
        "-",
        r"\b(?:sdk|api|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    ),
    ("asana-token", "/", "[0-9]/[0-9]{15,17}(?:/[0-9]+)?:[0-9a-f]{32}"),
    (
        "vendor-key",
        "_",
        r"\b[a-z][a-z0-9]{1,11}_(?:[a-z]{2,8}_)?(?:live|test|prod|api|key|sk|pat|secret|token)_[A-Za-z0-9]{20,}\b",
    ),
    ("database-password", "@tcp", "^[^:@]+:([^@]{4,})@tcp$"),
    ("database-password", ":5432:", r"^[^:]+:5432:[^:]+:[^:]+:([^:]{4,})$"),
];

static PATTERNS: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| FORMS.iter().map(|form| Regex::new(form.2).ok()).collect());

/// The kinds by the first byte of their prefixes, longer prefixes first.
static BY_FIRST_BYTE: LazyLock<Vec<Vec<(&str, &str, Body, usize)>>> = LazyLock::new(|| {
    let mut table = vec![Vec::new(); 128];
    for (rule, prefixes, body, least) in KINDS {
        for prefix in prefixes.split(' ') {
            table[usize::from(prefix.as_bytes()[0])].push((*rule, prefix, *body, *least));
        }
    }
    table.iter_mut().for_each(|row| row.sort_by_key(|kind| std::cmp::Reverse(kind.1.len())));
    table
});

/// Number of bytes of a key that are judged: a word of dashes would be read again from each of them.
pub(crate) const JUDGED: usize = 256;

/// Returns the key that starts at `start`, in a run of characters without spaces or quotes that ends at `end`.
pub(crate) fn key_at(text: &str, start: usize, end: usize) -> Option<Secret> {
    const SHORTEST: usize = 16;
    if end - start < SHORTEST {
        return None;
    }
    let rest = &text[start..end];
    if rest.starts_with("eyJ") {
        let length = signed_token(rest)?;
        return Some(Secret { rule: "jwt", range: start..start + length });
    }
    let kinds = BY_FIRST_BYTE.get(usize::from(rest.as_bytes()[0]))?;
    kinds.iter().filter(|kind| rest.starts_with(kind.1)).find_map(|(rule, prefix, body, least)| {
        let length = |text: &str| text.bytes().take_while(|b| body.contains(*b)).count();
        let after = &rest[prefix.len()..];
        let judged = length(&after[..after.floor_char_boundary(JUDGED)]);
        // The full stop of a sentence may follow.
        let judged = after[..judged].trim_end_matches(['.', ':']);
        let is_example = *rule == "aws-access-key" && judged.ends_with("EXAMPLE");
        let is_name = is_slug(judged) || prefix.len() <= 3 && is_english(judged);
        if judged.len() < *least || is_example || is_filler(judged) || is_name {
            return None;
        }
        let whole = after[..length(after)].trim_end_matches(['.', ':']).len();
        let ends = !after[whole..].starts_with(|c: char| c.is_ascii_alphanumeric());
        ends.then(|| Secret { rule, range: start..start + prefix.len() + whole })
    })
}

/// Returns the key without a fixed start in a run of characters.
pub(crate) fn form_in(text: &str, run: Range<usize>) -> Option<Secret> {
    let word = &text[run.start..text.floor_char_boundary(run.end.min(run.start + 2 * JUDGED))];
    FORMS.iter().zip(PATTERNS.iter()).find_map(|((rule, part, _), pattern)| {
        if word.len() < 20 || !word.contains(part) {
            return None;
        }
        let found = pattern.as_ref()?.captures(word)?;
        let range = found.get(1).or_else(|| found.get(0))?.range();
        let is_name = *rule == "vendor-key" && is_english(&word[range.clone()]);
        (!is_name).then_some(Secret { rule, range: run.start + range.start..run.start + range.end })
    })
}

/// Returns whether what follows a prefix is one character, repeated, or has the short parts of a dotted name.
fn is_filler(body: &str) -> bool {
    let is_repeated = |part: &str| part.bytes().all(|byte| part.as_bytes()[0] == byte);
    let last = body.rsplit(['-', '_']).find(|part| !part.is_empty()).unwrap_or(body);
    (last.len() >= 8 && is_repeated(last))
        || body.split(['-', '_', '/']).all(is_repeated)
        || body.len() < 80 && body.contains('.') && body.split('.').all(|part| part.len() < 16)
}

/// Returns whether words of one case with short numbers follow a prefix: `sk-learn-based-ranking-v2`.
fn is_slug(body: &str) -> bool {
    let mut parts = body.split(['-', '_', '.', '/']).filter(|part| !part.is_empty());
    body.contains(['-', '_', '.', '/'])
        && is_wordy(body)
        && parts.all(|part| {
            let has = |class: fn(&u8) -> bool| part.as_bytes()[1..].iter().any(class);
            let is_number = part.len() >= 9 && part.bytes().all(|b| b.is_ascii_digit());
            !(is_number || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
        })
}

/// Returns the length of the three dotted parts of a signed JWT.
fn signed_token(text: &str) -> Option<usize> {
    let mut length = 0;
    for most in [1024, usize::MAX, usize::MAX] {
        let rest = if length == 0 { text } else { text[length..].strip_prefix('.')? };
        let part = rest.bytes().take(most).take_while(|b| Word.contains(*b)).count();
        if part < 10 {
            return None;
        }
        length = text.len() - rest.len() + part;
    }
    Some(length)
}
