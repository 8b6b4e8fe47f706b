//! The tool that searches.

use std::rc::Rc;

use edge_json::Value;
use futures::FutureExt;
use serde::Deserialize;
use serde_json::Value as JsonValue;

use super::answer::{UriOf, answer};
use super::schema;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::handler::read;
use crate::call::result::ToolResult;
use crate::limits::RAG_ANSWER_BYTES;
use crate::protocol::description::is_blank;
use crate::rag::filter::{Fields, Filter};
use crate::rag::passage::Passage;
use crate::rag::retriever::{Retriever, SearchScope};
use crate::rag::search::Search;
use crate::schema::{Schema, SchemaError};
use crate::server::tool::Tool;
use crate::server::tool_handler::{AnyToolHandler, ToolFuture};
use crate::text::Text;

const DESCRIPTION: &str = "Finds passages that answer a question, with their sources.";

const DESCRIPTION_OF_GRAPH: &str =
    "Finds passages about relations between documents. For one fact, use the search tool instead.";

/// A tool that finds passages with a [`Retriever`].
///
/// ```
/// use std::rc::Rc;
///
/// use edge_mcp::rag::{Fields, GraphOptions, MemoryStore, Retriever, SearchTool};
///
/// let store = Rc::new(MemoryStore::new());
/// let fields = Fields::new().text("category", "Subject of the document").number("version", "Release, such as 2.1");
/// let docs = Retriever::new("docs", store).most(20);
/// let search = SearchTool::new(docs.clone()).name("search-passages").filter(fields).tool();
/// let related = SearchTool::new(docs.graph(GraphOptions::default())).name("related-passages").tool();
/// ```
#[must_use]
pub struct SearchTool {
    retriever: Retriever,
    name: Text,
    description: Text,
    fields: Fields,
    includes_sources: bool,
    most_text: usize,
    uri: Rc<UriOf>,
}

impl SearchTool {
    /// Creates the tool `search-<index>`, or `related-<index>` if the retriever follows connections.
    pub fn new(retriever: Retriever) -> Self {
        let (prefix, description) =
            if retriever.graph.is_some() { ("related", DESCRIPTION_OF_GRAPH) } else { ("search", DESCRIPTION) };
        Self {
            name: format!("{prefix}-{}", retriever.index).into(),
            description: description.into(),
            fields: Fields::new(),
            includes_sources: true,
            most_text: RAG_ANSWER_BYTES,
            uri: Rc::new(uri_of_metadata),
            retriever,
        }
    }

    /// Sets the name of the tool: 1 to 64 characters of `A-Z a-z 0-9 _ . -`.
    pub fn name(mut self, name: impl Into<Text>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the description, by which a model decides when to call the tool. It must not be blank.
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds the argument `filter`, with which a model restricts the search by these fields. Without fields, there is no such argument.
    pub fn filter(mut self, fields: Fields) -> Self {
        self.fields = fields;
        self
    }

    /// Sets the most bytes of text in an answer. The last passage is cut, and the passages after it are left out. The default is 24 000.
    pub fn most_text(mut self, bytes: usize) -> Self {
        self.most_text = bytes;
        self
    }

    /// Sets whether an answer has the list of sources and links to the documents. The default is `true`.
    pub fn include_sources(mut self, included: bool) -> Self {
        self.includes_sources = included;
        self
    }

    /// Sets the function that returns the URI of a passage's document. By default, this is the member `uri` of the metadata.
    pub fn uri(mut self, uri: impl Fn(&Passage) -> Option<String> + 'static) -> Self {
        self.uri = Rc::new(uri);
        self
    }

    /// Returns the tool, to set its title, scopes, hooks or deadline, and to add it to a server. The server cannot be built if a setting is not
    /// valid.
    pub fn tool(self) -> Tool {
        let of_fields = || self.fields.check().err().map(|error| error.to_string());
        let problem = self.retriever.problem().or_else(of_fields);
        let problem = problem.map(|problem| format!("has an invalid setting: {problem}"));
        let input = Schema::of_value(&schema::input(&self.fields, self.retriever.most));
        let (name, description) = (self.name.clone(), self.description.clone());
        let title = if self.retriever.graph.is_some() { "Find related passages" } else { "Search passages" };
        let handler = SearchHandler { settings: Rc::new(self), input };
        let mut tool = Tool::of_handler(name, description, Box::new(handler)).title(title);
        tool.problem = problem;
        tool.read_only().idempotent().closed_world()
    }

    async fn answer(&self, search: Search, cx: &Context) -> Result<ToolResult, HandlerError> {
        cx.progress(0.0, Some(1.0), "Searching");
        let found = self.retriever.retrieve(search, cx).await?;
        let chosen = cx.extension::<SearchScope>().and_then(|scope| scope.include_sources);
        answer(found, chosen.unwrap_or(self.includes_sources), self.most_text, &*self.uri, cx)
    }

    /// Reads the arguments, which fit the schema.
    fn search(&self, arguments: Value<'_>) -> Result<Result<Search, HandlerError>, String> {
        let SearchArguments { query_text, top_k } = read(arguments)?;
        if is_blank(&query_text) {
            return Ok(Err(HandlerError::invalid("Argument `queryText` must not be blank.")));
        }
        let mut search = Search::new(query_text);
        if let Some(top_k) = top_k {
            search = search.top_k(top_k);
        }
        let Some(filter) = arguments.get("filter") else { return Ok(Ok(search)) };
        Ok(Filter::parse(filter, &self.fields).map(|filter| search.within(filter)))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SearchArguments {
    query_text: String,
    top_k: Option<usize>,
}

struct SearchHandler {
    settings: Rc<SearchTool>,
    input: Result<Rc<Schema>, SchemaError>,
}

impl AnyToolHandler for SearchHandler {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        self.input.clone()
    }

    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        Some(Schema::of_value(&schema::output()))
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        let search = self.settings.search(arguments)?;
        let settings = self.settings.clone();
        Ok(async move { settings.answer(search?, &cx).await }.boxed_local())
    }
}

/// Returns the member `uri` of the metadata.
fn uri_of_metadata(passage: &Passage) -> Option<String> {
    passage.metadata.get("uri").and_then(JsonValue::as_str).map(str::to_owned)
}
