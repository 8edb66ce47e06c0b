//! A Chroma server that runs as long as a test, and what it holds.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A Chroma server on loopback that ends with the test.
pub(crate) struct Chroma {
    pub(crate) url: String,
    child: Child,
    _temp: TempDir,
}

/// Number of ports that are tried.
const STARTS: usize = 5;

impl Chroma {
    pub(crate) fn start() -> Self {
        (0..STARTS).find_map(|_| Self::started()).expect("chroma did not start")
    }

    /// Starts it on a free port; `None` if another program took that one first.
    fn started() -> Option<Self> {
        let temp = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut child = Command::new("chroma")
            .args(["run", "--host", "127.0.0.1", "--path"])
            .arg(temp.path())
            .args(["--port", &address.port().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        said.find(|line| line.as_ref().is_ok_and(|line| line.contains("listening on")));
        // It would stop where nobody read what it goes on to say.
        std::thread::spawn(move || said.for_each(drop));
        // It says so before it listens.
        while TcpStream::connect(address).is_err() {
            if child.try_wait().unwrap().is_some() {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let is_running = child.try_wait().unwrap().is_none();
        is_running.then(|| Self { url: format!("http://{address}"), child, _temp: temp })
    }

    /// The ids that its one collection holds.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        let below = format!(
            "{}/api/v2/tenants/default_tenant/databases/default_database/collections",
            self.url
        );
        let read = |mut answer: ureq::http::Response<ureq::Body>| -> Value {
            serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
        };
        let collections = read(ureq::get(&below).call().unwrap());
        let Some(id) = collections[0]["id"].as_str() else {
            return BTreeSet::new();
        };
        let all = ureq::post(format!("{below}/{id}/get")).content_type("application/json");
        let found = read(all.send(r#"{"include": []}"#).unwrap());
        let ids = found["ids"].as_array().unwrap().iter();
        ids.map(|id| id.as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Chroma {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
