//! The contract of a store of passages: the promises of [`SearchStore`](crate::rag::SearchStore) and [`SaveStore`].

use std::collections::{BTreeMap, BTreeSet};

use edge_json::write;
use serde_json::{Map, Value, json};

use crate::rag::{
    Chunk, Document, Filter, Link, Passage, PassageId, SaveCounts, SaveStore, Search, Space, StoreError, StoreFailure,
};

/// The spaces of the contract: the index, and the name. The last one has passages only in its own index.
const SPACES: [(&str, &str); 3] = [("contract", "a"), ("contract", "b"), ("contract-other", "c")];
/// Words of the passages, and one that no passage has.
const WORDS: [&str; 5] = ["zephyr", "kettle", "clay", "secret", "absent"];
/// The number of passages that a comparison can find.
const MOST: usize = 50;

/// Checks that a store of passages keeps the promises of [`SearchStore`](crate::rag::SearchStore) and [`SaveStore`]: spaces, filters, numbers of
/// passages, removal, neighbours, links, and errors. Returns the answers of the store, one on each line.
///
/// The contract saves documents in the indexes `contract` and `contract-other`, which must be empty, and removes them at its end. Each store chooses how it
/// orders passages, and whether it has neighbours and edges. A store that does all of this as [`MemoryStore`](crate::rag::MemoryStore) has the
/// same answers.
///
/// ```
/// use edge_mcp::rag::{self, MemoryStore, SqlitePassages};
/// use edge_mcp::testing::{self, TestDatabase, passage_store_contract};
///
/// testing::run(async {
///     let database = TestDatabase::empty();
///     database.migrate(&rag::migration("rag").unwrap()).unwrap();
///     let answers = passage_store_contract(&SqlitePassages::new(database.database())).await.unwrap();
///     assert_eq!(answers, passage_store_contract(&MemoryStore::new()).await.unwrap());
/// });
/// ```
///
/// # Errors
/// A sentence about the first promise that the store does not keep.
pub async fn passage_store_contract<S: SaveStore + ?Sized>(store: &S) -> Result<Vec<String>, String> {
    let mut contract =
        PassageContract { store, stored: BTreeMap::new(), contents: BTreeMap::new(), answers: Vec::new() };
    contract.saved().await?;
    contract.changed().await?;
    contract.rejected().await?;
    contract.removed().await?;
    Ok(contract.answers)
}

/// Returns the index and the space with this number.
pub(super) fn space(at: usize) -> Space {
    let (index, name) = SPACES.get(at).copied().unwrap_or_default();
    Space { index: index.into(), name: name.to_owned() }
}

pub(super) fn ensure(is_kept: bool, promise: impl FnOnce() -> String) -> Result<(), String> {
    if is_kept { Ok(()) } else { Err(promise()) }
}

/// Returns a sentence about a call that failed.
pub(super) fn failed(call: &str) -> impl Fn(StoreError) -> String {
    move |error| format!("{call} failed: {:?}, {}", error.kind, error.cause)
}

fn fields(metadata: Value) -> Map<String, Value> {
    if let Value::Object(fields) = metadata { fields } else { Map::new() }
}

fn chunk(section: &str, text: &str, metadata: Value, link: Option<(&str, &str)>) -> Chunk {
    let to =
        |(document, section): (&str, &str)| Link { document: document.to_owned(), section: Some(section.to_owned()) };
    Chunk {
        heading: vec!["Title".into(), section.into()],
        text: text.to_owned(),
        metadata: fields(metadata),
        links: link.map(to).into_iter().collect(),
        ..Chunk::default()
    }
}

fn document(name: &str, metadata: Value, chunks: Vec<Chunk>) -> Document {
    Document { name: name.to_owned(), metadata: fields(metadata), chunks }
}

/// Returns the documents of the contract, with the numbers of their spaces.
pub(super) fn documents() -> Vec<(usize, Document)> {
    let none = || json!({});
    let tea = vec![
        chunk("Warm", "zephyr kettle lemon", json!({ "page": 1 }), Some(("pots", "clay"))),
        chunk("Warm", "zephyr kettle", json!({ "page": 2 }), None),
        chunk("Warm", "zephyr steam", none(), None),
        chunk("Cold", "zephyr lemon ice", none(), Some(("cups", "absent"))),
    ];
    let pots = vec![
        chunk("Iron", "zephyr iron", none(), None),
        // The chunk has another value than its document.
        chunk("Clay", "zephyr clay kettle", json!({ "kind": "drink" }), None),
    ];
    let cups = vec![chunk("Cups", "zephyr cup kettle kettle", none(), Some(("tea", "cold")))];
    let secret = vec![chunk("Warm", "zephyr kettle secret", none(), Some(("pots", "clay")))];
    vec![
        (0, document("tea", json!({ "kind": "drink", "version": 2 }), tea)),
        (0, document("pots", json!({ "kind": "thing", "version": 1 }), pots)),
        (0, document("cups", json!({ "kind": "thing", "tags": ["blue", "small"] }), cups)),
        (1, document("tea", json!({ "kind": "drink" }), secret.clone())),
        (2, document("other", json!({ "kind": "drink" }), secret)),
    ]
}

/// Returns the filters of the contract with their names.
pub(super) fn filters() -> [(&'static str, Filter); 6] {
    [
        ("no filter", Filter::default()),
        ("kind is drink", Filter::eq("kind", "drink")),
        ("kind is not drink", Filter::ne("kind", "drink")),
        ("page from 2", Filter::gte("page", 2)),
        ("tag blue, or page 1", Filter::eq("tags", "blue").or(Filter::eq("page", 1))),
        ("nothing", Filter::eq("kind", "nothing")),
    ]
}

/// A passage as text, with its fields in the order of their names.
fn described(document: &str, ordinal: usize, heading: &str, text: &str, metadata: &Map<String, Value>) -> String {
    let metadata: BTreeMap<_, _> = metadata.iter().collect();
    let metadata = write::to_string(&metadata).unwrap_or_default();
    format!("{document}#{ordinal} [{heading}] {text} {metadata}")
}

fn described_passage(Passage { document, ordinal, heading, text, metadata, .. }: &Passage) -> String {
    described(document, *ordinal, heading, text, metadata)
}

struct PassageContract<'s, S: ?Sized> {
    store: &'s S,
    /// The documents that must be stored, by the number of the space and the name.
    stored: BTreeMap<(usize, String), Document>,
    /// The space, the document and the text of each number that the store ever returned.
    contents: BTreeMap<PassageId, (usize, String, String)>,
    answers: Vec<String>,
}

impl<S: SaveStore + ?Sized> PassageContract<'_, S> {
    /// Saves documents in empty spaces, and each of them again.
    async fn saved(&mut self) -> Result<(), String> {
        self.compare().await?;
        for (at, document) in documents() {
            let chunks = document.chunks.len();
            self.save(at, document.clone(), SaveCounts { chunks, inserted: chunks, deleted: 0 }).await?;
            self.save(at, document, SaveCounts { chunks, inserted: 0, deleted: 0 }).await?;
        }
        self.compare().await
    }

    /// Saves documents with changes. A chunk whose headings and text stay keeps its number, also with other metadata and at another position.
    async fn changed(&mut self) -> Result<(), String> {
        let Some((at, mut tea)) = documents().into_iter().next() else { return Ok(()) };
        let before = self.ids(at).await?;
        tea.chunks.reverse();
        tea.metadata = fields(json!({ "kind": "leaf" }));
        for (chunk, page) in tea.chunks.iter_mut().zip(7..) {
            chunk.metadata = if page == 9 { Map::new() } else { fields(json!({ "page": page })) };
        }
        self.save(at, tea.clone(), SaveCounts { chunks: 4, inserted: 0, deleted: 0 }).await?;
        ensure(self.ids(at).await? == before, || "A chunk whose text stays must keep its number.".to_owned())?;
        if let Some(first) = tea.chunks.first_mut() {
            "zephyr lemon clay".clone_into(&mut first.text);
        }
        self.save(at, tea, SaveCounts { chunks: 4, inserted: 1, deleted: 1 }).await?;
        self.compare().await
    }

    /// Uses documents and filters that are not valid, and an index that does not exist.
    async fn rejected(&mut self) -> Result<(), String> {
        let unnamed = Document { name: String::new(), ..Document::default() };
        let saved = self.store.save(&space(0), &unnamed).await.map_err(|error| error.kind);
        ensure(saved == Err(StoreFailure::Document), || {
            format!("A document without a name must be rejected as `StoreFailure::Document` (got {saved:?}).")
        })?;
        let invalid = Filter::eq("$kind", 1);
        let search = Search { space: space(0), ..Search::new("zephyr").within(invalid.clone()) };
        let found = self.store.search(search).await.map(|found| found.passages.len()).map_err(|error| error.kind);
        let read =
            self.store.passages(&space(0), &[1], &invalid).await.map(|read| read.len()).map_err(|error| error.kind);
        for answer in [found, read] {
            ensure(answer == Err(StoreFailure::Filter), || {
                format!("An invalid filter must be rejected as `StoreFailure::Filter` (got {answer:?}).")
            })?;
        }
        let elsewhere = Space { index: space(0).index, ..space(2) };
        let found = self.store.search(Search { space: elsewhere, ..Search::new("zephyr") }).await;
        let found = found.map(|found| found.passages.len()).map_err(|error| error.kind);
        ensure(found == Err(StoreFailure::UnknownIndex), || {
            format!(
                "A search in a space that has passages only in other indexes must fail as `StoreFailure::UnknownIndex` (got {found:?})."
            )
        })
    }

    /// Removes a document and saves it again, and then removes all documents.
    async fn removed(&mut self) -> Result<(), String> {
        let Some((at, tea)) = documents().into_iter().next() else { return Ok(()) };
        self.remove(at, "tea").await?;
        self.save(at, tea, SaveCounts { chunks: 4, inserted: 4, deleted: 0 }).await?;
        self.compare().await?;
        let names: Vec<_> = self.stored.keys().cloned().collect();
        for (at, name) in names {
            self.remove(at, &name).await?;
        }
        self.compare().await
    }

    async fn save(&mut self, at: usize, document: Document, expected: SaveCounts) -> Result<(), String> {
        let name = document.name.clone();
        let saved = self.store.save(&space(at), &document).await.map_err(failed("`save`"))?;
        ensure(saved == expected, || format!("`save` of `{name}` must return {expected:?} (got {saved:?})."))?;
        self.stored.insert((at, name), document);
        Ok(())
    }

    async fn remove(&mut self, at: usize, name: &str) -> Result<(), String> {
        for expected in [true, false] {
            let removed = self.store.remove(&space(at), name).await.map_err(failed("`remove`"))?;
            ensure(removed == expected, || format!("`remove` of `{name}` must return {expected} (got {removed})."))?;
        }
        self.stored.remove(&(at, name.to_owned()));
        Ok(())
    }

    /// Returns the passages of a space that match a filter.
    fn expected(&self, at: usize, filter: &Filter) -> BTreeSet<String> {
        let of_space = self.stored.iter().filter(|((of, _), _)| *of == at).map(|(_, document)| document);
        let mut expected = BTreeSet::new();
        for Document { name, metadata, chunks } in of_space {
            for (ordinal, chunk) in chunks.iter().enumerate() {
                let mut metadata = metadata.clone();
                metadata.extend(chunk.metadata.clone());
                if filter.matches(&metadata) {
                    expected.insert(described(name, ordinal, &chunk.heading.join(" > "), &chunk.text, &metadata));
                }
            }
        }
        expected
    }

    async fn ids(&self, at: usize) -> Result<BTreeSet<PassageId>, String> {
        let search = Search { space: space(at), ..Search::new("zephyr").top_k(MOST) };
        let found = self.store.search(search).await.map_err(failed("`search`"))?;
        Ok(found.passages.iter().map(|found| found.passage.id).collect())
    }

    /// Compares all answers with the stored documents.
    async fn compare(&mut self) -> Result<(), String> {
        for at in 0..SPACES.len() {
            for (name, filter) in &filters() {
                for word in WORDS {
                    self.compare_search(at, word, name, filter).await?;
                }
                self.compare_passages(at, name, filter).await?;
            }
        }
        Ok(())
    }

    async fn compare_search(&mut self, at: usize, word: &str, name: &str, filter: &Filter) -> Result<(), String> {
        let call = format!("A search for `{word}` in space {at} with the filter `{name}`");
        let search = || Search { space: space(at), ..Search::new(word).top_k(MOST).within(filter.clone()) };
        let found = self.store.search(search()).await.map_err(failed(&call))?.passages;
        let passages: BTreeSet<_> = found.iter().map(|found| described_passage(&found.passage)).collect();
        let mut expected = self.expected(at, filter);
        expected.retain(|passage| passage.contains(word));
        ensure(passages == expected && passages.len() == found.len(), || {
            format!("{call} must find exactly {expected:?} (found {passages:?}, {} passages).", found.len())
        })?;
        let is_ordered = found.is_sorted_by(|one, other| one.score >= other.score);
        let are_scores = found.iter().all(|found| (0.0..=1.0).contains(&found.score));
        ensure(is_ordered && are_scores, || format!("{call} must have scores from 0 to 1, best first."))?;
        let answer: Vec<_> = found
            .iter()
            .map(|found| format!("{}#{} {}", found.passage.document, found.passage.ordinal, found.score))
            .collect();
        self.answers.push(format!("{call}: {}", answer.join(", ")));
        for passage in found.into_iter().map(|found| found.passage) {
            let content = (at, passage.document, passage.text);
            let known = self.contents.entry(passage.id).or_insert_with(|| content.clone());
            ensure(*known == content, || format!("The number {} must never be used again.", passage.id))?;
        }
        // The other two checks need only the word that all passages have.
        if word != "zephyr" {
            return Ok(());
        }
        let one = self.store.search(search().top_k(1)).await.map_err(failed(&call))?.passages;
        ensure(one.len() == expected.len().min(1), || format!("{call} must find at most `most` passages."))?;
        let containing = Search { containing: Some("lemon".to_owned()), ..search() };
        let found = self.store.search(containing).await.map_err(failed(&call))?.passages;
        expected.retain(|passage| passage.contains("lemon"));
        ensure(found.len() == expected.len(), || {
            format!("{call} must find only passages that contain the text `containing` (found {}).", found.len())
        })
    }

    async fn compare_passages(&mut self, at: usize, name: &str, filter: &Filter) -> Result<(), String> {
        let call = format!("in space {at} with the filter `{name}`");
        let space = space(at);
        let ids: Vec<_> = self.contents.keys().rev().copied().collect();
        let read = self.store.passages(&space, &ids, filter).await.map_err(failed("`passages`"))?;
        let passages: BTreeSet<_> = read.iter().map(described_passage).collect();
        let expected = self.expected(at, filter);
        ensure(passages == expected && read.is_sorted_by(|one, other| one.id > other.id), || {
            format!("`passages` {call} must return {expected:?} in the order of the numbers (returned {passages:?}).")
        })?;
        let visible: BTreeMap<_, _> = read.iter().map(|passage| (passage.id, passage)).collect();
        let place = |id: &PassageId| {
            let passage = visible.get(id).ok_or_else(|| format!("The passage {id} must not be returned {call}."))?;
            Ok::<_, String>(format!("{}#{}", passage.document, passage.ordinal))
        };
        for passage in &read {
            let ids = [passage.id];
            let around = self.store.neighbours(&space, &ids, 1, filter).await.map_err(failed("`neighbours`"))?;
            let mut answer = Vec::new();
            for other in &around {
                let is_beside = other.document == passage.document
                    && other.heading == passage.heading
                    && other.ordinal.abs_diff(passage.ordinal) == 1;
                let of = place(&passage.id)?;
                ensure(is_beside, || format!("`neighbours` of {of} {call} must be beside it in its section."))?;
                answer.push(place(&other.id)?);
            }
            let edges = self.store.edges(&space, &ids, 0.5, filter).await.map_err(failed("`edges`"))?;
            let around: BTreeSet<_> =
                edges.iter().filter(|edge| edge.source == passage.id).map(|edge| edge.target).collect();
            for edge in &edges {
                let is_near = edge.source == passage.id || around.contains(&edge.source);
                ensure(is_near && edge.weight > 0.5 && edge.weight <= 1.0, || {
                    format!(
                        "`edges` {call} must begin at a seed or beside it, and be heavier than the threshold (got {edge:?})."
                    )
                })?;
                answer.push(format!("{} to {} {}", place(&edge.source)?, place(&edge.target)?, edge.weight));
            }
            self.answers.push(format!("around {} {call}: {}", place(&passage.id)?, answer.join(", ")));
        }
        Ok(())
    }
}
