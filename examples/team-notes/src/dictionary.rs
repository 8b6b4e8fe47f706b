//! The definitions of words, from a server with an HTTP API.

use std::time::Duration;

use edge_mcp::host::{FetchError, FetchLimits, Fetched};
use edge_mcp::{Context, HandlerError};
use schemars::JsonSchema;
use serde::Deserialize;

/// The server of the dictionary.
pub struct Dictionary {
    pub url: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Word {
    /// An English word, such as tea
    #[schemars(regex(pattern = "^[A-Za-z-]{1,40}$"))]
    word: String,
}

#[derive(Deserialize)]
struct Entry {
    definition: String,
}

pub async fn define(Word { word }: Word, cx: Context) -> Result<String, HandlerError> {
    let request = http::Request::get(format!("{}/{word}", cx.state::<Dictionary>()?.url)).body("")?;
    let limits = FetchLimits { time: Duration::from_secs(3), bytes: 10_000 };
    let entry = cx.fetch(request, limits).await.and_then(Fetched::success).and_then(|response| response.json());
    match entry {
        Ok(Entry { definition }) => Ok(definition),
        Err(error) => Err(HandlerError::new(sentence(&error)).because(error)),
    }
}

fn sentence(error: &FetchError) -> &'static str {
    match error {
        FetchError::Status(404) => "The dictionary does not have this word. Check its spelling.",
        FetchError::Status(429) => "The dictionary is busy. Try again in a minute.",
        FetchError::TooSlow => "The dictionary did not answer within 3 seconds. Try again later.",
        FetchError::TooLarge => "The entry of this word is too long. Try a more special word.",
        FetchError::Malformed(_) => "The dictionary has no definition of this word. Try another word.",
        _ => "The dictionary is not available. Try again later.",
    }
}
