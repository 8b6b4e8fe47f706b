//! Changes the stores in memory and in SQLite at random, and compares what they find.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use edge_mcp::rag::{
    Chunk, Document, Filter, MemoryStore, PassageId, Retriever, SaveStore, Search, SearchResult, SearchStore, Space,
    SqliteVectors, StoreFailure, VectorStore,
};
use edge_mcp::testing::{self, TestDatabase, TestHost};
use edge_mcp::{Context, HandlerError};
use edge_mcp_test_support::random::Random;
use serde_json::{Map, json};

use crate::embedder::Synonyms;
use crate::{InSpace, database, tables};

const WORDS: &[&str] = &["warm", "heat", "pot", "kettle", "car", "motor", "lemon", "violin", "walnut", "harbor"];

/// Vectors that were calculated, and are saved later.
type Late = (usize, usize, Vec<(PassageId, Vec<f32>)>);

struct Comparison {
    test: TestDatabase,
    sqlite: Rc<SqliteVectors>,
    memory: Rc<MemoryStore>,
    spaces: Vec<Space>,
    /// The number of the model of each space's index.
    models: BTreeMap<String, usize>,
    /// The texts of the passages of each document.
    texts: BTreeMap<(usize, String), BTreeSet<String>>,
    late: Vec<Late>,
    /// How often each mode was compared.
    modes: BTreeMap<&'static str, usize>,
    cx: Context,
}

fn chunk(random: &mut Random) -> Chunk {
    let text = (0..=random.below(4)).map(|_| random.one(WORDS)).collect::<Vec<_>>().join(" ");
    let heading = vec![random.one(&["A", "B lemon"]).into()];
    let kind = random.once_in(4).then(|| ("kind".to_owned(), json!(random.one(&["x", "y"]))));
    Chunk { heading, range: 0..text.len(), text, metadata: kind.into_iter().collect(), ..Chunk::default() }
}

impl Comparison {
    fn new() -> Self {
        let space = |index: &'static str, name: &str| Space { index: index.into(), name: name.into() };
        let test = database::empty();
        Self {
            sqlite: Rc::new(database::store_in(&test)),
            test,
            memory: Rc::new(MemoryStore::new()),
            spaces: vec![space("a", ""), space("a", "x"), space("b", "")],
            models: BTreeMap::new(),
            texts: BTreeMap::new(),
            late: Vec::new(),
            modes: BTreeMap::new(),
            cx: testing::context(&TestHost::new()),
        }
    }

    fn model(&self, at: usize) -> Synonyms {
        Synonyms::numbered(self.models.get(&*self.spaces[at].index).copied().unwrap_or_default())
    }

    async fn change(&mut self, random: &mut Random) {
        let at = random.below(self.spaces.len());
        match random.below(10) {
            0 => self.remove(at, random).await,
            1..=4 => self.save(at, random).await,
            5..=7 => self.embed(at, random).await,
            8 => self.save_late_vectors(random).await,
            _ if random.once_in(4) => self.change_model(at, random).await,
            _ => {}
        }
    }

    async fn remove(&mut self, at: usize, random: &mut Random) {
        let (name, space) = (format!("d{}", random.below(6)), &self.spaces[at]);
        let removed = self.sqlite.remove(space, &name).await.expect("removed");
        assert_eq!(self.memory.remove(space, &name).await.expect("removed"), removed);
        self.texts.remove(&(at, name));
    }

    async fn save(&mut self, at: usize, random: &mut Random) {
        let (name, space) = (format!("d{}", random.below(6)), &self.spaces[at]);
        let metadata = Map::from_iter([("kind".to_owned(), json!(random.one(&["x", "y"])))]);
        let chunks: Vec<_> = (0..random.below(5)).map(|_| chunk(random)).collect();
        let document = Document { name: name.clone(), metadata, chunks };
        if random.once_in(5) {
            self.test.fail_after(0);
            assert!(self.sqlite.save(space, &document).await.is_err());
            self.test.recover();
            return;
        }
        let saved = self.sqlite.save(space, &document).await.expect("saved");
        assert_eq!(self.memory.save(space, &document).await.expect("saved"), saved);
        self.texts.insert((at, name), document.chunks.into_iter().map(|chunk| chunk.text).collect());
    }

    /// Calculates vectors, and saves them now or later. They may be those of passages that do not exist then.
    async fn embed(&mut self, at: usize, random: &mut Random) {
        let (space, model) = (self.spaces[at].clone(), self.model(at));
        let (name, most) = (edge_mcp::rag::Embedder::model(&model), random.below(12));
        let pending = self.sqlite.pending(&space, &name, most).await.map_err(|error| error.kind);
        assert_eq!(self.memory.pending(&space, &name, most).await.map_err(|error| error.kind), pending);
        let Ok(pending) = pending else {
            // Vectors of an earlier model came too late, and were the first ones.
            assert_eq!(pending, Err(StoreFailure::OtherModel));
            return self.change_model(at, random).await;
        };
        assert!(pending.count >= pending.passages.len());
        let vector = |text: &str| model.vector(text);
        let vectors: Vec<_> = pending.passages.iter().map(|passage| (passage.id, vector(&passage.text))).collect();
        if random.once_in(3) {
            // They come too late, or for another space.
            let of = if random.once_in(3) { random.below(self.spaces.len()) } else { at };
            if self.spaces[of].index == self.spaces[at].index {
                let number = self.models.get(&*space.index).copied().unwrap_or_default();
                self.late.push((of, number, vectors));
            }
        } else {
            self.save_vectors(at, &name, vectors, random).await;
        }
    }

    async fn save_vectors(&self, at: usize, model: &str, vectors: Vec<(PassageId, Vec<f32>)>, random: &mut Random) {
        let space = &self.spaces[at];
        if random.once_in(4) && !vectors.is_empty() {
            // R62, R63: a request that fails saves no vector.
            let pending = self.sqlite.pending(space, model, 50).await.map_err(|error| error.kind);
            self.test.fail_after(random.below(3));
            let saved = self.sqlite.save_vectors(space, model, vectors.clone()).await;
            self.test.recover();
            assert_eq!(self.sqlite.pending(space, model, 50).await.map_err(|error| error.kind), pending);
            // One request finds out that no passage exists.
            let ids: Vec<_> = vectors.iter().map(|(id, _)| *id).collect();
            let stored = self.memory.passages(space, &ids, &Filter::default()).await.expect("passages");
            assert!(saved.is_err() || stored.is_empty());
            return;
        }
        let saved = self.sqlite.save_vectors(space, model, vectors.clone()).await.map_err(|error| error.kind);
        assert_eq!(self.memory.save_vectors(space, model, vectors).await.map_err(|error| error.kind), saved);
        assert!(matches!(saved, Ok(()) | Err(StoreFailure::OtherModel)), "{saved:?}");
    }

    async fn save_late_vectors(&mut self, random: &mut Random) {
        if let Some((at, number, vectors)) = self.late.pop() {
            self.save_vectors(at, &format!("synonyms-{number}"), vectors, random).await;
        }
    }

    /// Deletes the vectors of an index, as a new model requires.
    async fn change_model(&mut self, at: usize, random: &mut Random) {
        let index = self.spaces[at].index.to_string();
        self.sqlite.remove_vectors(&index).await.expect("removed");
        self.memory.remove_vectors(&index).await.expect("removed");
        self.models.insert(index, random.below(3));
    }

    async fn found(
        &self,
        at: usize,
        search: &Search,
        change: impl Fn(Retriever) -> Retriever,
    ) -> [Result<SearchResult, HandlerError>; 2] {
        let stores: [Rc<dyn SearchStore>; 2] = [self.sqlite.clone(), self.memory.clone()];
        let mut found = Vec::new();
        for store in stores {
            let store = Rc::new(InSpace { store, space: self.spaces[at].clone() });
            let retriever = change(Retriever::new(self.spaces[at].index.clone(), store));
            found.push(retriever.retrieve(search.clone(), &self.cx).await);
        }
        found.try_into().unwrap_or_else(|_| panic!("two stores"))
    }

    async fn compare(&mut self, random: &mut Random) {
        let at = random.below(self.spaces.len());
        let question = [*random.one(&[&"hot", &"tea", &"zzz", &"?"]), random.one(WORDS)].join(" ");
        let filter = if random.once_in(2) { Filter::default() } else { Filter::eq("kind", *random.one(&[&"x", &"y"])) };
        let mut search = Search::new(question).top_k(1 + random.below(50)).within(filter.clone());
        search.containing = random.once_in(5).then(|| random.one(WORDS).to_owned());
        // Some questions come with another model.
        let model = if random.once_in(8) { Synonyms::numbered(7) } else { self.model(at) };
        model.break_down(random.once_in(12));
        let weight = *random.one(&[&0.0, &0.3, &0.6, &1.0]);
        let (least, is_diverse, has_vectors) = (random.once_in(3), random.once_in(4), random.once_in(4));
        let [sqlite, memory] = self
            .found(at, &search, |retriever| {
                let retriever = retriever.embedder(model.clone()).meaning_weight(weight).include_vectors(has_vectors);
                let retriever = if least { retriever.min_score(0.4) } else { retriever };
                if is_diverse { retriever.diverse(0.5) } else { retriever }
            })
            .await;
        let context = format!("{search:?} in space {at}, weight {weight}");
        let (sqlite, memory) = match (sqlite, memory) {
            (Ok(sqlite), Ok(memory)) => (sqlite, memory),
            (Err(sqlite), Err(memory)) => {
                assert_eq!(sqlite.message(), memory.message(), "{context}");
                assert!(!sqlite.message().contains("SECRET"), "{context}");
                *self.modes.entry("error").or_default() += 1;
                return;
            }
            (sqlite, memory) => panic!("{context}: {sqlite:?}, in memory {memory:?}"),
        };
        *self.modes.entry(if sqlite.note.is_some() { "note" } else { sqlite.mode.name() }).or_default() += 1;
        assert_eq!(sqlite.passages, memory.passages, "{context}");
        assert_eq!((sqlite.mode, sqlite.note), (memory.mode, memory.note), "{context}");
        for found in &sqlite.passages {
            let passage = &found.passage;
            let texts = self.texts.get(&(at, passage.document.clone()));
            assert!(texts.is_some_and(|texts| texts.contains(&passage.text)), "{context}: {passage:?} is not stored");
            assert!(filter.matches(&passage.metadata), "{context}: {passage:?}");
            assert!(
                search.containing.as_ref().is_none_or(|part| passage.text.contains(part)),
                "{context}: {passage:?}"
            );
            assert!((0.0..=1.0).contains(&found.score), "{context}: {found:?}");
            let is_searched = has_vectors && found.similarity.is_some();
            assert_eq!(found.vector.is_some(), is_searched && weight > 0.0, "{context}: {found:?}");
        }
    }
}

/// R9, R11, R33, R40, R44, R52, R66, R69, R73, R74, R85 and R103: after random changes, both stores find the same passages with the same scores,
/// never the text of a deleted document, and the tables have nothing else.
#[test]
fn the_stores_find_the_same_by_words_and_by_meaning() {
    for seed in 0..4 {
        println!("seed {seed}");
        let (mut comparison, mut random) = (Comparison::new(), Random::new(seed));
        testing::run(async {
            let mut connections = 0;
            for _ in 0..150 {
                comparison.change(&mut random).await;
                comparison.compare(&mut random).await;
                tables::check(&comparison.test.database()).await;
                connections += tables::count(&comparison.test.database(), "rag_neighbours").await;
            }
            assert!(connections > 20);
            tables::check_after_all_is_deleted(&comparison.test.database()).await;
        });
        let modes: Vec<_> = comparison.modes.into_iter().collect();
        assert!(modes.len() == 5 && modes.iter().all(|(_, count)| *count > 0), "{modes:?}");
    }
}
