//! Starts a PostgreSQL server for a test, on loopback, in a temporary folder and as an unprivileged user.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

/// The user to run PostgreSQL as if the tests run as root, which it refuses.
const NOBODY: &str = "65534";

/// The programs that the tests run; some systems have only part of them on the path.
const PROGRAMS: [&str; 4] = ["initdb", "pg_ctl", "psql", "pg_dump"];

/// The roles on every server.
const ROLES: [&str; 4] = ["owner", "ada", "grace", "stranger"];

/// A cluster that is created once and copied for each test, since creating it takes longer than most tests.
static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();

/// Returns the folder of PostgreSQL's programs: on the path, else the newest of Debian's versions.
pub(crate) fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut versions: Vec<PathBuf> =
        versions.flatten().map(|version| version.path().join("bin")).collect();
    versions.sort();
    folders.extend(versions.into_iter().rev());
    folders.into_iter().find(|folder| PROGRAMS.iter().all(|name| folder.join(name).is_file()))
}

/// A running server with the database `annals`, [`ROLES`] without passwords, and a temporary folder.
pub(crate) struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    _temp: TempDir,
}

impl Postgres {
    /// Starts a server.
    pub(crate) fn start() -> Self {
        let server = Self::bare();
        copy(TEMPLATE.get_or_init(template), Path::new(&server.data()));
        server.belongs_to_its_user();
        server.boot();
        server
    }

    /// Returns a server with a folder and a port, but without a cluster.
    fn bare() -> Self {
        let temp = tempfile::Builder::new().prefix("annals-pg").tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { programs: programs().unwrap(), folder: temp.path().to_owned(), port, _temp: temp }
    }

    fn belongs_to_its_user(&self) {
        if is_root() {
            let owner = format!("{NOBODY}:{NOBODY}");
            done(Command::new("chown").args(["-R", &owner]).arg(&self.folder));
        }
    }

    /// Creates a database that belongs to `owner`.
    pub(crate) fn make_database(&self, name: &str) {
        self.sql("postgres", &format!("CREATE DATABASE {name} OWNER owner"));
    }

    /// Starts the server, for example after a crash.
    pub(crate) fn boot(&self) {
        let (data, log) = (self.data(), self.folder.join("log").display().to_string());
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={} -c fsync=off -c max_connections=40",
            self.port,
            self.folder.display()
        );
        self.expect("pg_ctl", &["-D", &data, "-l", &log, "-w", "-o", &options, "start"]);
    }

    /// Stops the server immediately, as a crash would.
    pub(crate) fn crash(&self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }

    /// Returns the URL of a database for a role.
    pub(crate) fn url(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs SQL as the superuser, who bypasses all policies, and returns the output.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let port = self.port();
        let arguments = [
            "-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-d", database, "-v",
            "ON_ERROR_STOP=1", "-tAc", sql,
        ];
        String::from_utf8(self.expect("psql", &arguments).stdout).unwrap().trim().to_owned()
    }

    /// Enables TLS with a self-signed certificate for a host; returns the path of the certificate.
    #[cfg(target_os = "linux")]
    pub(crate) fn certify(&self, host: &str) -> String {
        let certificate = format!("{}/server.crt", self.data());
        let key = format!("{}/server.key", self.data());
        let names = format!("subjectAltName=IP:{host}");
        let line = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=annals \
             -addext basicConstraints=critical,CA:FALSE -addext";
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend([&names, "-keyout", &key, "-out", &certificate]);
        self.expect("/usr/bin/openssl", &arguments);
        self.sql("postgres", "ALTER SYSTEM SET ssl = on");
        self.sql("postgres", "SELECT pg_reload_conf()");
        certificate
    }

    /// Returns the content of a database, as dumped by `pg_dump`.
    pub(crate) fn dump(&self, database: &str) -> String {
        let port = self.port();
        let dumped =
            self.expect("pg_dump", &["-h", "127.0.0.1", "-p", &port, "-U", "postgres", database]);
        String::from_utf8(dumped.stdout).unwrap()
    }

    /// Returns a path to which the server may write.
    pub(crate) fn scratch(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn port(&self) -> String {
        self.port.to_string()
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    fn expect(&self, program: &str, arguments: &[&str]) -> Output {
        let output = self.run(program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
        output
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            let user = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
            command.args(user).arg("--clear-groups").arg(&program);
            command
        } else {
            Command::new(&program)
        };
        // The server outlives the command that starts it and must not keep its output open.
        let is_start = arguments.last() == Some(&"start");
        command.args(arguments).current_dir(&self.folder).env("LC_ALL", "C");
        if is_start {
            let log = std::fs::File::create(
                std::env::temp_dir().join(format!("annals-pg-{}", self.port)),
            )
            .unwrap();
            let status = command.stdout(log.try_clone().unwrap()).stderr(log).status().unwrap();
            let said = std::env::temp_dir().join(format!("annals-pg-{}", self.port));
            let stdout = std::fs::read(&said).unwrap();
            std::fs::remove_file(said).unwrap();
            return Output { status, stdout, stderr: Vec::new() };
        }
        command.output().unwrap()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.run("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
    }
}

/// Creates the cluster that is copied for each server, unless an earlier run did.
fn template() -> PathBuf {
    let version =
        Command::new(programs().unwrap().join("initdb")).arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let digits: String = version.chars().filter(char::is_ascii_alphanumeric).collect();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(digits);
    if place.exists() {
        return place;
    }
    let server = Postgres::bare();
    server.belongs_to_its_user();
    let data = server.data();
    let line = format!("-D {data} -U postgres -A trust -E UTF8 --no-locale -N --wal-segsize=1");
    let arguments: Vec<&str> = line.split(' ').collect();
    server.expect("initdb", &arguments);
    server.boot();
    for role in ROLES {
        server.sql("postgres", &format!("CREATE ROLE {role} LOGIN"));
    }
    server.make_database("annals");
    server.expect("pg_ctl", &["-D", &data, "-m", "fast", "-w", "stop"]);
    let half = place.with_extension(std::process::id().to_string());
    copy(Path::new(&data), &half);
    // A concurrent run may have been faster.
    if std::fs::rename(&half, &place).is_err() {
        std::fs::remove_dir_all(&half).unwrap();
    }
    place
}

fn copy(from: &Path, to: &Path) {
    done(Command::new("cp").arg("-a").args([from, to]));
}

fn done(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}");
}

fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        Path::new("/proc/self").metadata().is_ok_and(|found| found.uid() == 0)
    }
    #[cfg(not(unix))]
    false
}
