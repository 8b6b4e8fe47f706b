//! The passages of a document: its chunks, and its links to other documents.

use std::collections::BTreeSet;
use std::rc::Rc;

use edge_mcp::rag::{self, Chunk, ChunkOptions, Space, front_matter, links, resolve};
use serde_json::{Map, json};

use crate::document::{Document, URI_PREFIX};

/// The most beginnings of a slug that are taken for the folder of a document.
const FOLDERS: usize = 8;

/// The name of the index of all passages.
pub(crate) const INDEX: &str = "documents";

/// The size of the chunks of a document that has too many chunks of the usual size.
const LONG_CHUNK: usize = 3000;

/// The most tags of a document, and the longest tag in bytes.
const TAGS: usize = 20;
const TAG_BYTES: usize = 64;

/// Returns the space of all passages of the knowledge base.
pub(crate) fn space() -> Space {
    Space { index: INDEX.into(), name: String::new() }
}

/// Returns a document with its passages. The metadata contains the slug, the title, and the tags of the front matter.
pub(crate) fn with_passages(document: &Document) -> rag::Document {
    let passages = document_of(document, &ChunkOptions::new());
    // A long document with very short sections has too many chunks, so it is divided without regard to its sections.
    if passages.check().is_err() {
        document_of(document, &ChunkOptions::new().plain_text().size(LONG_CHUNK))
    } else {
        passages
    }
}

fn document_of(document: &Document, options: &ChunkOptions) -> rag::Document {
    let title: Rc<str> = document.title.as_str().into();
    let mut chunks = rag::chunks(&document.text, options);
    // A document must be found by its title and its headings, even if it has nothing else.
    if chunks.is_empty() {
        chunks = rag::chunks(&document.text, &ChunkOptions::new().plain_text());
    }
    if chunks.is_empty() {
        chunks.push(Chunk { heading: Vec::new(), text: String::new(), range: 0..0 });
    }
    for chunk in &mut chunks {
        // The first heading of a document is usually its title.
        if chunk.heading.first() != Some(&title) {
            chunk.heading.insert(0, title.clone());
        }
    }
    let slug = document.slug.as_str();
    let mut metadata =
        Map::from_iter([("slug".to_owned(), slug.into()), ("title".to_owned(), document.title.as_str().into())]);
    let tags = front_matter(&document.text).map(tags).unwrap_or_default();
    if !tags.is_empty() {
        metadata.insert("tags".into(), json!(tags));
    }
    rag::Document { name: slug.to_owned(), metadata, chunks, links: targets(document) }
}

/// Returns the tags of a front matter in YAML: `tags: [a, b]`, `tags: a, b`, or a line `- a` for each tag.
fn tags(matter: &str) -> Vec<&str> {
    let mut lines = matter.lines().skip_while(|line| !line.starts_with("tags:"));
    let Some(first) = lines.next().and_then(|line| line.strip_prefix("tags:")) else { return Vec::new() };
    let first = first.trim();
    let inner = first.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(first);
    let items = lines.map_while(|line| line.trim_start().strip_prefix("- "));
    // JSON needs 6 bytes for a control character.
    let is_tag = |tag: &&str| (1..=TAG_BYTES).contains(&tag.len()) && !tag.contains(char::is_control);
    inner.split(',').chain(items).map(unquoted).filter(is_tag).take(TAGS).collect()
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(text)
}

/// Returns the slugs to which the links of a document may lead.
///
/// `scripts/load` makes slugs from paths, and a slug does not tell where the folder of the path ends. So a relative link has one candidate
/// for each beginning of the slug. Only candidates that are slugs of documents have an effect.
fn targets(document: &Document) -> Vec<String> {
    let own = document.slug.as_str();
    let mut found = BTreeSet::new();
    for target in links(&document.text) {
        if let Some(slug) = target.strip_prefix(URI_PREFIX) {
            found.insert(slug.to_owned());
            continue;
        }
        let mut relative = target.as_str();
        while let Some(rest) = relative.strip_prefix("../").or_else(|| relative.strip_prefix("./")) {
            relative = rest;
        }
        let Some(name) = resolve("", relative).and_then(|path| slug_of_path(&path)) else { continue };
        if !target.starts_with('/') {
            let folders = own.match_indices('-').filter_map(|(at, _)| own.get(..at)).take(FOLDERS);
            found.extend(folders.map(|folder| format!("{folder}-{name}")));
        }
        found.insert(name);
    }
    found.into_iter().filter(|slug| slug != own).collect()
}

/// Returns the slug that `scripts/load` gives to the file at `path`, or `None` if it is not a Markdown file.
fn slug_of_path(path: &str) -> Option<String> {
    let (name, extension) = path.rsplit_once('.')?;
    if !extension.eq_ignore_ascii_case("md") {
        return None;
    }
    let mut slug = String::new();
    for character in name.chars().flat_map(char::to_lowercase) {
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            '-' | '/' if !slug.ends_with('-') => slug.push('-'),
            _ if character.is_whitespace() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    let slug = slug.trim_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(slug: &str, title: &str, text: &str) -> Document {
        let slug = slug.to_owned().try_into().expect("a slug");
        Document { slug, title: title.into(), text: text.into(), set: None, hash: None }
    }

    #[test]
    fn tags_come_from_the_front_matter() {
        let long = "x".repeat(65);
        let many = "- t\n".repeat(30);
        for (matter, expected) in [
            ("title: Tea\n".to_owned(), vec![]),
            ("tags: [tea, \"hot drinks\", 'it']\n".into(), vec!["tea", "hot drinks", "it"]),
            ("title: a\ntags: tea, pots\nmore: x\n".into(), vec!["tea", "pots"]),
            ("tags:\n  - tea\n  - \"pots\"\nmore:\n  - x\n".into(), vec!["tea", "pots"]),
            (format!("tags: [{long}, a, , []\n"), vec!["a", "["]),
            ("tags: [a\u{1}, \u{8}, b]\n".into(), vec!["b"]),
            ("mytags: [a]\n".into(), vec![]),
        ] {
            assert_eq!(tags(&matter), expected, "{matter}");
        }
        assert_eq!(tags(&format!("tags:\n{many}")).len(), TAGS);
        let title = "é".repeat(300);
        let matter = format!("---\ntags: [{}]\n---\n", vec!["é".repeat(32); 30].join(","));
        let metadata = with_passages(&document(&"a".repeat(200), &title, &matter)).metadata;
        assert_eq!(rag::check_metadata(&metadata), Ok(()));
    }

    #[test]
    fn every_passage_is_under_the_title() {
        for (text, expected) in [
            ("# Tea\n\nWarm.\n\n## Pots\n\nIron.", vec![vec!["Tea"], vec!["Tea", "Pots"]]),
            ("Warm.\n\n## Pots\n\nIron.", vec![vec!["Tea"], vec!["Tea", "Pots"]]),
            ("## Pots", vec![vec!["Tea"]]),
            (" ", vec![vec!["Tea"]]),
        ] {
            let headings: Vec<Vec<_>> = with_passages(&document("tea", "Tea", text))
                .chunks
                .iter()
                .map(|chunk| chunk.heading.iter().map(ToString::to_string).collect())
                .collect();
            assert_eq!(headings, expected, "{text}");
        }
    }

    #[test]
    fn every_document_can_be_saved() {
        for text in ["## A\n\nb\n\n".repeat(40_000), "#\n".repeat(200_000), "😀".repeat(400_000), "😀 ".repeat(200_000)]
        {
            let passages = with_passages(&document("tea", &"é".repeat(300), &text));
            assert!(passages.check().is_ok(), "{} chunks", passages.chunks.len());
        }
    }

    #[test]
    fn links_lead_to_slugs() {
        let text = "[a](pots.md#iron) [b](../My%20Cup.md) [c](kb://documents/kettle) [d](https://a.b/c.md) [e](/root.md) [f](x.png) \
                    [g](green.md)";
        let targets = targets(&document("docs-tea-green", "Green", text));
        let expected = [
            "docs-green",
            "docs-my-cup",
            "docs-pots",
            "docs-tea-my-cup",
            "docs-tea-pots",
            "green",
            "kettle",
            "my-cup",
            "pots",
            "root",
        ];
        assert_eq!(targets, expected);
    }
}
