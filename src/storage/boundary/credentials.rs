//! Recognises files with keys and passwords by name.

use std::path::Path;

/// Files and folders in which programs keep keys and passwords, in lower case.
const CREDENTIALS: &[&str] = &[
    ".aws", ".azure", ".docker", ".env", ".envrc", ".git-credentials", ".gnupg", ".htpasswd",
    ".kube", ".netrc", ".npmrc", ".pgpass", ".pypirc", ".s3cfg", ".ssh", ".vault-token",
    ".yarnrc.yml", "auth.json", "credentials", "credentials.json", "id_dsa", "id_ecdsa",
    "id_ed25519", "id_rsa", "secrets.json", "secrets.toml", "secrets.yaml", "secrets.yml",
    "terraform.tfstate",
];
/// Extensions of keys.
const KEYS: &[&str] = &["asc", "env", "jks", "key", "keystore", "p12", "pem", "pfx", "ppk"];

/// Returns whether a path names a file with credentials, or one in a folder for them.
pub(crate) fn is_credentials(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy().to_lowercase();
        let extension = Path::new(&name).extension().map(|end| end.to_string_lossy());
        CREDENTIALS.contains(&name.trim_end_matches('~'))
            || name.starts_with(".env.")
            || extension.is_some_and(|end| KEYS.contains(&end.as_ref()))
    })
}
