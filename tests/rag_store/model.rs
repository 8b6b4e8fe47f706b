//! A simple model of a store.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use edge_mcp::rag::{Chunk, Document, Filter, Link, Passage, PassageId, SaveCounts};
use serde_json::{Map, json};

use crate::comparison::Content;
use crate::random::Random;

/// A word of every passage, and words of some passages. The stem of each word is the word.
pub(crate) const EVERYWHERE: &str = "zigzag";
pub(crate) const WORDS: &[&str] =
    &["lemon", "pixel", "quartz", "violin", "robin", "bamboo", "walnut", "tulip", "harbor", "candid"];

/// The parts of a passage that are compared: document, ordinal, headings, text, metadata.
pub(crate) type Compared = (String, usize, String, String, String);

/// The documents of each space.
#[derive(Default)]
pub(crate) struct Model {
    documents: BTreeMap<(usize, String), Document>,
}

/// Returns the name of a document.
pub(crate) fn name(random: &mut Random) -> String {
    format!("d{}", random.below(5))
}

fn words(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| random.one(WORDS)).collect::<Vec<_>>().join(" ")
}

fn chunk(random: &mut Random) -> Chunk {
    let heading: Vec<Rc<str>> = vec!["Title".into(), random.one(&["A", "B", "A lemon", "quartz robin"]).into()];
    // Short texts, so that equal chunks occur, and long texts, so that the length and the number of occurrences matter for the order.
    // Quotes and control characters must not matter.
    let count = if random.once_in(2) { random.below(3) } else { 20 };
    let text = format!("{EVERYWHERE} {} {}", words(random, count), random.one(&["", "'\"\\", "é\n\u{1}", "];--"]));
    Chunk { heading, text, ..Chunk::default() }
}

/// Returns a link to a document that may not exist, or to a section that it may not have.
fn link(random: &mut Random) -> Link {
    let section = random.one(&["", "a-lemon", "A", "b", "quartzrobin", "-"]);
    Link {
        document: format!("d{}", random.below(7)),
        section: Some((*section).to_owned()).filter(|section| !section.is_empty()),
    }
}

impl Model {
    /// Returns a random change of a document of the space, or a new document.
    pub(crate) fn edited(&self, space: usize, random: &mut Random) -> Document {
        let name = name(random);
        let stored = self.documents.get(&(space, name.clone()));
        let mut chunks = stored.map_or_else(Vec::new, |stored| stored.chunks.clone());
        for _ in 0..random.below(4) {
            let at = random.below(chunks.len() + 1);
            match random.below(4) {
                0 | 1 => chunks.insert(at, chunk(random)),
                2 if at < chunks.len() => drop(chunks.remove(at)),
                _ if at < chunks.len() => {
                    let other = random.below(chunks.len());
                    chunks.swap(at, other);
                }
                _ => {}
            }
        }
        let metadata = Map::from_iter([("kind".to_owned(), json!(random.one(&["x", "y"])))]);
        for chunk in &mut chunks {
            chunk.metadata = match random.below(4) {
                0 => Map::from_iter([("kind".to_owned(), json!(random.one(&["x", "y"])))]),
                1 => Map::from_iter([("page".to_owned(), json!(random.below(3)))]),
                _ => Map::new(),
            };
            chunk.links =
                if random.once_in(2) { (0..random.below(3)).map(|_| link(random)).collect() } else { Vec::new() };
        }
        Document { name, metadata, chunks }
    }

    pub(crate) fn save(&mut self, space: usize, documents: &[Document]) -> SaveCounts {
        let mut saved = SaveCounts::default();
        for document in documents {
            let count = |chunks: &[Chunk]| {
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                for chunk in chunks {
                    *counts.entry(chunk.hash()).or_default() += 1;
                }
                counts
            };
            let old = self.documents.insert((space, document.name.clone()), document.clone());
            let (old, new) = (count(&old.map_or_else(Vec::new, |old| old.chunks)), count(&document.chunks));
            let missing = |from: &BTreeMap<String, usize>, in_this: &BTreeMap<String, usize>| -> usize {
                from.iter().map(|(hash, count)| count.saturating_sub(in_this.get(hash).copied().unwrap_or(0))).sum()
            };
            saved.chunks += document.chunks.len();
            saved.inserted += missing(&new, &old);
            saved.deleted += missing(&old, &new);
        }
        saved
    }

    pub(crate) fn remove(&mut self, space: usize, name: &str) -> bool {
        self.documents.remove(&(space, name.to_owned())).is_some_and(|document| !document.chunks.is_empty())
    }

    fn of_space(&self, space: usize) -> impl Iterator<Item = &Document> {
        self.documents.iter().filter(move |((of, _), _)| *of == space).map(|(_, document)| document)
    }

    /// Returns the passages that are in the space and match the filter. Their ids are 0.
    pub(crate) fn passages(&self, space: usize, filter: &Filter) -> Vec<Passage> {
        let passages = |document: &Document| {
            let passage = |(ordinal, chunk): (usize, &Chunk)| Passage {
                id: 0,
                document: document.name.clone(),
                ordinal,
                heading: chunk.heading.join(" > "),
                text: chunk.text.clone(),
                metadata: metadata(document, chunk),
            };
            document.chunks.iter().enumerate().map(passage).collect::<Vec<_>>()
        };
        self.of_space(space).flat_map(passages).filter(|passage| filter.matches(&passage.metadata)).collect()
    }

    /// Returns the passages that match the filter, by document, with their ids and positions. `id` returns the id of a passage.
    fn numbered(
        &self,
        space: usize,
        filter: &Filter,
        id: impl Fn(&Content) -> Option<PassageId>,
    ) -> BTreeMap<&str, Vec<(PassageId, usize, &Chunk)>> {
        let mut documents = BTreeMap::new();
        for document in self.of_space(space) {
            let (name, mut equal) = (&document.name, BTreeMap::<String, usize>::new());
            let numbered = |(ordinal, chunk)| {
                let number = equal.entry(Chunk::hash(chunk)).or_default();
                let content = (space, name.clone(), chunk.heading.join(" > "), chunk.text.clone(), *number);
                *number += 1;
                (id(&content).expect("the passage is stored"), ordinal, chunk)
            };
            let passages = document.chunks.iter().enumerate().map(numbered);
            let visible = passages.filter(|(.., chunk)| filter.matches(&metadata(document, chunk)));
            documents.insert(name.as_str(), visible.collect());
        }
        documents
    }

    /// Returns the ids of the passages around others in their sections.
    pub(crate) fn neighbours(
        &self,
        space: usize,
        filter: &Filter,
        distance: usize,
        of: &[PassageId],
        id: impl Fn(&Content) -> Option<PassageId>,
    ) -> BTreeSet<PassageId> {
        let mut found = BTreeSet::new();
        let all = self.numbered(space, &Filter::default(), &id);
        for (name, visible) in self.numbered(space, filter, &id) {
            for (_, at, chunk) in all[name].iter().filter(|(id, ..)| of.contains(id)) {
                let around = visible.iter().filter(|(_, other, _)| other.abs_diff(*at) <= distance);
                found.extend(around.filter(|(.., other)| other.heading == chunk.heading).map(|(id, ..)| *id));
            }
        }
        found.retain(|id| !of.contains(id));
        found
    }

    /// Returns the edges, with their weights as text.
    pub(crate) fn edges(
        &self,
        space: usize,
        filter: &Filter,
        threshold: f64,
        seeds: &[PassageId],
        id: impl Fn(&Content) -> Option<PassageId>,
    ) -> BTreeMap<(PassageId, PassageId), String> {
        if threshold >= 0.9 {
            return BTreeMap::new();
        }
        let documents = self.numbered(space, filter, id);
        let mut edges = BTreeSet::new();
        for (name, (id, _, chunk)) in
            documents.iter().flat_map(|(name, chunks)| chunks.iter().map(move |chunk| (name, chunk)))
        {
            for Link { document, section } in chunk.links.iter().filter(|link| link.document != *name) {
                let Some(passages) = documents.get(document.as_str()) else { continue };
                let section = section.as_ref().map(|section| section.replace('-', "").to_lowercase());
                let is_linked = |chunk: &Chunk| {
                    let heading = chunk.heading.last().expect("a heading").replace(' ', "").to_lowercase();
                    section.as_deref() == Some(&heading)
                };
                let of_section = passages.iter().find(|(.., chunk)| is_linked(chunk));
                if let Some((other, ..)) = of_section.or(passages.first()) {
                    edges.extend([(*id, *other), (*other, *id)]);
                }
            }
        }
        let near = edges.iter().filter(|(source, _)| seeds.contains(source)).map(|(_, target)| *target);
        let sources: BTreeSet<_> = near.chain(seeds.iter().copied()).collect();
        edges.retain(|(source, _)| sources.contains(source));
        edges.into_iter().map(|pair| (pair, "0.9".to_owned())).collect()
    }
}

/// Returns the metadata of a passage.
fn metadata(document: &Document, chunk: &Chunk) -> Map<String, serde_json::Value> {
    document.metadata.clone().into_iter().chain(chunk.metadata.clone()).collect()
}

pub(crate) fn content(passage: &Passage) -> Compared {
    let Passage { document, ordinal, heading, text, metadata, .. } = passage;
    (document.clone(), *ordinal, heading.clone(), text.clone(), json!(metadata).to_string())
}
