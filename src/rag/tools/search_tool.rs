//! The settings and the handler of the tools that search.

use std::rc::Rc;

use edge_json::Value;
use futures::FutureExt;
use serde::Deserialize;
use serde_json::Value as JsonValue;

use super::answer::{Contents, UriOf, answer};
use super::schema;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::handler::read;
use crate::call::result::ToolResult;
use crate::limits::RAG_ANSWER_BYTES;
use crate::protocol::description::is_blank;
use crate::rag::filter::{Fields, Filter};
use crate::rag::retrieval::Retrieval;
use crate::rag::retriever::{Question, Retriever};
use crate::rag::store::Passage;
use crate::schema::{Schema, SchemaError};
use crate::server::tool::Tool;
use crate::server::tool_handler::{AnyToolHandler, ToolFuture};
use crate::text::Text;

/// The settings of a tool that searches.
pub(super) struct SearchTool {
    pub(super) retriever: Retriever,
    pub(super) name: Text,
    pub(super) description: Text,
    pub(super) fields: Fields,
    pub(super) includes_sources: bool,
    pub(super) most_text: usize,
    pub(super) uri: Rc<UriOf>,
}

impl SearchTool {
    /// Creates the settings of a tool whose default name begins with `prefix`.
    pub(super) fn new(prefix: &str, description: &'static str, retriever: Retriever) -> Self {
        Self {
            name: format!("{prefix}-{}", retriever.index()).into(),
            description: description.into(),
            fields: Fields::new(),
            includes_sources: true,
            most_text: RAG_ANSWER_BYTES,
            uri: Rc::new(uri_of_metadata),
            retriever,
        }
    }

    /// Creates the tool. The server cannot be built if a setting is not valid.
    pub(super) fn tool(self) -> Tool {
        let of_fields = || self.fields.check().err().map(|error| error.to_string());
        let problem = self.retriever.problem().or_else(of_fields);
        let problem = problem.map(|problem| format!("has an invalid setting: {problem}"));
        let input = Schema::of_value(&schema::input(&self.fields, self.retriever.limit()));
        let (name, description) = (self.name.clone(), self.description.clone());
        let handler = SearchHandler { settings: Rc::new(self), input };
        let mut tool = Tool::of_handler(name, description, Box::new(handler)).read_only().idempotent().closed_world();
        tool.problem = problem;
        tool
    }

    async fn answer(&self, question: Question, cx: &Context) -> Result<ToolResult, HandlerError> {
        cx.progress(0.0, Some(1.0), "Searching");
        let retrieved = self.retriever.retrieve(question, cx).await?;
        let chosen = cx.extension::<Retrieval>().and_then(|chosen| chosen.include_sources);
        let contents = Contents {
            includes_sources: chosen.unwrap_or(self.includes_sources),
            most_text: self.most_text,
            uri: &*self.uri,
        };
        answer(retrieved, &contents, cx)
    }

    /// Reads the arguments, which fit the schema.
    fn question(&self, arguments: Value<'_>) -> Result<Result<Question, HandlerError>, String> {
        let SearchArguments { query_text, top_k } = read(arguments)?;
        if is_blank(&query_text) {
            return Ok(Err(HandlerError::invalid("Argument `queryText` must not be blank.")));
        }
        let mut question = Question::new(query_text);
        if let Some(top_k) = top_k {
            question = question.top_k(top_k);
        }
        let Some(filter) = arguments.get("filter") else { return Ok(Ok(question)) };
        Ok(Filter::parse(filter, &self.fields).map(|filter| question.within(filter)))
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
        let question = self.settings.question(arguments)?;
        let settings = self.settings.clone();
        Ok(async move { settings.answer(question?, &cx).await }.boxed_local())
    }
}

/// Returns the member `uri` of the metadata.
fn uri_of_metadata(passage: &Passage) -> Option<String> {
    passage.metadata.get("uri").and_then(JsonValue::as_str).map(str::to_owned)
}

/// The builder methods of the tools that search.
macro_rules! search_tool_methods {
    () => {
        /// Sets the name of the tool: 1 to 64 characters of `A-Z a-z 0-9 _ . -`.
        pub fn name(mut self, name: impl Into<$crate::text::Text>) -> Self {
            self.0.name = name.into();
            self
        }

        /// Sets the description, by which a model decides when to call the tool. It must not be blank.
        pub fn description(mut self, description: impl Into<$crate::text::Text>) -> Self {
            self.0.description = description.into();
            self
        }

        /// Adds the argument `filter`, with which a model restricts the search by these fields. Without fields, there is no such argument.
        pub fn filter(mut self, fields: $crate::rag::Fields) -> Self {
            self.0.fields = fields;
            self
        }

        /// Adds a filter of the program. A passage must match it and all other filters. The model does not see it.
        pub fn within(mut self, filter: $crate::rag::Filter) -> Self {
            self.0.retriever = self.0.retriever.within(filter);
            self
        }

        /// Sets the maximum of the argument `topK`, from 1 to 50. The default is 50.
        pub fn most(mut self, passages: usize) -> Self {
            self.0.retriever = self.0.retriever.most(passages);
            self
        }

        /// Sets the most passages of one document. By default, there is no such limit.
        pub fn per_document(mut self, passages: usize) -> Self {
            self.0.retriever = self.0.retriever.per_document(passages);
            self
        }

        /// Adds the neighbours of each passage in its section to its text: `passages` before it and after it, from 0 to 3.
        pub fn context(mut self, passages: usize) -> Self {
            self.0.retriever = self.0.retriever.context(passages);
            self
        }

        /// Sets the most bytes of text in an answer. The last passage is cut, and the passages after it are left out. The default is
        /// 24 000.
        pub fn most_text(mut self, bytes: usize) -> Self {
            self.0.most_text = bytes;
            self
        }

        /// Sets whether an answer has the list of sources and links to the documents. The default is `true`.
        pub fn include_sources(mut self, included: bool) -> Self {
            self.0.includes_sources = included;
            self
        }

        /// Sets the function that returns the URI of a passage's document. By default, this is the member `uri` of the metadata.
        pub fn uri(mut self, uri: impl Fn(&$crate::rag::Passage) -> Option<String> + 'static) -> Self {
            self.0.uri = std::rc::Rc::new(uri);
            self
        }

        /// Requires that the server function sets a space with [`Retrieval::space`](crate::rag::Retrieval::space). Without one, a call
        /// fails before it reads anything.
        pub fn spaces_required(mut self) -> Self {
            self.0.retriever = self.0.retriever.spaces_required();
            self
        }

        /// Returns the tool, to set its scopes, hooks or deadline, and to add it to a server.
        pub fn tool(self) -> $crate::server::tool::Tool {
            self.0.tool()
        }
    };
}
pub(super) use search_tool_methods;
