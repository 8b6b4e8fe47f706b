//! The result of the tool that searches.

use std::collections::BTreeSet;

use edge_uri_template::has_scheme;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::protocol::content::Content;
use crate::protocol::description::ResourceDescription;
use crate::rag::passage::{HEADING_SEPARATOR, Passage};
use crate::rag::passages::{self, Quotation};
use crate::rag::search_result::{FoundPassage, SearchResult};
use crate::text::has_uri_characters;
use crate::text::{make_visible, visible};

/// Returns the URI of a passage's document, if it has one.
pub(super) type UriOf = dyn Fn(&Passage) -> Option<String>;

/// The settings of an answer.
pub(super) struct Contents<'t> {
    pub(super) includes_sources: bool,
    /// The most bytes of the texts together.
    pub(super) most_text: usize,
    pub(super) uri: &'t UriOf,
}

/// The structured content of a result. `schema::output` describes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    /// The passages as text, numbered and delimited
    relevant_context: String,
    /// The passages, best first. Empty if no passage was found
    sources: Vec<Source>,
    /// How the passages were found: by words (lexical), meaning (vector), both (hybrid), or connections (graph)
    retrieval: &'static str,
    /// A remark about the search
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize)]
struct Source {
    /// The document and the number of the passage in it
    id: String,
    /// The text of the passage
    document: String,
    /// From 0 to 1, comparable only within this answer
    score: f64,
    /// The resource that contains the whole document
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// The headings above the passage
    heading: String,
    /// The metadata of the document and of the passage
    metadata: Map<String, Value>,
    /// The parts of the score
    scores: Scores,
    /// The vector of the passage
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<Vec<f32>>,
}

#[derive(Serialize)]
struct Scores {
    /// The score by the words of the question
    #[serde(skip_serializing_if = "Option::is_none")]
    lexical: Option<f64>,
    /// The similarity to the question
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<f64>,
    /// The score of a reranker
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank: Option<f64>,
    /// The score by the connections of the passage
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<f64>,
}

/// A passage of an answer.
struct Shown {
    quotation: Quotation,
    found: FoundPassage,
}

/// Returns the result of a tool.
pub(super) fn answer(found: SearchResult, contents: &Contents<'_>, cx: &Context) -> Result<ToolResult, HandlerError> {
    let SearchResult { passages, mode, mut note, .. } = found;
    let mut shown: Vec<_> = passages.into_iter().map(|found| Shown::new(found, contents.uri)).collect();
    let left_out = passages::limit(&mut shown, contents.most_text, |shown| &mut shown.quotation.text);
    if left_out > 0 {
        let bytes = contents.most_text;
        let (passages, were) = if left_out == 1 { ("passage", "was") } else { ("passages", "were") };
        let limit =
            format!("{left_out} {passages} {were} left out, because the text of an answer has at most {bytes} bytes.");
        note = Some(note.map_or(limit.clone(), |note| format!("{note} {limit}")));
    }
    let relevant_context = passages::text(shown.iter().map(|shown| &shown.quotation), passages::delimiter(cx)?);
    let mut content = vec![Content::text(&*relevant_context)];
    let mut sources = Vec::new();
    if contents.includes_sources {
        content.extend(links(&shown));
        sources.extend(shown.into_iter().map(Source::from));
    }
    let result = Answer { relevant_context, sources, retrieval: mode.name(), note };
    Ok(ToolResult::structured(&result)?.content(content))
}

/// Returns a link to each document with a URI.
fn links(shown: &[Shown]) -> Vec<Content> {
    let mut linked = BTreeSet::new();
    let mut links = Vec::new();
    for Shown { quotation, found } in shown {
        if let Some(uri) = quotation.uri.as_deref().filter(|uri| linked.insert(*uri)) {
            let link = ResourceDescription::new(uri.to_owned(), visible(&found.passage.document));
            let title = title(&found.passage);
            links.push(Content::link(if title.is_empty() { link } else { link.title(title) }));
        }
    }
    links
}

impl Shown {
    fn new(found: FoundPassage, uri: &UriOf) -> Self {
        let Passage { document, ordinal, heading, text, .. } = &found.passage;
        // Clients may reject a result with an invalid URI as a whole.
        let uri = uri(&found.passage).filter(|uri| has_scheme(uri) && has_uri_characters(uri));
        let title = if heading.is_empty() { title(&found.passage) } else { visible(heading) };
        let id = format!("{}#{}", visible(document), ordinal.saturating_add(1));
        Self { quotation: Quotation { id, uri, title, text: visible(text) }, found }
    }
}

impl From<Shown> for Source {
    fn from(shown: Shown) -> Self {
        let Shown { quotation: Quotation { id, uri, text, .. }, found } = shown;
        let FoundPassage { passage, score, lexical, similarity, rerank, graph, vector } = found;
        let mut metadata = Value::Object(passage.metadata);
        make_visible(&mut metadata);
        let metadata = if let Value::Object(metadata) = metadata { metadata } else { Map::new() };
        let heading = visible(&passage.heading);
        Self {
            id,
            document: text,
            score,
            uri,
            heading,
            metadata,
            scores: Scores { lexical, vector: similarity, rerank, graph },
            vector: vector.map(|vector| vector.to_vec()),
        }
    }
}

/// Returns the title of a passage's document: the title in its metadata, or its first heading.
fn title(passage: &Passage) -> String {
    let title = passage.metadata.get("title").and_then(Value::as_str);
    visible(title.unwrap_or_else(|| passage.heading.split(HEADING_SEPARATOR).next().unwrap_or_default()))
}
