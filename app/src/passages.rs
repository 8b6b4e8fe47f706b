//! The passages of a document: its chunks with their links.

use std::collections::BTreeSet;
use std::rc::Rc;

use edge_mcp::rag::{self, Chunk, ChunkOptions, Space, add_links, front_matter, resolve};
use serde_json::{Map, json};

use crate::document::{Document, Slug, URI_PREFIX, is_slug_letter};

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
        chunks.push(Chunk::default());
    }
    for chunk in &mut chunks {
        // The first heading of a document is usually its title.
        if chunk.heading.first() != Some(&title) {
            chunk.heading.insert(0, title.clone());
        }
    }
    let slug = document.slug.as_str();
    add_links(&mut chunks, &document.text, |target| slugs(slug, target));
    let mut metadata =
        Map::from_iter([("slug".to_owned(), slug.into()), ("title".to_owned(), document.title.as_str().into())]);
    let tags = front_matter(&document.text).map(tags).unwrap_or_default();
    if !tags.is_empty() {
        metadata.insert("tags".into(), json!(tags));
    }
    rag::Document { name: slug.to_owned(), metadata, chunks }
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

/// Returns the slugs to which a target in the document `own` may lead.
///
/// `scripts/load` makes slugs from paths, and a slug does not tell where the folder of the path ends. So a relative link has one candidate
/// for each beginning of the slug. Only candidates that are slugs of documents have an effect.
fn slugs(own: &str, target: &str) -> BTreeSet<String> {
    if let Some(slug) = target.strip_prefix(URI_PREFIX) {
        return Slug::try_from(slug.to_owned()).iter().map(|slug| slug.as_str().to_owned()).collect();
    }
    if target.is_empty() {
        return [own.to_owned()].into();
    }
    let mut relative = target;
    while let Some(rest) = relative.strip_prefix("../").or_else(|| relative.strip_prefix("./")) {
        relative = rest;
    }
    let Some(name) = resolve("", relative).and_then(|path| slug_of_path(&path)) else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    if !target.starts_with('/') {
        let folders = own.match_indices('-').filter_map(|(at, _)| own.get(..at)).take(FOLDERS);
        found.extend(folders.map(|folder| format!("{folder}-{name}")));
    }
    found.insert(name);
    found
}

/// Returns the slug that `scripts/load` gives to the file at `path`, or `None` if it is not a Markdown file. A slug with a hash is not found.
fn slug_of_path(path: &str) -> Option<String> {
    let (name, extension) = path.rsplit_once('.')?;
    if !extension.eq_ignore_ascii_case("md") {
        return None;
    }
    let mut slug = String::new();
    for character in name.to_lowercase().chars() {
        match character {
            _ if is_slug_letter(character) => slug.push(character),
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
        let matter = format!("---\ntags: [{}]\n---\n", vec!["é".repeat(32); 30].join(","));
        for slug in ["a".repeat(200), "語".repeat(85)] {
            let passages = with_passages(&document(&slug, &"😀".repeat(300), &matter));
            assert!(passages.check().is_ok(), "{slug}");
        }
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

    /// The table is also that of `scripts/load`.
    #[test]
    fn paths_have_the_slugs_of_the_command() {
        let table: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/documents.json")).expect("the table");
        for row in table["slugs"].as_array().expect("rows") {
            let (path, slug) = (row[0].as_str().expect("a path"), row[1].as_str().expect("a slug"));
            assert_eq!(slug_of_path(path).as_deref(), Some(slug));
            assert!(Slug::try_from(slug.to_owned()).is_ok(), "{slug}");
        }
    }

    #[test]
    fn links_lead_to_slugs() {
        for (target, expected) in [
            ("pots.md", vec!["docs-pots", "docs-tea-pots", "pots"]),
            ("../My%20Cup.md", vec!["docs-my-cup", "docs-tea-my-cup", "my-cup"]),
            ("kb://documents/kettle", vec!["kettle"]),
            ("kb://documents/%E8%8C%B6", vec!["茶"]),
            ("kb://documents/No%20slug", vec![]),
            ("/%E3%81%8A%E8%8C%B6.md", vec!["お茶"]),
            ("https://a.b/c.md", vec![]),
            ("/root.md", vec!["root"]),
            ("x.png", vec![]),
            ("", vec!["docs-tea-green"]),
        ] {
            assert_eq!(slugs("docs-tea-green", target).into_iter().collect::<Vec<_>>(), expected, "{target}");
        }
        let text = "# Green\n\n[a](kb://documents/pots#iron)\n\n# More\n\n[b](#green)";
        let links = |chunk: &Chunk| chunk.links.clone();
        let link =
            |document: &str, section: &str| rag::Link { document: document.into(), section: Some(section.into()) };
        let chunks = with_passages(&document("tea", "Green", text)).chunks;
        assert_eq!(chunks.iter().flat_map(links).collect::<Vec<_>>(), [link("pots", "iron"), link("tea", "green")]);
    }
}
