//! Fuzzes URI templates. Nothing panics, matching takes linear time, and matching and expansion are inverse.
//!
//! Run it with `cargo +nightly fuzz run uri_template`. The first line of the input is a template, and the second line is a URI. Both omit
//! their prefix `x:`. Each further line is the value of a variable. An empty line omits the variable.
#![no_main]

use std::collections::BTreeMap;

use edge_uri_template::UriTemplate;
use libfuzzer_sys::fuzz_target;

/// The same number as in crates/uri-template/src/linear.rs.
const VISITS_PER_BYTE: usize = 8;

fuzz_target!(|input: &str| {
    let _ = UriTemplate::parse(input);
    let mut lines = input.split('\n');
    let mut after_scheme = || format!("x:{}", lines.next().unwrap_or_default());
    let (text, uri) = (after_scheme(), after_scheme());
    let Ok(template) = UriTemplate::parse(&text) else { return };

    let matches = |uri: &str| {
        assert!(template.visits(uri) <= VISITS_PER_BYTE * (text.len() + uri.len()), "{text} {uri}");
        template.matches(uri)
    };
    if let Some(variables) = matches(&uri) {
        let again = template.expand(&variables).expect("matched variables can be expanded");
        assert_eq!(matches(&again), Some(variables), "{text} {uri} {again}");
    }
    let given = template.variables().zip(lines).filter(|(_, value)| !value.is_empty());
    let variables: BTreeMap<_, _> = given.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    if let Ok(uri) = template.expand(&variables) {
        assert_eq!(matches(&uri), Some(variables), "{text} {uri}");
    }
});
