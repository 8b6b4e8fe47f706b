//! A search for passages in the texts of this server. The landing page has a search box for the tool.

use edge_mcp::{HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the tool.
pub(crate) const NAME: &str = "search-passages";

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Search {
    /// The words to search for
    #[schemars(length(min = 1, max = 2000))]
    query_text: String,
    /// The maximum number of passages to return
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    top_k: u8,
}

fn ten() -> u8 {
    10
}

#[derive(Serialize, JsonSchema)]
struct Passages {
    /// The passages, best first
    sources: Vec<Passage>,
    /// How the tool searched
    retrieval: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct Passage {
    id: &'static str,
    /// The text of the passage
    document: &'static str,
    /// The share of the searched words that the passage contains
    score: f64,
    /// The resource that contains the passage
    uri: &'static str,
    /// The headings above the passage
    heading: &'static str,
    metadata: Metadata,
}

#[derive(Serialize, JsonSchema)]
struct Metadata {
    title: &'static str,
}

/// The id, the URI, the title, the headings and the text of each passage.
const PASSAGES: [[&str; 5]; 4] = [
    ["text#0", "demo://text", "Text", "Text", "Plain text"],
    ["several#0", "demo://several", "Several", "Several > First", "One"],
    ["several#1", "demo://several", "Several", "Several > Second", "Two"],
    ["data#0", "file://data/123.txt", "Data File", "", "This is the content of the data file."],
];

pub(crate) fn tool() -> Tool {
    Tool::new(NAME, "Searches the texts of this server for passages.", search)
        .title("Passage search")
        .read_only()
        .idempotent()
        .closed_world()
}

async fn search(Search { query_text, top_k }: Search) -> Result<Json<Passages>, HandlerError> {
    let searched = words(&query_text);
    if searched.is_empty() {
        return Err(HandlerError::invalid("Argument `queryText` must contain a word."));
    }
    let mut sources: Vec<Passage> = PASSAGES
        .iter()
        .map(|&[id, uri, title, heading, document]| {
            let metadata = Metadata { title };
            Passage { id, document, score: score(&searched, &words(document)), uri, heading, metadata }
        })
        .filter(|passage| passage.score > 0.0)
        .collect();
    sources.sort_by(|one, other| other.score.total_cmp(&one.score));
    sources.truncate(top_k.into());
    Ok(Json(Passages { sources, retrieval: "lexical" }))
}

/// Returns the words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns the share of the searched words that are among `words`.
fn score(searched: &[String], words: &[String]) -> f64 {
    let share = |found: bool| f64::from(u8::from(found));
    let (found, all) =
        searched.iter().fold((0.0, 0.0), |(found, all), word| (found + share(words.contains(word)), all + 1.0));
    found / all
}
