//! Event streams (SSE), read from chunks of bytes.
//!
//! Source: the HTML standard, "Server-sent events", §9.2.5 and §9.2.6.

use std::ops::Range;
use std::time::Duration;

/// The bytes that may precede an event stream.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An event with data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The type. Empty if the event has no type.
    pub name: Vec<u8>,
    /// The lines of the data, joined by line feeds.
    pub data: Vec<u8>,
}

/// Reads events. The stream may be cut into chunks at any byte.
#[derive(Debug, Default)]
pub struct EventReader {
    /// The bytes that were fed and are not consumed yet.
    bytes: Vec<u8>,
    /// The number of bytes at the start of `bytes` that are consumed.
    consumed: usize,
    /// The number of bytes at the start of `bytes` that are known to contain no line end after `consumed`.
    searched: usize,
    /// Whether a line was read.
    has_begun: bool,
    /// Whether the last line ended with a carriage return. A line feed directly after it belongs to the same line end.
    after_return: bool,
    event: Event,
    has_data: bool,
    last_id: Option<Vec<u8>>,
    retry: Option<Duration>,
}

impl EventReader {
    /// Adds the next bytes of the stream.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.bytes.drain(..self.consumed.min(self.bytes.len()));
        self.searched = self.searched.saturating_sub(self.consumed);
        self.consumed = 0;
        self.bytes.extend_from_slice(chunk);
    }

    /// Returns the next complete event. An event is complete when the blank line after it has arrived.
    pub fn next_event(&mut self) -> Option<Event> {
        while let Some(range) = self.next_line() {
            let mut line = self.bytes.get(range).unwrap_or_default();
            if !std::mem::replace(&mut self.has_begun, true) {
                line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
            }
            if !line.is_empty() {
                let (name, value) = field(line);
                self.event.read(name, value, &mut self.has_data);
                match name {
                    b"id" if !value.contains(&0) => self.last_id = Some(value.to_vec()),
                    b"retry" => self.retry = milliseconds(value).or(self.retry),
                    _ => {}
                }
            } else if std::mem::take(&mut self.has_data) {
                return Some(std::mem::take(&mut self.event));
            } else {
                self.event = Event::default();
            }
        }
        None
    }

    /// Returns the number of bytes that are kept for an event that is not complete.
    pub fn pending(&self) -> usize {
        let unread = self.bytes.len().saturating_sub(self.consumed);
        unread.saturating_add(self.event.data.len()).saturating_add(self.event.name.len())
    }

    /// Returns the id of the last event that has one, or `None` if that id is empty.
    pub fn last_id(&self) -> Option<&[u8]> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Returns the time to wait before a reconnection, if the stream states it.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Consumes the next complete line, and returns its range without the line end: LF, CRLF or CR.
    fn next_line(&mut self) -> Option<Range<usize>> {
        if self.after_return && self.consumed < self.bytes.len() {
            if self.bytes.get(self.consumed) == Some(&b'\n') {
                self.consumed = self.consumed.saturating_add(1);
            }
            self.after_return = false;
        }
        let from = self.searched.max(self.consumed);
        let unsearched = self.bytes.get(from..).unwrap_or_default();
        let Some(length) = unsearched.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.searched = self.bytes.len();
            return None;
        };
        let end = from.saturating_add(length);
        self.after_return = self.bytes.get(end) == Some(&b'\r');
        let line = self.consumed..end;
        self.consumed = end.saturating_add(1);
        Some(line)
    }
}

impl Event {
    fn read(&mut self, name: &[u8], value: &[u8], has_data: &mut bool) {
        match name {
            b"event" => self.name = value.to_vec(),
            b"data" => {
                if std::mem::replace(has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            // Comments have an empty name. Other fields are ignored.
            _ => {}
        }
    }
}

/// Splits a line at its first colon. One space after the colon is not part of the value.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = line.splitn(2, |byte| *byte == b':');
    let name = parts.next().unwrap_or_default();
    let value = parts.next().unwrap_or_default();
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

/// Reads a number of milliseconds: digits only.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| is_number)?;
    text.parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a stream that arrives in chunks of `size` bytes.
    fn events(stream: &[u8], size: usize) -> Vec<(String, String)> {
        let mut reader = EventReader::default();
        let mut found = Vec::new();
        for chunk in stream.chunks(size) {
            reader.feed(chunk);
            while let Some(Event { name, data }) = reader.next_event() {
                found.push((String::from_utf8_lossy(&name).into(), String::from_utf8_lossy(&data).into()));
            }
        }
        found
    }

    fn data(stream: &str) -> Vec<String> {
        let whole = events(stream.as_bytes(), stream.len().max(1));
        for size in 1..stream.len() {
            assert_eq!(events(stream.as_bytes(), size), whole, "in chunks of {size} bytes: {stream:?}");
        }
        whole.into_iter().map(|(_, data)| data).collect()
    }

    /// C22: lines end with LF, CRLF or CR, also at the end of a chunk.
    #[test]
    fn every_line_end_ends_a_line() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = ["data: a", "data: b", "", "data: c", ""].map(|line| format!("{line}{end}")).concat();
            assert_eq!(data(&stream), ["a\nb", "c"], "{end:?}");
        }
        assert_eq!(data("data: a\r\rdata: b\n\r\ndata: c\n\n"), ["a", "b", "c"]);
        // Only one line feed belongs to a carriage return, also if each byte arrives in its own chunk.
        assert_eq!(data("data: a\r\n\ndata: b\n\n"), ["a", "b"]);
    }

    /// C22: the fields of an event.
    #[test]
    fn fields_are_read_as_the_standard_says() {
        for (stream, expected) in [
            ("\u{feff}data: a\n\n", vec!["a"]),
            ("data: a\n\n\u{feff}data: b\n\n", vec!["a"]),
            ("data:a\n\ndata:  b\n\n", vec!["a", " b"]),
            ("data\n\n", vec![""]),
            ("data:\ndata\n\n", vec!["\n"]),
            (": a comment\ndata: a\n\n", vec!["a"]),
            ("datas: x\n data: x\nDATA: x\n\n", vec![]),
            ("event: ping\n\ndata: a\n\n", vec!["a"]),
            ("data: a\u{2028}b\u{85}c\n\n", vec!["a\u{2028}b\u{85}c"]),
            ("data: a: b\n\n", vec!["a: b"]),
            ("\n\n\ndata: a\n\n\n", vec!["a"]),
            ("", vec![]),
        ] {
            assert_eq!(data(stream), expected, "{stream:?}");
        }
        assert_eq!(
            events(b"event: message\ndata: a\n\ndata: b\n\n", 1),
            [("message".to_owned(), "a".to_owned()), (String::new(), "b".to_owned())]
        );
    }

    /// C22: an event without its blank line is not complete.
    #[test]
    fn an_incomplete_event_is_not_returned() {
        for stream in ["data: a", "data: a\n", "data: a\r", "data: a\r\n"] {
            assert_eq!(data(stream), Vec::<String>::new(), "{stream:?}");
        }
    }

    #[test]
    fn ids_and_retries_are_kept() {
        let after = |stream: &str| {
            let mut reader = EventReader::default();
            reader.feed(stream.as_bytes());
            while reader.next_event().is_some() {}
            (reader.last_id().map(|id| String::from_utf8_lossy(id).into_owned()), reader.retry())
        };
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(after("id: 7\nretry: 500\n\n"), (Some("7".to_owned()), ms(500)));
        assert_eq!(after("id: 7\n\ndata: a\n\n"), (Some("7".to_owned()), None));
        assert_eq!(after("id: 7\n\nid:\n\n"), (None, None));
        assert_eq!(after("id: 7\n\nid: 8\0\n\n"), (Some("7".to_owned()), None));
        assert_eq!(
            after("retry: 500\nretry: -1\nretry: 1.5\nretry: 99999999999999999999\nretry:\n\n"),
            (None, ms(500))
        );
    }

    #[test]
    fn pending_counts_what_is_kept() {
        let mut reader = EventReader::default();
        for _ in 0..10 {
            reader.feed(&[b'x'; 100]);
            assert_eq!(reader.next_event(), None);
        }
        assert_eq!(reader.pending(), 1000);
        reader.feed(b"\ndata: 12345\n");
        assert_eq!((reader.next_event(), reader.pending()), (None, 5));
    }
}
