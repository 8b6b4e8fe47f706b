//! Fuzzes the division of documents into chunks, and the links of documents. The chunks are in order and disjoint, none is longer than the
//! limit, and each byte that is not blank is in a chunk, in a heading or in the front matter.
//!
//! The first two bytes of the input are the size and the overlap of chunks. The rest is the document.
#![no_main]

use edge_mcp::rag::{Chunk, ChunkOptions, add_links, chunks, front_matter, resolve};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &str)| {
    let (size, overlap, text) = input;
    let size = 64 + usize::from(size);
    let options = ChunkOptions::new().size(size);
    check(text, &options, size);
    check(text, &options.clone().overlap(usize::from(overlap)), size);

    let plain = check(text, &options.clone().plain_text(), size);
    let outside = outside(text, &plain);
    assert!(outside.iter().all(|gap| gap.trim_start_matches('\u{feff}').trim().is_empty()), "{outside:?}");

    let mut linked = chunks(text, &options);
    add_links(&mut linked, text, |target| {
        assert!(!target.contains('#'), "{target:?}");
        resolve("folder/document.md", target)
    });
});

/// Divides `text` into chunks, and checks their properties.
fn check(text: &str, options: &ChunkOptions, size: usize) -> Vec<Chunk> {
    let chunks = chunks(text, options);
    let mut end = 0;
    for Chunk { heading, text: own, range, .. } in &chunks {
        assert!(range.start >= end && range.end > range.start, "{range:?} after {end}");
        end = range.end;
        assert!(own.len() <= size && own.contains(&text[range.clone()]), "{own:?}");
        assert!(heading.len() <= 6);
    }
    // Only front matter and headings are outside. A heading has `#`, or is underlined with `=` or `-`.
    let matter = front_matter(text).is_some();
    for (nth, gap) in outside(text, &chunks).into_iter().enumerate() {
        let gap = gap.trim_start_matches('\u{feff}').trim();
        let is_heading = |line: &str| {
            line.trim_start().starts_with('#') || !line.is_empty() && line.trim().trim_matches(['=', '-']).is_empty()
        };
        let has_heading = gap.split(['\n', '\r']).any(is_heading);
        assert!(gap.is_empty() || has_heading || matter && nth == 0, "{gap:?}");
    }
    chunks
}

/// Returns the text before, between and after `chunks`.
fn outside<'t>(text: &'t str, chunks: &[Chunk]) -> Vec<&'t str> {
    let starts = std::iter::once(0).chain(chunks.iter().map(|chunk| chunk.range.end));
    let ends = chunks.iter().map(|chunk| chunk.range.start).chain([text.len()]);
    starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
}
