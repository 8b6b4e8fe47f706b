//! HTTP/1.1 over TCP, with one connection for each request.
//!
//! Source: RFC 9112, §4 (status line), §6.3 (length of a body) and §7.1 (chunks).

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Request};

/// The head of a response.
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
}

/// The body of a response, as it arrives. It is an iterator over its parts.
pub(crate) struct Body {
    connection: BufReader<TcpStream>,
    rest: Rest,
}

/// The rest of a body.
enum Rest {
    /// The body is complete.
    Nothing,
    /// This number of bytes.
    Bytes(u64),
    /// This number of bytes of a chunk, and then further chunks.
    Chunks(u64),
    /// Everything until the server closes the connection.
    UntilClosed,
}

/// Sends a request and reads the head of the response.
pub(crate) fn send(request: &Request<String>) -> io::Result<(Head, Body)> {
    let authority = request.uri().authority().ok_or_else(|| malformed("the URL has no host"))?;
    let port = authority.port_u16().unwrap_or(80);
    let mut stream = TcpStream::connect((authority.host(), port))?;
    stream.write_all(&written(request, authority.as_str()))?;
    let mut connection = BufReader::new(stream);
    let head = read_head(&mut connection)?;
    let rest = rest(request, &head)?;
    Ok((head, Body { connection, rest }))
}

fn written(request: &Request<String>, host: &str) -> Vec<u8> {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let body = request.body();
    let start = format!(
        "{} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n",
        request.method(),
        body.len()
    );
    let mut bytes = start.into_bytes();
    for (name, value) in request.headers() {
        bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    bytes.extend([b"\r\n", body.as_bytes()].concat());
    bytes
}

fn read_head(connection: &mut impl BufRead) -> io::Result<Head> {
    let line = read_line(connection)?;
    let status = line.strip_prefix("HTTP/1.").and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or_else(|| malformed("the status line is not valid"))?;
    let mut headers = HeaderMap::new();
    loop {
        let line = read_line(connection)?;
        if line.is_empty() {
            return Ok(Head { status, headers });
        }
        let (name, value) = line.split_once(':').ok_or_else(|| malformed("a header has no colon"))?;
        let name: HeaderName = name.parse().map_err(|_| malformed("the name of a header is not valid"))?;
        let value: HeaderValue = value.trim().parse().map_err(|_| malformed("the value of a header is not valid"))?;
        headers.append(name, value);
    }
}

fn rest(request: &Request<String>, Head { status, headers }: &Head) -> io::Result<Rest> {
    if request.method() == http::Method::HEAD || matches!(status, 204 | 304) {
        return Ok(Rest::Nothing);
    }
    if headers.get(TRANSFER_ENCODING).is_some_and(|encoding| encoding == "chunked") {
        return Ok(Rest::Chunks(0));
    }
    let Some(length) = headers.get(CONTENT_LENGTH) else { return Ok(Rest::UntilClosed) };
    let length = length.to_str().ok().and_then(|length| length.parse().ok());
    length.map(Rest::Bytes).ok_or_else(|| malformed("the length of the body is not a number"))
}

impl Body {
    fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        if let Rest::Chunks(0) = self.rest {
            self.rest = self.next_chunk()?;
        }
        let limit = match self.rest {
            Rest::Nothing | Rest::Bytes(0) => return Ok(None),
            Rest::Bytes(rest) | Rest::Chunks(rest) => rest,
            Rest::UntilClosed => u64::MAX,
        };
        let arrived = self.connection.fill_buf()?;
        let length = arrived.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let part = arrived.get(..length).unwrap_or_default().to_vec();
        self.connection.consume(length);
        let read = u64::try_from(length).unwrap_or(u64::MAX);
        match &mut self.rest {
            Rest::UntilClosed if part.is_empty() => return Ok(None),
            Rest::Bytes(_) | Rest::Chunks(_) if part.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
            Rest::Bytes(rest) => *rest = rest.saturating_sub(read),
            Rest::Chunks(rest) => {
                *rest = rest.saturating_sub(read);
                if *rest == 0 && !read_line(&mut self.connection)?.is_empty() {
                    return Err(malformed("a chunk is longer than its size"));
                }
            }
            Rest::Nothing | Rest::UntilClosed => {}
        }
        Ok(Some(part))
    }

    /// Reads the size of the next chunk. The last chunk has the size 0, and trailers may follow it.
    fn next_chunk(&mut self) -> io::Result<Rest> {
        let line = read_line(&mut self.connection)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| malformed("the size of a chunk is not a number"))?;
        if size > 0 {
            return Ok(Rest::Chunks(size));
        }
        while !read_line(&mut self.connection)?.is_empty() {}
        Ok(Rest::Nothing)
    }
}

impl Iterator for Body {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let part = self.read().transpose();
        if matches!(part, Some(Err(_))) {
            self.rest = Rest::Nothing;
        }
        part
    }
}

/// Reads a line, and removes its end.
fn read_line(connection: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    connection.read_line(&mut line)?;
    match line.strip_suffix("\r\n") {
        Some(line) => Ok(line.to_owned()),
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}

fn malformed(problem: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, problem)
}
