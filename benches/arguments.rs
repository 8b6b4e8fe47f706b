//! What the tools of `benches/tools.json` take, as types. The bench compares what is published of them with that file.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub struct Addition {
    /// The one
    pub a: f64,
    /// The other
    pub b: f64,
}

#[derive(Deserialize, JsonSchema)]
pub struct Echo {
    /// What to say
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Weather {
    /// City name, such as Paris
    #[schemars(length(min = 1, max = 200))]
    pub location: String,
    /// What to measure in
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
    /// Words to look for
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    /// How many at most
    #[schemars(range(min = 1, max = 50))]
    pub limit: u32,
    /// Only documents with all of these
    #[schemars(length(max = 20))]
    pub tags: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Slug {
    /// Its name in addresses
    #[schemars(length(max = 100), regex(pattern = "^[a-z0-9-]+$"))]
    pub slug: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Document {
    /// Its name in addresses
    #[schemars(length(max = 100), regex(pattern = "^[a-z0-9-]+$"))]
    pub slug: String,
    /// Its title
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// Its text, in Markdown
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Conversion {
    /// How much
    #[schemars(range(min = 0))]
    pub amount: f64,
    /// Its currency
    pub from: Currency,
    /// The other currency
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
    /// What it is
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// When it begins, such as 2026-07-28T10:00
    #[schemars(length(min = 16, max = 16))]
    pub start: String,
    /// How long it takes
    #[schemars(range(min = 1, max = 1440))]
    pub minutes: u32,
    /// Who comes
    #[schemars(length(max = 100))]
    pub attendees: Vec<Attendee>,
    /// Whether they are told
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
    /// The text
    #[schemars(length(min = 1, max = 5000))]
    pub text: String,
    /// The language
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
