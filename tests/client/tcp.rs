//! Hostile answers over TCP: the client speaks HTTP with a server that sends prepared bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use edge_mcp::client::{ClientError, Failure, Unreachable, Upstream};
use edge_mcp::host::Host;
use edge_mcp::protocol::Revision;
use edge_mcp::{Context, RequestInfo};
use futures::executor::LocalPool;
use serde_json::json;

use crate::calls::client;
use crate::hostile::{answers, whole};
use crate::local_host::LocalHost;
use crate::peer::{Answer, End, id_of};

/// The time limit of the requests whose answer does not come.
const SHORT: Duration = Duration::from_millis(200);

/// A server for one answer. It closes each connection after the answer.
struct Server {
    url: String,
    /// The head and the body of each request.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `write` gets the connection and the id of the request, as JSON text.
    fn new(write: impl Fn(&mut TcpStream, &str) -> std::io::Result<()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (head, body) = read_request(&stream).expect("a request");
                seen.lock().expect("requests").push(format!("{head}{body}"));
                // A client that has enough closes the connection.
                let _ = write(&mut stream, &id_of(&body).to_string());
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("requests").clone()
    }
}

fn read_request(stream: &TcpStream) -> std::io::Result<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        head.push_str(&line);
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((head, String::from_utf8(body).expect("UTF-8")))
}

/// Writes a prepared answer with chunks of HTTP.
fn write_answer(answer: &Answer, stream: &mut TcpStream, id: &str) -> std::io::Result<()> {
    let Answer { status, headers, end, .. } = answer;
    match end {
        End::NoHead => return Ok(()),
        End::SilentBeforeHead => return wait_for_end(stream),
        _ => {}
    }
    write!(stream, "HTTP/1.1 {status} x\r\ntransfer-encoding: chunked\r\n")?;
    for (name, value) in headers {
        stream.write_all(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat())?;
    }
    stream.write_all(b"\r\n")?;
    let chunks = answer.chunks_for(&id.parse().expect("JSON"));
    let chunks = chunks.iter().filter(|chunk| !chunk.is_empty());
    let mut last: &[u8] = b"x";
    for chunk in chunks {
        write_chunk(stream, chunk)?;
        last = chunk;
    }
    match end {
        End::Silent => wait_for_end(stream),
        End::Endless => loop {
            write_chunk(stream, last)?;
        },
        End::Complete => stream.write_all(b"0\r\n\r\n"),
        _ => Ok(()),
    }
}

fn write_chunk(stream: &mut TcpStream, chunk: &[u8]) -> std::io::Result<()> {
    stream.write_all(&[format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat())
}

/// Waits until the client closes the connection.
fn wait_for_end(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(drop)
}

/// Calls a tool of a modern server.
fn call(url: &str, timeout: Duration) -> Result<String, ClientError> {
    let mut pool = LocalPool::new();
    let host: Rc<dyn Host> = Rc::new(LocalHost::new(pool.spawner()));
    let cx = Context::for_program(RequestInfo::none(), host);
    let upstream = Upstream::at(url).expect("a URL").revision(Revision::V2026_07_28).timeout(timeout);
    let connection = client(upstream.bearer("TOKEN-4711").expect("a token")).connect(&cx);
    let call = connection.call("parcels_track", json!({})).expect("a call");
    pool.run_until(async { call.await.map(|result| result.text()) })
}

/// The hostile cases, C16: over HTTP, each answer has the failure that it has in memory, and the call is sent once.
#[test]
fn hostile_answers_over_tcp_have_the_same_failures() {
    for (case, answer, expected) in answers() {
        let server = Server::new(move |stream, id| write_answer(&answer, stream, id));
        let (timeout, expected) = match expected {
            Failure::Timeout(_) => (SHORT, Failure::Timeout(SHORT)),
            other => (Duration::from_secs(25), other),
        };
        let error = call(&server.url, timeout).expect_err(case);
        assert_eq!(error.failure(), &expected, "{case}");
        assert!(!error.to_string().contains("SECRET"), "{case}: {error}");
        assert_eq!(server.requests().len(), 1, "{case}");
    }
}

/// C18: bytes that are odd HTTP, and their failure. Without a failure, the answer counts.
#[test]
fn odd_http_has_its_failure() {
    let json = |length: usize, body: &str| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
            .into_bytes()
    };
    let body = |id: &str| whole().replace("\"$id\"", id);
    let late = Failure::Timeout(SHORT);
    for (case, bytes, pause, expected) in [
        ("4 one byte at a time", json(1000, &"x".repeat(1000)), 50, Some(late)),
        ("19 a length that is too small", json(10, &body("\"r1\"")), 0, Some(Failure::Malformed("is not valid JSON"))),
        ("19 a length that is too large", json(10_000, &body("\"r1\"")), 0, Some(Failure::Interrupted)),
        ("19 the length of the body", json(body("\"r1\"").len(), &body("\"r1\"")), 0, None),
        ("not HTTP", b"SSH-2.0-x\r\n\r\n".to_vec(), 0, Some(Failure::Unreachable(Unreachable::Connection))),
    ] {
        let server = Server::new(move |stream, _| {
            if pause == 0 {
                return stream.write_all(&bytes);
            }
            bytes.iter().try_for_each(|byte| {
                thread::sleep(Duration::from_millis(pause));
                stream.write_all(&[*byte])
            })
        });
        let timeout = if pause == 0 { Duration::from_secs(25) } else { SHORT };
        assert_eq!(call(&server.url, timeout).err().map(|error| error.failure().clone()), expected, "{case}");
    }
}

/// The hostile case 44, C20: the token does not reach the server to which another server redirects.
#[test]
fn a_redirect_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let other = Server::new(|stream, _| stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
        let location = other.url.clone();
        let server = Server::new(move |stream, _| {
            write!(stream, "HTTP/1.1 {status} x\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
        });
        let error = call(&server.url, Duration::from_secs(25)).expect_err("a redirect");
        assert_eq!(error.failure(), &Failure::Redirected { to: None });
        assert!(server.requests()[0].contains("Bearer TOKEN-4711"));
        assert!(other.requests().is_empty() && server.requests().len() == 1);
    }
}
