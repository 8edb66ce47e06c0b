//! A server in the test's own process: it answers one request after the other, and tells what it was asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::thread::JoinHandle;

/// A server on loopback that ends with its last answer.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: JoinHandle<Vec<String>>,
}

impl Server {
    /// Answers each request with the next status and body.
    pub(crate) fn answering(answers: Vec<(&'static str, String)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = thread::spawn(move || {
            let mut asked = Vec::new();
            for (status, body) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                asked.push(request(&mut stream));
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
                     Connection: close\r\n\r\n{body}"
                );
                // Whoever has given up in the meantime reads no answer.
                stream.write_all(answer.as_bytes()).ok();
            }
            asked
        });
        Self { url, asked }
    }

    /// Returns all requests, once the last answer is given.
    pub(crate) fn asked(self) -> Vec<String> {
        self.asked.join().unwrap()
    }
}

fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if read == 0 || is_whole(&text) {
            return text.into_owned();
        }
    }
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
    body.len() >= length
}
