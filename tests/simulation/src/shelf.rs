//! The model of the passages: what was saved and when, and the checks of the tables and of everything that a search finds.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};

use edge_mcp::rag::{
    self, Chunk, Document, FoundPassage, IndexReport, Link, MemoryStore, Passage, SaveCounts, SaveStore, SearchStore,
    Space,
};
use edge_mcp::testing::TestDatabase;
use edge_mcp_test_support::random::Random;
use futures::FutureExt;
use serde_json::{Map, Value, json};

use crate::database::Check;
use crate::digest;
use crate::embeddings;
use crate::ledger::{Invariant, mark};
use crate::passages::{Choice, INDEX, PassagesPlan, Question};
use crate::tables::{self, Stored};
use crate::vector_service::VectorService;
use crate::world::World;

/// A word of every passage, and words of some passages. The stem of each word is the word. The last one is misspelled.
pub const EVERYWHERE: &str = "zigzag";
pub const WORDS: &[&str] = &[EVERYWHERE, "lemon", "pixel", "quartz", "violin", "robin", "bamboo", "zigazg"];

/// The name of a space, and the name of a document in it.
type Name = (String, String);

/// A version of a document. A document without chunks is not stored.
type Version = Option<String>;

/// The store of all isolates, and the record of its documents.
pub struct Shelf {
    pub plan: PassagesPlan,
    pub sqlite: TestDatabase,
    pub check: Check,
    /// The service beside the database.
    pub service: Rc<VectorService>,
    record: RefCell<Record>,
}

#[derive(Default)]
struct Record {
    /// The number of changes of documents so far, which is the time of this record.
    now: u64,
    /// The number of batches that changed a row.
    changes: u64,
    documents: BTreeMap<(Name, String), Rc<Document>>,
    /// The versions of each stored document, with the times from which they were stored.
    versions: BTreeMap<Name, Vec<(u64, Version)>>,
    /// The work that may still change documents: its space, and the versions that it leaves.
    begun: BTreeMap<u64, (String, BTreeMap<String, Version>)>,
    next: u64,
    /// The content of each id that was ever stored.
    ids: BTreeMap<i64, (Name, String)>,
}

/// Work on the passages of a space that has begun.
pub struct Begun {
    pub space: String,
    number: u64,
    /// The time of the beginning.
    from: u64,
    versions: BTreeMap<String, Version>,
    shelf: Rc<Shelf>,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.shelf.record.borrow_mut().begun.remove(&self.number);
    }
}

/// A passage that was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub document: String,
    pub ordinal: usize,
    pub text: String,
    pub heading: String,
    pub metadata: Map<String, Value>,
    pub score: f64,
}

impl Found {
    pub fn of(found: &FoundPassage) -> Self {
        let Passage { document, ordinal, heading, text, metadata, .. } = found.passage.clone();
        Self { document, ordinal, text, heading, metadata, score: found.score }
    }

    /// Reads a source of the result of a tool.
    pub fn of_source(source: &Value) -> Option<Self> {
        let (document, number) = source["id"].as_str()?.rsplit_once('#')?;
        Some(Self {
            document: document.to_owned(),
            ordinal: number.parse::<usize>().ok()?.checked_sub(1)?,
            text: source["document"].as_str()?.to_owned(),
            heading: source["heading"].as_str()?.to_owned(),
            metadata: source["metadata"].as_object()?.clone(),
            score: source["score"].as_f64()?,
        })
    }
}

/// Returns whether a filter of a caller and the filter of the program permit a document.
fn is_visible(document: &Document, question: &Question) -> bool {
    let metadata = &document.metadata;
    let matches = match &question.filter {
        Choice::All => true,
        Choice::Kind(kind) => metadata["kind"] == **kind,
        Choice::OtherKind(kind) => metadata["kind"] != **kind,
        Choice::AtLeast(number) => metadata["number"].as_u64() >= Some(u64::from(*number)),
    };
    matches && (question.is_open || metadata.get("secret").is_none())
}

/// Returns whether a chunk contains one of the words.
fn has_word(chunk: &Chunk, words: &[String]) -> bool {
    let known = |word: &str| if word == "zigazg" { EVERYWHERE.to_owned() } else { word.to_owned() };
    words.iter().any(|word| chunk.text.split(' ').any(|other| other == known(word)))
}

/// Returns the version of a document, which depends only on its space, its name and its number.
fn document(space: &str, name: &str, version: &str, plan: &PassagesPlan) -> Document {
    let PassagesPlan { most_chunks, has_poison, .. } = *plan;
    let seed = format!("{space}/{name}/{version}");
    let mut random = Random::new(digest::of(seed.as_bytes()));
    let count = if random.once_in(8) { 0 } else { most_chunks - random.below(most_chunks.div_ceil(2)) };
    let chunks = (0..count).map(|nth| {
        let owned = mark(space, "passage");
        let word = random.one(&WORDS[1..WORDS.len() - 1]);
        // Some chunks are the same in several versions, and may occur twice in one.
        let text = if random.once_in(2) {
            format!("{EVERYWHERE} {word} common {owned}")
        } else {
            format!("{EVERYWHERE} {word} {name} {version} {nth}/{count} {owned}")
        };
        let text = if has_poison && random.once_in(6) { format!("{text} {}", embeddings::POISON) } else { text };
        let heading = vec!["Top".into(), (if nth * 2 < count { "First part" } else { "Second" }).into()];
        let links = (0..random.below(3)).map(|_| Link {
            document: format!("d{}", random.below(5)),
            section: [None, Some("first-part".to_owned()), Some("Second".to_owned())][random.below(3)].clone(),
        });
        Chunk { heading, text, links: links.collect(), ..Chunk::default() }
    });
    let chunks = chunks.collect();
    let mut metadata = Map::new();
    metadata.insert("version".into(), json!(version));
    metadata.insert("kind".into(), json!(random.one(&["x", "y"])));
    metadata.insert("number".into(), json!(random.below(4)));
    if random.once_in(4) {
        metadata.insert("secret".into(), json!(true));
    }
    Document { name: name.to_owned(), metadata, chunks }
}

impl Shelf {
    /// Creates the store of a run.
    pub fn new(world: &Rc<World>, plan: &PassagesPlan) -> Rc<Self> {
        let sqlite = TestDatabase::empty();
        sqlite.migrate(&rag::migration("rag").expect("a prefix")).expect("the tables of passages");
        if plan.has_vectors {
            sqlite.migrate(&rag::vector_migration("rag").expect("a prefix")).expect("the tables of vectors");
        }
        Rc::new_cyclic(|shelf: &Weak<Self>| {
            let (world, shelf) = (Rc::downgrade(world), shelf.clone());
            let changes = std::cell::Cell::new(tables::changes(&sqlite));
            let check: Check = Rc::new(move |sqlite| {
                let (Some(world), Some(shelf)) = (world.upgrade(), shelf.upgrade()) else { return };
                let now = tables::changes(sqlite);
                if changes.replace(now) != now {
                    shelf.changed(&world);
                }
            });
            Self { plan: plan.clone(), sqlite, check, service: Rc::default(), record: RefCell::default() }
        })
    }

    /// Returns a version of a document.
    pub fn document(&self, space: &str, name: &str, version: &str) -> Document {
        document(space, name, version, &self.plan)
    }

    /// Records that work begins, and the versions that it leaves. A version of `None` is that of a removed document.
    pub fn begin(self: &Rc<Self>, space: &str, versions: impl IntoIterator<Item = (String, Version)>) -> Begun {
        let mut record = self.record.borrow_mut();
        let mut left = BTreeMap::new();
        for (name, version) in versions {
            let version = version.filter(|version| {
                let document = self.document(space, &name, version);
                let is_stored = !document.chunks.is_empty();
                let key = ((space.to_owned(), name.clone()), version.clone());
                record.documents.insert(key, Rc::new(document));
                is_stored
            });
            left.insert(name, version);
        }
        record.next += 1;
        let number = record.next;
        record.begun.insert(number, (space.to_owned(), left.clone()));
        Begun { space: space.to_owned(), number, from: record.now, versions: left, shelf: self.clone() }
    }

    /// Checks the tables after a change, and records the versions that they have.
    fn changed(&self, world: &World) {
        let ledger = &world.ledger;
        let stored = match tables::read(&self.sqlite) {
            Ok(stored) => stored,
            Err(problem) => return ledger.violate(Invariant::WholeBatch, problem),
        };
        let mut record = self.record.borrow_mut();
        let record = &mut *record;
        for (name, stored) in &stored {
            if let Some(problem) = record.problem(name, stored) {
                return ledger.violate(Invariant::WholeBatch, problem);
            }
        }
        record.changes += 1;
        // This takes longer, and what is wrong stays wrong.
        if record.changes.is_multiple_of(3) {
            self.check_others(world);
        }
        let version = |name: &Name| stored.get(name).map(|stored| stored.version.clone());
        let known: BTreeSet<&Name> = record.versions.keys().chain(stored.keys()).collect();
        let before = |name: &Name| record.versions.get(name).and_then(|versions| versions.last()?.1.clone());
        let changes: Vec<(Name, Version)> = known
            .into_iter()
            .filter(|name| before(name) != version(name))
            .map(|name| (name.clone(), version(name)))
            .collect();
        if changes.is_empty() {
            return;
        }
        let explains = |(space, left): &(String, BTreeMap<String, Version>)| {
            changes.iter().all(|((of, name), version)| of == space && left.get(name) == Some(version))
                && left.iter().all(|(name, left)| version(&(space.clone(), name.clone())) == *left)
        };
        ledger.check(record.begun.values().any(explains), Invariant::WholeBatch, || {
            format!("no work explains the change {changes:?}: {:?}", record.begun)
        });
        record.now += 1;
        for (name, version) in changes {
            record.versions.entry(name).or_default().push((record.now, version));
        }
    }

    /// Checks that the other tables agree with the chunks.
    pub fn check_others(&self, world: &World) {
        let service = self.plan.has_index.then_some(&*self.service);
        if let Err(problem) = tables::check_others(&self.sqlite, self.plan.has_vectors, service) {
            world.ledger.violate(Invariant::WholeBatch, problem);
        }
    }

    /// Checks the report of a save.
    pub fn saved(&self, world: &World, begun: &Begun, saved: SaveCounts) {
        let record = self.record.borrow();
        let mut chunks = 0;
        for (name, version) in &begun.versions {
            let during = record.during(begun, name);
            world.ledger.check(during.contains(&version), Invariant::NoLostEffect, || {
                format!("{}/{name} was saved as {version:?}, and was only {during:?}", begun.space)
            });
            chunks += record.chunks(begun, name, version.as_ref()).len();
        }
        world.ledger.check(saved.chunks == chunks, Invariant::NoLostEffect, || {
            format!("{:?} have {chunks} chunks, and {saved:?} is reported", begun.versions)
        });
        if let [(name, version)] = &begun.versions.iter().collect::<Vec<_>>()[..] {
            let new = record.chunks(begun, name, version.as_ref());
            let missing = |from: &[Chunk], in_other: &[Chunk]| {
                let mut left: Vec<_> = in_other.iter().map(Chunk::hash).collect();
                let is_missing = |chunk: &&Chunk| match left.iter().position(|hash| *hash == chunk.hash()) {
                    Some(at) => {
                        left.swap_remove(at);
                        false
                    }
                    None => true,
                };
                from.iter().filter(is_missing).count()
            };
            let explains = |before: &&Version| {
                let old = record.chunks(begun, name, before.as_ref());
                (missing(&new, &old), missing(&old, &new)) == (saved.inserted, saved.deleted)
            };
            world.ledger.check(record.during(begun, name).iter().any(explains), Invariant::NoLostEffect, || {
                format!("no version of {}/{name} explains {saved:?}", begun.space)
            });
        }
    }

    /// Checks the report of a removal.
    pub fn removed(&self, world: &World, begun: &Begun, was_stored: bool) {
        let record = self.record.borrow();
        for name in begun.versions.keys() {
            let during = record.during(begun, name);
            let is_removed = during.contains(&&None);
            let is_explained = during.iter().any(|version| version.is_some() == was_stored);
            world.ledger.check(is_removed && is_explained, Invariant::NoLostEffect, || {
                format!("{}/{name} was removed ({was_stored}), and was only {during:?}", begun.space)
            });
        }
    }

    /// Checks the report of an indexer.
    pub fn embedded(&self, world: &World, begun: &Begun, indexed: &IndexReport) {
        let has_faults = self.plan.has_poison || !world.faults.fired().is_empty();
        world.ledger.check(indexed.note.is_none() || has_faults, Invariant::Success, || {
            format!("vectors fail without a fault: {:?}", indexed.note)
        });
        if indexed.note.is_some() || !self.record.borrow().is_unchanged(begun) {
            return;
        }
        let pending = tables::pending(&self.sqlite, &begun.space);
        world.ledger.check(pending <= indexed.pending + indexed.refused, Invariant::NoLostEffect, || {
            format!("{pending} passages of {} have no vector, and {indexed:?} is reported", begun.space)
        });
    }

    /// Checks that a version was stored at some time, because its save was reported.
    pub fn was_saved(&self, space: &str, name: &str, version: &str) -> bool {
        let is_empty = self.document(space, name, version).chunks.is_empty();
        let record = self.record.borrow();
        let versions = record.versions.get(&(space.to_owned(), name.to_owned()));
        is_empty || versions.into_iter().flatten().any(|(_, known)| known.as_deref() == Some(version))
    }

    /// Checks the result of a search that began at `begun`.
    pub fn found(&self, world: &World, begun: &Begun, question: &Question, found: &[Found], mode: &str) {
        if let Err(problem) = self.record.borrow().problem_of(begun, question, found, mode) {
            let found: Vec<_> = found.iter().map(|found| (&found.document, found.ordinal, &found.text)).collect();
            let text = format!("{}: {} ({mode}) {question:?} finds {found:?}", begun.space, problem.1);
            world.ledger.violate(problem.0, text);
        }
    }
}

impl Record {
    /// Returns the versions of a document that were stored since the beginning of a work.
    fn during(&self, begun: &Begun, name: &str) -> Vec<&Version> {
        let versions = self.versions.get(&(begun.space.clone(), name.to_owned()));
        let versions = versions.map_or(&[][..], Vec::as_slice);
        let before = versions.iter().rposition(|(at, _)| *at <= begun.from);
        let during = versions.iter().skip(before.unwrap_or_default()).map(|(_, version)| version);
        before.is_none().then_some(&None).into_iter().chain(during).collect()
    }

    /// Returns whether the space of a work has not changed since its beginning.
    fn is_unchanged(&self, begun: &Begun) -> bool {
        let of_space = self.versions.iter().filter(|((space, _), _)| *space == begun.space);
        of_space.flat_map(|(_, versions)| versions).all(|(at, _)| *at <= begun.from)
    }

    fn document(&self, space: &str, name: &str, version: Option<&String>) -> Option<&Rc<Document>> {
        self.documents.get(&((space.to_owned(), name.to_owned()), version?.clone()))
    }

    fn chunks(&self, begun: &Begun, name: &str, version: Option<&String>) -> Vec<Chunk> {
        self.document(&begun.space, name, version).map_or_else(Vec::new, |document| document.chunks.clone())
    }

    /// Returns the problem with the rows of a document, and records its ids.
    fn problem(&mut self, name: &Name, stored: &Stored) -> Option<String> {
        let Some(document) = self.documents.get(&(name.clone(), stored.version.clone())) else {
            return Some(format!("{name:?} has the version {}, which nobody has saved", stored.version));
        };
        let chunks: Vec<_> = document.chunks.iter().map(tables::chunk).collect();
        let links = tables::links(document);
        if stored.chunks != chunks || stored.links != links || json!(stored.metadata) != json!(document.metadata) {
            return Some(format!("{name:?} is {stored:?} instead of {chunks:?} with {links:?}"));
        }
        if stored.passages != chunks.len() {
            return Some(format!("{name:?} counts {} passages instead of {}", stored.passages, chunks.len()));
        }
        for (id, (heading, text)) in stored.ids.iter().zip(&stored.chunks) {
            let content = (name.clone(), format!("{heading}\n{text}"));
            let known = self.ids.entry(*id).or_insert_with(|| content.clone());
            if *known != content {
                return Some(format!("the id {id} of {known:?} belongs to {content:?} now"));
            }
        }
        None
    }

    /// Returns the problem with the result of a search, with the invariant that it violates.
    fn problem_of(
        &self,
        begun: &Begun,
        question: &Question,
        found: &[Found],
        mode: &str,
    ) -> Result<(), (Invariant, String)> {
        let own = |problem: String| (Invariant::OwnPassages, problem);
        if found.len() > question.top_k {
            return Err(own(format!("there are more than {} passages", question.top_k)));
        }
        if let Some(most) = question.per_document
            && found.iter().any(|one| found.iter().filter(|other| other.document == one.document).count() > most)
        {
            return Err(own(format!("there are more than {most} passages of a document")));
        }
        let is_unchanged = self.is_unchanged(begun);
        let mut positions = BTreeSet::new();
        for found in found {
            let during = self.during(begun, &found.document);
            let during: Vec<&Rc<Document>> = (during.into_iter())
                .filter_map(|version| self.document(&begun.space, &found.document, version.as_ref()))
                .filter(|document| is_visible(document, question))
                .collect();
            let (of, at) = (&found.document, found.ordinal);
            let is_own = |document: &&&Rc<Document>| json!(document.metadata) == json!(found.metadata);
            let Some(document) = during.iter().find(is_own) else {
                return Err(own(format!("{of} was not stored with {:?}, or is not visible", found.metadata)));
            };
            let Some(chunk) = document.chunks.get(at).filter(|chunk| chunk.heading.join(" > ") == found.heading) else {
                return Err(own(format!("{of} has no passage {at} below {}", found.heading)));
            };
            let parts: Vec<&str> = found.text.split("\n\n").collect();
            if !parts.contains(&chunk.text.as_str()) || (question.context == 0 && parts.len() > 1) {
                return Err(own(format!("the passage {at} of {of} has another text")));
            }
            let of_section = |chunk: &Chunk| chunk.heading.join(" > ") == found.heading;
            let is_stored = |part: &&str| {
                during
                    .iter()
                    .any(|document| document.chunks.iter().any(|chunk| of_section(chunk) && chunk.text == **part))
            };
            if let Some(part) = parts.iter().find(|part| !is_stored(part)) {
                return Err(own(format!("the neighbour `{part}` of {of} was not stored, or is not visible")));
            }
            if !is_unchanged {
                continue;
            }
            // The neighbours are those before and after the passage, without gaps.
            let is_at = |from: &usize| {
                let chunks = document.chunks.iter().skip(*from).take(parts.len());
                *from + parts.len() > at && chunks.map(|chunk| &*chunk.text).eq(parts.iter().copied())
            };
            let Some(from) = (0..=at).rev().find(is_at) else {
                return Err(own(format!("the neighbours of the passage {at} of {of} are not around it")));
            };
            for at in from..from + parts.len() {
                // Equal texts have several positions.
                let is_new = positions.insert((of.clone(), at));
                if !is_new && question.context == 0 {
                    return Err(own(format!("the passage {at} of {of} is found twice")));
                }
            }
        }
        if is_unchanged { self.incomplete(begun, question, found, &positions, mode) } else { Ok(()) }
    }

    /// Returns the problem with the result of a search during which the space did not change.
    fn incomplete(
        &self,
        begun: &Begun,
        question: &Question,
        found: &[Found],
        positions: &BTreeSet<(String, usize)>,
        mode: &str,
    ) -> Result<(), (Invariant, String)> {
        let stored = self.versions.iter().filter(|((space, _), _)| *space == begun.space);
        let stored =
            stored.filter_map(|((_, name), versions)| self.document(&begun.space, name, versions.last()?.1.as_ref()));
        let visible: Vec<_> = stored
            .filter(|document| is_visible(document, question))
            .flat_map(|document| document.chunks.iter().enumerate().map(move |(at, chunk)| (&document.name, at, chunk)))
            .collect();
        let with_words: BTreeSet<_> = (visible.iter())
            .filter(|(.., chunk)| has_word(chunk, &question.words))
            .map(|(name, at, _)| ((*name).clone(), *at))
            .collect();
        let is_lexical = mode == "lexical" && !question.has_graph;
        if is_lexical && question.context == 0 && !positions.is_subset(&with_words) {
            return Err((Invariant::OwnPassages, format!("only {with_words:?} have a word")));
        }
        // Other results have passages without the words, which can take the places of those with the words.
        let candidates = if is_lexical { with_words.len() } else { visible.len() };
        if candidates <= question.top_k && question.per_document.is_none() && !with_words.is_subset(positions) {
            return Err((Invariant::NoLostEffect, format!("{with_words:?} have a word")));
        }
        if question.context == 0
            && question.per_document.is_none()
            && found.len() < question.top_k.min(with_words.len())
        {
            return Err((Invariant::NoLostEffect, format!("only {} of {with_words:?} are found", found.len())));
        }
        if is_lexical && question.context == 0 && question.per_document.is_none() && visible.len() <= 50 {
            return self.scored(begun, question, found);
        }
        Ok(())
    }

    /// Compares the scores with those of a store that has only the documents of the space: other spaces must have no effect.
    fn scored(&self, begun: &Begun, question: &Question, found: &[Found]) -> Result<(), (Invariant, String)> {
        let store = MemoryStore::new();
        let space = Space { index: INDEX.into(), name: begun.space.clone() };
        for ((of, name), versions) in &self.versions {
            let document = versions.last().and_then(|(_, version)| self.document(of, name, version.as_ref()));
            if let Some(document) = document.filter(|_| *of == begun.space) {
                store.save(&space, document).now_or_never().expect("it does not wait").expect("saved");
            }
        }
        let expected = store.search(question.search(space, 50)).now_or_never().expect("it does not wait");
        let expected = expected.expect("a search").passages;
        let expected: Vec<_> = expected.iter().map(|found| found.score.to_string()).take(question.top_k).collect();
        let scores: Vec<_> = found.iter().map(|found| found.score.to_string()).collect();
        if scores == expected {
            return Ok(());
        }
        Err((Invariant::OwnPassages, format!("the scores are {scores:?}, and those of the space alone {expected:?}")))
    }
}
