//! As much of HTTP as the clients speak.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;

/// A request, read whole.
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// Reads the next request of a connection; nothing where the client has hung up.
pub(crate) fn read(from: &mut BufReader<TcpStream>) -> Result<Option<Request>> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut is_chunked) = (0, false);
    loop {
        line.clear();
        from.read_line(&mut line)?;
        let header = line.trim_end().to_ascii_lowercase();
        match header.split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap_or(0),
            Some(("transfer-encoding", value)) => is_chunked = value == "chunked",
            Some(_) => {}
            None => break,
        }
    }
    let mut body = Vec::new();
    if !is_chunked {
        from.take(length).read_to_end(&mut body)?;
        return Ok(Some(Request { path, body }));
    }
    loop {
        line.clear();
        from.read_line(&mut line)?;
        let size = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
        from.take(size).read_to_end(&mut body)?;
        from.read_line(&mut line)?;
        if size == 0 {
            return Ok(Some(Request { path, body }));
        }
    }
}

/// Answers with a body, and closes the connection.
pub(crate) fn answer(to: &mut TcpStream, kind: &str, body: &str) -> Result<()> {
    let length = body.len();
    write!(
        to,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )?;
    to.flush()
}
