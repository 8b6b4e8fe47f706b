//! The arguments of the tools in `benches/tools.json`, as types. The bench compares the published schemas with that file.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub struct Addition {
    /// The first number
    pub a: f64,
    /// The second number
    pub b: f64,
}

#[derive(Deserialize, JsonSchema)]
pub struct Echo {
    /// The text to return
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Weather {
    /// City name, such as Paris
    #[schemars(length(min = 1, max = 200))]
    pub location: String,
    /// The unit of the temperature
    pub unit: Unit,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Deserialize, JsonSchema)]
pub struct Search {
    /// The words to search for
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    /// The maximum number of documents
    #[schemars(range(min = 1, max = 50))]
    pub limit: u32,
    /// Only documents with all of these tags
    #[schemars(length(max = 20))]
    pub tags: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Slug {
    /// The name of the document in URLs
    #[schemars(length(max = 100), regex(pattern = "^[a-z0-9-]+$"))]
    pub slug: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Document {
    /// The name of the document in URLs
    #[schemars(length(max = 100), regex(pattern = "^[a-z0-9-]+$"))]
    pub slug: String,
    /// The title of the document
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// The text of the document, in Markdown
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Conversion {
    /// The amount
    #[schemars(range(min = 0))]
    pub amount: f64,
    /// The currency of the amount
    pub from: Currency,
    /// The target currency
    pub to: Currency,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
pub enum Currency {
    Eur,
    Usd,
    Gbp,
    Jpy,
}

#[derive(Deserialize, JsonSchema)]
pub struct Event {
    /// The title of the event
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// The start, such as 2026-07-28T10:00
    #[schemars(length(min = 16, max = 16))]
    pub start: String,
    /// The duration in minutes
    #[schemars(range(min = 1, max = 1440))]
    pub minutes: u32,
    /// The attendees
    #[schemars(length(max = 100))]
    pub attendees: Vec<Attendee>,
    /// Whether to notify the attendees
    pub notify: bool,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Attendee {
    pub name: String,
    pub email: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Translation {
    /// The text to translate
    #[schemars(length(min = 1, max = 5000))]
    pub text: String,
    /// The target language
    pub language: Language,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Language {
    De,
    En,
    Es,
    Fr,
    It,
    Ja,
}

#[derive(Deserialize, JsonSchema)]
pub struct Numbers {
    /// The numbers
    #[schemars(length(min = 1, max = 1000))]
    pub numbers: Vec<f64>,
}
