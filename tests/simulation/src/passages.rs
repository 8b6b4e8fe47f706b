//! The passages of the program: its store, the tools that search, and the parts of handlers that save, remove and search.
//!
//! Each caller has a space, and all spaces have documents of the same names. `shelf` knows what was saved, and checks what is found.

use std::collections::BTreeSet;
use std::rc::Rc;

use edge_mcp::rag::{
    Document, EmbeddingModel, Fields, Filter, GraphOptions, Indexer, Retriever, SaveStore, Search, SearchResult,
    SearchScope, SearchStore, SearchTool, Space, SqlitePassages, SqliteVectors,
};
use edge_mcp::{Context, Endpoint, HandlerError, McpServerBuilder, RequestInfo};
use edge_mcp_test_support::random::Random;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::caller::{Called, Caller};
use crate::case::{CallerPlan, Operation};
use crate::database::FaultyDatabase;
use crate::embeddings;
use crate::identities::name_of;
use crate::ledger::Invariant;
use crate::parts::{self, Part};
use crate::shelf::{Begun, Found, Shelf, WORDS};
use crate::vector_service;
use crate::world::World;

/// The name of the index.
pub const INDEX: &str = "docs";
/// The names of the documents of each space.
const NAMES: [&str; 3] = ["d0", "d1", "d2"];
/// The most passages of a result of the tool that searches, and the most bytes of the texts of the other one.
const MOST: usize = 8;
const MOST_TEXT: usize = 250;

/// The passages of a case.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct PassagesPlan {
    /// Whether passages have vectors.
    pub has_vectors: bool,
    /// Whether a service beside the database finds the nearest vectors.
    #[serde(default)]
    pub has_index: bool,
    /// The most chunks of a document.
    pub most_chunks: usize,
    /// Whether the embedding model refuses some chunks, whenever it gets them.
    #[serde(default)]
    pub has_poison: bool,
}

impl PassagesPlan {
    /// Returns the plan of a quarter of the cases.
    pub fn random(random: &mut Random) -> Option<Self> {
        // The centre of the vectors changes with the 64th vector.
        let most_chunks = if random.once_in(10) { 40 } else { 2 + random.below(5) };
        random.once_in(4).then(|| {
            let has_vectors = random.once_in(2);
            Self {
                has_vectors,
                has_index: has_vectors && random.once_in(3),
                most_chunks,
                has_poison: has_vectors && random.once_in(3),
            }
        })
    }
}

/// What a handler does with passages.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Work {
    /// Saves documents with these names. The number distinguishes their version from others of the call.
    Save(u32, Vec<String>),
    Remove(String),
    /// Calculates the vectors of the passages that have none.
    Embed,
    Search(Question),
}

/// A search.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Question {
    pub words: Vec<String>,
    pub top_k: usize,
    pub filter: Choice,
    /// The neighbours on each side of a passage.
    pub context: usize,
    pub has_graph: bool,
    /// Whether passages are found also by their meaning, if they have vectors.
    pub has_meaning: bool,
    pub per_document: Option<usize>,
    /// Whether the program adds no filter, so that secret passages are found.
    pub is_open: bool,
}

/// The filter of a search.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Choice {
    All,
    Kind(String),
    OtherKind(String),
    AtLeast(u32),
}

/// Returns random work on passages, or branches of it that work on the same documents at the same time.
fn part(random: &mut Random, numbers: &mut u32) -> Part {
    let mut work = |random: &mut Random| {
        *numbers += 1;
        Part::Passages(Work::random(random, *numbers))
    };
    if random.once_in(2) {
        return work(random);
    }
    let mut branch = |random: &mut Random| (0..=random.below(2)).map(|_| work(random)).collect();
    Part::Join((0..2 + random.below(2)).map(|_| branch(random)).collect())
}

impl Work {
    fn random(random: &mut Random, number: u32) -> Self {
        let name = |random: &mut Random| random.one(&NAMES).to_owned();
        match random.below(12) {
            0..=3 => Self::Save(number, vec![name(random)]),
            4 | 5 => Self::Save(number, (0..2 + random.below(2)).map(|_| name(random)).collect()),
            6 => Self::Remove(name(random)),
            7 => Self::Embed,
            _ => Self::Search(Question::random(random)),
        }
    }
}

impl Question {
    pub fn random(random: &mut Random) -> Self {
        let choices = [
            Choice::All,
            Choice::Kind("x".into()),
            Choice::OtherKind("x".into()),
            Choice::AtLeast(random.below(4).try_into().unwrap_or(0)),
        ];
        Self {
            words: (0..=random.below(2)).map(|_| random.one(WORDS).to_owned()).collect(),
            top_k: [1, 3, 8, 50][random.below(4)],
            filter: choices[random.below(4)].clone(),
            context: if random.once_in(2) { 0 } else { random.below(4) },
            has_graph: random.once_in(3),
            has_meaning: random.once_in(2),
            per_document: random.once_in(4).then(|| 1 + random.below(2)),
            is_open: random.once_in(3),
        }
    }

    /// Returns the question of a call of one of the tools that search.
    pub fn of_tool(mut self, tool: &str) -> Self {
        self.has_graph = tool == RELATED;
        self.context = usize::from(tool == SEARCH);
        self.per_document = None;
        self.is_open = false;
        self.has_meaning = true;
        self.top_k = self.top_k.min(MOST);
        self
    }

    /// Returns the filter that the program adds.
    fn of_program(&self) -> Filter {
        if self.is_open { Filter::default() } else { Filter::ne("secret", true) }
    }

    /// Returns the search of a store.
    pub fn search(&self, space: Space, most: usize) -> Search {
        let search = Search::new(self.words.join(" ")).top_k(most).within(self.of_program());
        Search { space, ..search.within(self.filter.filter()) }
    }

    /// Returns the arguments of a call of one of the tools that search.
    pub fn arguments(&self) -> Value {
        let mut arguments = json!({ "queryText": self.words.join(" "), "topK": self.top_k });
        let filter = match &self.filter {
            Choice::All => return arguments,
            Choice::Kind(kind) => json!({ "kind": kind }),
            Choice::OtherKind(kind) => json!({ "kind": { "$ne": kind } }),
            Choice::AtLeast(number) => json!({ "number": { "$gte": number } }),
        };
        arguments["filter"] = filter;
        arguments
    }
}

impl Choice {
    fn filter(&self) -> Filter {
        match self {
            Self::All => Filter::default(),
            Self::Kind(kind) => Filter::eq("kind", kind.as_str()),
            Self::OtherKind(kind) => Filter::ne("kind", kind.as_str()),
            Self::AtLeast(number) => Filter::gte("number", *number),
        }
    }
}

/// The tools that search.
pub const SEARCH: &str = "search-docs";
pub const RELATED: &str = "related-docs";

/// The store of an isolate.
struct Library {
    passages: SqlitePassages,
    vectors: Option<Rc<SqliteVectors>>,
}

impl Library {
    fn store(&self) -> Rc<dyn SearchStore> {
        match &self.vectors {
            Some(vectors) => vectors.clone(),
            None => Rc::new(self.passages.clone()),
        }
    }

    fn retriever(&self, filter: Filter) -> Retriever {
        Retriever::new(INDEX, self.store()).within(filter).spaces_required()
    }

    /// Returns the indexer, if passages have vectors.
    fn indexer(&self) -> Option<Indexer> {
        Some(Indexer::new(self.vectors.clone()?, model()))
    }
}

fn model() -> EmbeddingModel {
    let model = EmbeddingModel::new(embeddings::URL, "small").expect("a URL");
    model.api_key(&embeddings::key()).expect("a key")
}

/// Adds the store of an isolate to its endpoint.
pub fn with_store(endpoint: Endpoint, world: &Rc<World>) -> Endpoint {
    let Some(shelf) = world.shelf.get() else { return endpoint };
    let passages = SqlitePassages::new(FaultyDatabase::database(world, &shelf.sqlite, &shelf.check));
    let vectors = shelf.plan.has_vectors.then(|| {
        let vectors = SqliteVectors::new(passages.clone());
        let index = || Rc::new(vector_service::Handle { world: world.clone(), service: shelf.service.clone() });
        Rc::new(if shelf.plan.has_index { vectors.vector_index(index()) } else { vectors })
    });
    endpoint.state(Library { passages, vectors })
}

/// Sets the space of a request: the subject of its caller.
pub fn set_space(request: &RequestInfo) {
    if let Some(caller) = request.caller() {
        request.extend(SearchScope::new().space(&name_of(caller)));
    }
}

/// Adds the tools that search. They choose the store for each call, because all isolates have the same server.
pub fn with_tools(server: McpServerBuilder, world: &Rc<World>) -> McpServerBuilder {
    let Some(shelf) = world.shelf.get() else { return server };
    let store = |cx: Context| async move { Ok(cx.state::<Library>()?.store()) };
    let retriever = Retriever::new(INDEX, store).within(Filter::ne("secret", true)).spaces_required().most(MOST);
    let retriever = if shelf.plan.has_vectors { retriever.embedder(model()) } else { retriever };
    let fields = || Fields::new().text("kind", "The kind").number("number", "A number");
    let search = SearchTool::new(retriever.clone().context(1)).name(SEARCH).filter(fields());
    let related = SearchTool::new(retriever.graph(graph())).name(RELATED).filter(fields()).most_text(MOST_TEXT);
    server.tool(search.tool()).tool(related.tool())
}

fn graph() -> GraphOptions {
    GraphOptions { threshold: 0.4, ..GraphOptions::default() }
}

fn space(cx: &Context) -> Result<Space, HandlerError> {
    Ok(Space { index: INDEX.into(), name: name_of(cx.caller()?) })
}

/// Does the work of a part, and returns a text that belongs to the caller. `call` distinguishes the versions of this call from others.
pub async fn run(world: &Rc<World>, cx: &Context, call: &str, work: &Work) -> Result<String, HandlerError> {
    let (Some(shelf), Ok(library)) = (world.shelf.get(), cx.state::<Library>()) else { return Ok(String::new()) };
    let space = space(cx)?;
    match work {
        Work::Save(number, names) => save(world, shelf, &library, &space, &format!("{call}.{number}"), names, cx).await,
        Work::Remove(name) => {
            let begun = shelf.begin(&space.name, [(name.clone(), None)]);
            let was_stored = library.passages.remove(&space, name).await?;
            shelf.removed(world, &begun, was_stored);
            Ok(name.clone())
        }
        Work::Embed => {
            let Some(indexer) = library.indexer() else { return Ok(String::new()) };
            let begun = shelf.begin(&space.name, []);
            let report = indexer.embed(&space, cx).await;
            shelf.embedded(world, &begun, &report);
            Ok(String::new())
        }
        Work::Search(question) => search(world, shelf, &library, question, cx).await,
    }
}

async fn save(
    world: &Rc<World>,
    shelf: &Rc<Shelf>,
    library: &Library,
    space: &Space,
    version: &str,
    names: &[String],
    cx: &Context,
) -> Result<String, HandlerError> {
    // Documents of one name are different.
    let versions = || names.iter().enumerate().map(|(nth, name)| (name.clone(), of_nth(version, nth)));
    let documents: Vec<Document> =
        versions().map(|(name, version)| shelf.document(&space.name, &name, &version)).collect();
    if is_refused(names) {
        let _begun = shelf.begin(&space.name, []);
        let is_refused = library.passages.save_all(space, &documents).await.is_err();
        world.ledger.check(is_refused, Invariant::WholeBatch, || format!("{names:?} are saved together"));
        return Ok(version.to_owned());
    }
    let begun = shelf.begin(&space.name, versions().map(|(name, version)| (name, Some(version))));
    let saved = match (documents.as_slice(), library.indexer()) {
        ([document], Some(indexer)) => {
            let report = indexer.save(space, document, cx).await?;
            shelf.embedded(world, &begun, &report);
            report.saved
        }
        ([document], None) => library.passages.save(space, document).await?,
        _ => library.passages.save_all(space, &documents).await?,
    };
    shelf.saved(world, &begun, saved);
    Ok(version.to_owned())
}

/// Returns whether documents with these names cannot be saved together, because two have the same name.
fn is_refused(names: &[String]) -> bool {
    names.iter().collect::<BTreeSet<_>>().len() < names.len()
}

/// Returns the version of a document of a save.
fn of_nth(version: &str, nth: usize) -> String {
    format!("{version}.{nth}")
}

/// Returns the documents that are stored after a successful save of these names, with their versions.
fn stored<'n>(call: &str, number: u32, names: &'n [String]) -> Vec<(&'n str, String)> {
    let version = format!("{call}.{number}");
    let names = names.iter().enumerate().filter(|_| !is_refused(names));
    names.map(|(nth, name)| (name.as_str(), of_nth(&version, nth))).collect()
}

async fn search(
    world: &Rc<World>,
    shelf: &Rc<Shelf>,
    library: &Library,
    question: &Question,
    cx: &Context,
) -> Result<String, HandlerError> {
    let mut retriever = library.retriever(question.of_program()).context(question.context);
    if question.has_graph {
        retriever = retriever.graph(graph());
    }
    if let Some(most) = question.per_document {
        retriever = retriever.per_document(most);
    }
    if shelf.plan.has_vectors && question.has_meaning {
        retriever = retriever.embedder(model());
    }
    let begun = shelf.begin(&name_of(cx.caller()?), []);
    let search = Search::new(question.words.join(" ")).top_k(question.top_k).within(question.filter.filter());
    let SearchResult { passages, mode, note, .. } = retriever.retrieve(search, cx).await?;
    world.trace(|| {
        format!(
            "{} finds {:?}: {note:?}",
            begun.space,
            passages.iter().map(|found| (&found.passage.document, found.passage.ordinal)).collect::<Vec<_>>()
        )
    });
    let found: Vec<_> = passages.iter().map(Found::of).collect();
    shelf.found(world, &begun, question, &found, mode.name());
    // The result of the call has a passage, so it passes through the states and the tasks of the call.
    Ok(found.first().map_or_else(String::new, |first| first.text.clone()))
}

/// Adds the parts and the searches of a caller.
pub fn add_operations(caller: &mut CallerPlan, random: &mut Random) {
    let mut number = 100;
    for operation in &mut caller.operations {
        let (Operation::Call(_, parts) | Operation::Cancel(_, parts)) = operation else { continue };
        add_parts(parts, random, &mut number);
    }
    for _ in 0..random.below(4) {
        let operation = if random.once_in(2) {
            let tool = random.one(&[SEARCH, RELATED]);
            Operation::Search(tool.to_owned(), Question::random(random).of_tool(tool))
        } else {
            Operation::Call(random.one(&["direct", "durable"]).to_owned(), vec![part(random, &mut number)])
        };
        caller.operations.insert(random.below(caller.operations.len() + 1), operation);
    }
}

/// Adds parts to a list and to the lists within it.
fn add_parts(parts: &mut Vec<Part>, random: &mut Random, number: &mut u32) {
    for one in parts.iter_mut() {
        // The calls of an agent are in a list that its model knows.
        if !matches!(one, Part::Agent { .. }) {
            one.lists_mut().iter_mut().for_each(|list| add_parts(list, random, number));
        }
    }
    if random.once_in(5) {
        parts.insert(random.below(parts.len() + 1), part(random, number));
    }
}

/// Calls one of the tools that search, and checks the result.
pub async fn call(caller: &Caller, tool: &str, question: &Question) {
    let Some(shelf) = caller.world().shelf.get() else { return };
    let begun = shelf.begin(caller.name(), []);
    let params = json!({ "name": tool, "arguments": question.arguments() });
    let Some(answer) = caller.round(&params, tool).await else { return };
    if answer["result"]["structuredContent"].is_object() {
        answered(caller.world(), &begun, question, tool, &answer["result"]);
    } else {
        caller.failed(&answer, tool);
    }
}

/// Checks that a successful call, whose parts all succeed, has saved its documents.
pub fn ended(caller: &Caller, of: &Called<'_>) {
    let Some(shelf) = caller.world().shelf.get() else { return };
    let call = of.arguments["caller"].as_str().unwrap_or_default();
    for part in parts::all(of.parts) {
        let Part::Passages(Work::Save(number, names)) = part else { continue };
        for (name, version) in stored(call, *number, names) {
            if !shelf.was_saved(caller.name(), name, &version) {
                caller.violate(Invariant::NoLostEffect, format!("{name} was not saved as {version}"));
            }
        }
    }
}

/// Checks the result of a call of one of the tools that search.
fn answered(world: &World, begun: &Begun, question: &Question, tool: &str, result: &Value) {
    let Some(shelf) = world.shelf.get() else { return };
    let answer = &result["structuredContent"];
    let (Some(sources), Some(mode)) = (answer["sources"].as_array(), answer["retrieval"].as_str()) else {
        return world.ledger.violate(Invariant::OneAnswer, format!("a search has no sources: {result}"));
    };
    let mut found: Vec<Found> = sources.iter().filter_map(Found::of_source).collect();
    let bytes: usize = found.iter().map(|found| found.text.len()).sum();
    world
        .ledger
        .check(found.len() == sources.len(), Invariant::OneAnswer, || format!("a source is malformed: {result}"));
    let is_cut = found.last().is_some_and(|last| last.text.ends_with('…'));
    let is_limited = is_cut || answer["note"].as_str().is_some_and(|note| note.contains("left out"));
    if tool == RELATED {
        world.ledger.check(bytes <= MOST_TEXT, Invariant::OwnPassages, || format!("a search returns {bytes} bytes"));
    }
    if is_cut {
        found.pop();
    }
    // A limited result is not complete, as that of a search for fewer passages.
    let question = if is_limited { Question { top_k: found.len(), ..question.clone() } } else { question.clone() };
    shelf.found(world, begun, &question, &found, mode);
}
