//! URI templates: RFC 6570, levels 1 to 3, read and written.

// A test may stop at the first surprise, and its helpers too.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod inverse;
mod linear;
mod matching;
mod model;
mod refusals;
mod rfc6570;

use std::collections::BTreeMap;

use edge_mcp::uri_template::UriTemplate;

type Variables = BTreeMap<String, String>;

fn parsed(template: &str) -> UriTemplate {
    UriTemplate::parse(template).unwrap_or_else(|error| panic!("{template}: {error}"))
}

fn variables<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Variables {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// That matching is linear: no test may need more steps than this many for each byte of the template and the URI.
const STEPS_PER_BYTE: usize = 8;

fn assert_linear(template: &str, uri: &str) {
    let steps = parsed(template).steps(uri);
    let bytes = template.len() + uri.len();
    assert!(steps <= STEPS_PER_BYTE * bytes, "{steps} steps for {bytes} bytes: {template:.80} {uri:.80}");
}
