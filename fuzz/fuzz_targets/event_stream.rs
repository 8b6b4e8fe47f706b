//! Fuzzes the reader of event streams. However a stream is cut into chunks, its events are those of a simple reader that has the whole
//! stream. The reader keeps no more bytes than the stream has.
//!
//! The first byte is the number of cuts. Two bytes for each cut follow, and then the stream.
#![no_main]

use edge_mcp::parsers::{Event, EventReader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((count, rest)) = input.split_first() else { return };
    let (cuts, stream) = rest.split_at((2 * usize::from(count % 16)).min(rest.len() / 4 * 2));
    let at = |cut: &[u8]| usize::from(u16::from_be_bytes([cut[0], cut[1]])) % (stream.len() + 1);
    let mut cuts: Vec<_> = cuts.chunks_exact(2).map(at).collect();
    cuts.sort_unstable();
    let expected = whole(stream);
    for cuts in [cuts, (0..stream.len()).collect()] {
        let (mut reader, mut events, mut from) = (EventReader::default(), Vec::new(), 0);
        for to in cuts.into_iter().chain([stream.len()]) {
            reader.feed(&stream[from..to]);
            from = to;
            while let Some(event) = reader.next_event() {
                events.push(event);
            }
            let returned: usize = events.iter().map(|event| event.name.len() + event.data.len()).sum();
            assert!(reader.pending() + returned <= from, "{} bytes are kept of {from}", reader.pending());
        }
        assert_eq!(events, expected.events);
        assert_eq!(reader.last_id(), expected.last_id.as_deref());
        assert_eq!(reader.retry().map(|time| time.as_millis()), expected.retry.map(u128::from));
    }
});

#[derive(Default)]
struct Whole {
    events: Vec<Event>,
    last_id: Option<Vec<u8>>,
    retry: Option<u64>,
}

/// Reads a whole stream, as the HTML standard says.
fn whole(stream: &[u8]) -> Whole {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    // Latin-1 has a character for each byte.
    let text: String = stream.iter().map(|byte| char::from(*byte)).collect();
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let bytes = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
    let mut lines: Vec<_> = text.split('\n').collect();
    // The last line has no end.
    lines.pop();
    let (mut whole, mut event, mut data) = (Whole::default(), Event::default(), Vec::new());
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" if line.is_empty() => {
                if !data.is_empty() {
                    event.data = bytes(&data.join("\n"));
                    whole.events.push(std::mem::take(&mut event));
                }
                (event, data) = (Event::default(), Vec::new());
            }
            "event" => event.name = bytes(value),
            "data" => data.push(value),
            "id" if !value.contains('\0') => whole.last_id = Some(bytes(value)).filter(|id| !id.is_empty()),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                whole.retry = value.parse().ok().or(whole.retry)
            }
            _ => {}
        }
    }
    whole
}
