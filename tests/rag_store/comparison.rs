//! Changes stores at random, and compares them with a simple model and with each other after each change.

use std::collections::{BTreeMap, BTreeSet};

use edge_mcp::rag::{
    Document, Filter, MemoryStore, Passage, PassageId, SaveCounts, SaveStore, Search, Space, SqlitePassages,
};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use crate::model::{self, EVERYWHERE, Model, WORDS};
use crate::random::Random;

/// A store that is compared.
pub(crate) trait Store: SaveStore {
    /// Saves all documents.
    fn save_all<'a>(&'a self, space: &'a Space, documents: &'a [Document]) -> LocalBoxFuture<'a, SaveCounts>;

    /// Begins to save the documents, and fails. A store that cannot fail does nothing.
    fn fail<'a>(&'a self, _: &'a Space, _: &'a [Document], _: &'a mut Random) -> LocalBoxFuture<'a, ()> {
        ready(()).boxed_local()
    }
}

impl Store for MemoryStore {
    fn save_all<'a>(&'a self, space: &'a Space, documents: &'a [Document]) -> LocalBoxFuture<'a, SaveCounts> {
        async move {
            let mut sum = SaveCounts::default();
            for document in documents {
                let saved = self.save(space, document).await.expect("saved");
                sum.chunks += saved.chunks;
                sum.inserted += saved.inserted;
                sum.deleted += saved.deleted;
            }
            sum
        }
        .boxed_local()
    }
}

impl Store for SqlitePassages {
    fn save_all<'a>(&'a self, space: &'a Space, documents: &'a [Document]) -> LocalBoxFuture<'a, SaveCounts> {
        async move { Self::save_all(self, space, documents).await.expect("saved") }.boxed_local()
    }

    /// R62, R111: a batch with a statement that fails changes nothing.
    fn fail<'a>(
        &'a self,
        space: &'a Space,
        documents: &'a [Document],
        random: &'a mut Random,
    ) -> LocalBoxFuture<'a, ()> {
        async move {
            let mut statements = self.save_statements(space, documents).expect("statements");
            let failing = self.database().query("INSERT INTO rag_spaces (index_name) VALUES (NULL)");
            statements.insert(random.below(statements.len() + 1), failing);
            assert!(self.database().batch(statements).await.is_err());
        }
        .boxed_local()
    }
}

/// The content of a passage: space, document, headings, text, and the number of equal passages before it in the document.
pub(crate) type Content = (usize, String, String, String, usize);

pub(crate) struct Comparison {
    stores: Vec<Box<dyn Store>>,
    spaces: Vec<Space>,
    model: Model,
    /// The ids of the passages that are stored.
    ids: BTreeMap<Content, PassageId>,
    /// The content of every id that a store ever returned.
    used: BTreeMap<PassageId, Content>,
}

impl Comparison {
    pub(crate) fn new(stores: Vec<Box<dyn Store>>) -> Self {
        let space = |index: &'static str, name: &str| Space { index: index.into(), name: name.into() };
        Self {
            stores,
            spaces: vec![space("a", ""), space("a", "x"), space("b", "")],
            model: Model::default(),
            ids: BTreeMap::new(),
            used: BTreeMap::new(),
        }
    }

    /// Changes the stores and the model, and compares them.
    pub(crate) async fn step(&mut self, random: &mut Random) {
        self.change(random).await;
        self.compare(random).await;
    }

    async fn change(&mut self, random: &mut Random) {
        let at = random.below(self.spaces.len());
        let space = &self.spaces[at];
        if random.once_in(5) {
            let name = model::name(random);
            let was_stored = self.model.remove(at, &name);
            for store in &self.stores {
                assert_eq!(
                    store.remove(space, &name).await.expect("removed"),
                    was_stored,
                    "R66: it removes what it has"
                );
            }
            return;
        }
        let mut documents: Vec<Document> = (0..=random.below(3)).map(|_| self.model.edited(at, random)).collect();
        documents.sort_by(|one, other| one.name.cmp(&other.name));
        documents.dedup_by(|one, other| one.name == other.name);
        if random.once_in(4) {
            for store in &self.stores {
                store.fail(space, &documents, random).await;
            }
            return;
        }
        let expected = self.model.save(at, &documents);
        for store in &self.stores {
            assert_eq!(store.save_all(space, &documents).await, expected, "the store counts its changes");
            // R62: the same content twice changes nothing.
            let again = store.save_all(space, &documents).await;
            assert_eq!((again.inserted, again.deleted), (0, 0));
        }
    }

    async fn compare(&mut self, random: &mut Random) {
        let at = random.below(self.spaces.len());
        let filter = if random.once_in(2) { Filter::default() } else { Filter::eq("kind", *random.one(&[&"x", &"y"])) };
        if let Some(all) = self.search(at, EVERYWHERE, &Filter::default()).await {
            self.compare_ids(at, &all);
        }
        let visible = self.model.passages(at, &filter);
        // A question with one word, with several, and with a spelling mistake.
        let words = [random.one(WORDS), random.one(WORDS), EVERYWHERE];
        for question in [EVERYWHERE.to_owned(), words[0].to_owned(), words.join(" "), format!("zigazg {}", words[0])] {
            let Some(found) = self.search(at, &question, &filter).await else { continue };
            let asked: Vec<_> =
                question.split(' ').map(|word| if word == "zigazg" { EVERYWHERE } else { word }).collect();
            let is_found = |passage: &&Passage| {
                asked.iter().any(|word| passage.text.contains(word) || passage.heading.contains(word))
            };
            let expected: BTreeSet<_> = visible.iter().filter(is_found).map(model::content).collect();
            assert_eq!(contents(&found), expected, "R72: {question} in space {at}");
        }
        // R22: of all ids of all spaces, the store returns those that the filter and the space allow.
        let ids: Vec<_> = self.used.keys().rev().copied().collect();
        for store in &self.stores {
            let read = store.passages(&self.spaces[at], &ids, &filter).await.expect("passages");
            assert!(read.is_sorted_by(|one, other| one.id > other.id), "the passages are in the order of the ids");
            assert_eq!(contents(&read), visible.iter().map(model::content).collect(), "space {at}");
        }
        self.compare_edges(at, &ids, &filter, random).await;
    }

    /// R40, R103: all stores find the same passages, with the same ids and scores, in the same order. Returns `None` if the index does not exist.
    async fn search(&self, at: usize, question: &str, filter: &Filter) -> Option<Vec<Passage>> {
        let mut all = Vec::new();
        for store in &self.stores {
            let space = self.spaces[at].clone();
            let search = Search { space, ..Search::new(question).top_k(1000).within(filter.clone()) };
            all.push(match store.search(search).await {
                Ok(found) => Some(found.passages),
                Err(error) => {
                    assert_eq!(error.cause, format!("Unknown index `{}`.", self.spaces[at].index));
                    None
                }
            });
        }
        let count = |at: usize| self.model.passages(at, &Filter::default()).len();
        let of_name = self.spaces.iter().enumerate().filter(|(_, space)| space.name == self.spaces[at].name);
        let has_other_index = count(at) == 0 && of_name.map(|(at, _)| count(at)).sum::<usize>() > 0;
        let first = all.pop().expect("a store");
        assert_eq!(first.is_none(), filter.is_empty() && has_other_index, "the index {at}");
        for other in all {
            assert_eq!(other, first, "{question} in space {at}");
        }
        Some(first?.into_iter().map(|found| found.passage).collect())
    }

    /// R26: an id never gets another content.
    fn compare_ids(&mut self, at: usize, all: &[Passage]) {
        let mut all: Vec<_> = all.iter().collect();
        all.sort_by_key(|passage| (&passage.document, passage.ordinal));
        let mut equal: BTreeMap<_, usize> = BTreeMap::new();
        self.ids.retain(|(space, ..), _| *space != at);
        for Passage { id, document, heading, text, .. } in all {
            let number = equal.entry((document, heading, text)).or_default();
            let content = (at, document.clone(), heading.clone(), text.clone(), *number);
            *number += 1;
            if let Some(used) = self.used.insert(*id, content.clone()) {
                assert_eq!(used, content, "R26: the id {id} has a new content");
            }
            self.ids.insert(content, *id);
        }
    }

    /// R84, R85: edges lead only between passages of the space that match the filter.
    async fn compare_edges(&self, at: usize, ids: &[PassageId], filter: &Filter, random: &mut Random) {
        let seeds: Vec<_> = ids.iter().copied().filter(|_| random.once_in(3)).take(20).collect();
        let threshold = *random.one(&[&0.5, &0.75, &0.9]);
        let distance = random.below(4);
        let id = |content: &Content| self.ids.get(content).copied();
        let expected = self.model.edges(at, filter, threshold, &seeds, id);
        let neighbours = self.model.neighbours(at, filter, distance, &seeds, id);
        for store in &self.stores {
            // R75
            let found = store.neighbours(&self.spaces[at], &seeds, distance, filter).await.expect("neighbours");
            let found: Vec<_> = found.iter().map(|passage| passage.id).collect();
            assert_eq!(found, neighbours.iter().copied().collect::<Vec<_>>(), "{distance} around {seeds:?}");

            let found = store.edges(&self.spaces[at], &seeds, threshold, filter).await.expect("edges");
            let found: BTreeMap<_, _> =
                found.iter().map(|edge| ((edge.source, edge.target), edge.weight.to_string())).collect();
            assert_eq!(found, expected, "space {at}, seeds {seeds:?}, threshold {threshold}");
        }
    }
}

fn contents(passages: &[Passage]) -> BTreeSet<model::Compared> {
    let unique: BTreeSet<_> = passages.iter().map(model::content).collect();
    assert_eq!(unique.len(), passages.len(), "a passage is returned once");
    unique
}
