//! Tests of URI templates: matching and expansion by RFC 6570, levels 1 to 3.

// Tests and their helpers may panic.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod invalid;
mod inverse;
mod matching;
mod model;
mod rfc6570;

use std::collections::BTreeMap;

use edge_uri_template::UriTemplate;

type Variables = BTreeMap<String, String>;

fn parsed(template: &str) -> UriTemplate {
    UriTemplate::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"))
}

fn variables<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Variables {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
