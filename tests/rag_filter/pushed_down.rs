//! The part of a filter that Vectorize evaluates.

use std::cmp::Ordering;

use edge_mcp::rag::{Fields, Filter};
use serde_json::{Map, Value, json};

use crate::random::Random;
use crate::{filter, pairs};

fn fields() -> Fields {
    let fields = Fields::new().text("category", "Subject").indexed().number("version", "Release").indexed();
    fields.boolean("draft", "Unfinished").indexed().text("author.name", "Author").indexed().text("summary", "Summary")
}

/// R24: only tests that every match must meet, with values that the index of the field can have.
#[test]
fn the_part_has_only_tests_that_vectorize_documents() {
    let (longest, too_long) = ("é".repeat(32), "x".repeat(65));
    for (whole, part) in [
        (json!({}), None),
        (json!({ "category": "tea" }), Some(json!({ "category": { "$in": ["tea"] } }))),
        (json!({ "category": longest }), Some(json!({ "category": { "$in": [longest] } }))),
        (json!({ "category": too_long }), None),
        (json!({ "category": ["tea", too_long] }), None),
        (json!({ "category": { "$in": [] } }), None),
        (json!({ "category": ["tea", 5] }), None),
        (json!({ "category": null }), None),
        (json!({ "category": { "$gt": "a" } }), None),
        (json!({ "summary": "x" }), None),
        (json!({ "unknown": "x" }), None),
        (json!({ "author": { "name": "Ada" } }), Some(json!({ "author.name": { "$in": ["Ada"] } }))),
        (json!({ "draft": false }), Some(json!({ "draft": { "$in": [false] } }))),
        (json!({ "version": [1, 2.5] }), Some(json!({ "version": { "$in": [1.0, 2.5] } }))),
        (json!({ "version": { "$gt": 1, "$lte": 3 } }), Some(json!({ "version": { "$gt": 1.0, "$lte": 3.0 } }))),
        (json!({ "version": { "$lt": 3, "$gte": 1 } }), Some(json!({ "version": { "$lt": 3.0, "$gte": 1.0 } }))),
        (json!({ "version": { "$gt": 1, "$gte": 2 } }), Some(json!({ "version": { "$gt": 1.0 } }))),
        (json!({ "version": { "$eq": 1, "$gte": 2 } }), Some(json!({ "version": { "$in": [1.0] } }))),
        (json!({ "version": { "$gte": 2, "$eq": 1 } }), Some(json!({ "version": { "$gte": 2.0 } }))),
        (json!({ "version": { "$ne": 1 } }), None),
        (json!({ "version": { "$exists": true } }), None),
        (json!({ "category": { "$contains": "t" } }), None),
        (json!({ "$or": [{ "category": "tea" }, { "category": "rum" }] }), None),
        (json!({ "$nor": [{ "category": "tea" }] }), None),
        (json!({ "$not": { "category": "tea" } }), None),
        (
            json!({ "$and": [{ "category": "tea" }, { "$or": [{ "draft": false }] }, { "$and": [{ "version": 1 }] }, { "draft": true }] }),
            Some(json!({ "category": { "$in": ["tea"] }, "version": { "$in": [1.0] }, "draft": { "$in": [true] } })),
        ),
        (
            json!({ "$and": [{ "category": "tea" }, { "category": "rum" }, { "summary": "x" }] }),
            Some(json!({ "category": { "$in": ["tea"] } })),
        ),
    ] {
        assert_eq!(filter(&whole).pushed_down(&fields()), part, "{whole}");
    }
    assert_eq!(Filter::eq("a b", 1).pushed_down(&fields()), None, "an invalid filter has no part");
}

/// R24: a filter of Vectorize has less than 2 048 bytes. A test that does not fit is left out.
#[test]
fn the_part_is_limited() {
    let values = |count: usize| (0..count).map(|n| format!("{n:060}")).collect::<Vec<_>>();
    let whole = Filter::any_of("category", values(20)).and(Filter::any_of("author.name", values(20)));
    let whole = whole.and(Filter::eq("draft", true));
    let part = whole.pushed_down(&fields()).expect("a part");
    assert_eq!(part, json!({ "category": { "$in": values(20) }, "draft": { "$in": [true] } }));

    let with = |length: usize| {
        let last = "x".repeat(length);
        let whole = Filter::any_of("category", values(32).into_iter().chain([last]));
        whole.pushed_down(&fields()).map(|part| part.to_string().len())
    };
    assert_eq!((with(6), with(7)), (Some(2047), None));
}

/// Returns whether Vectorize finds a vector with this metadata. It has an index of the first 64 bytes of strings for each field.
fn is_found(part: &Value, metadata: &Map<String, Value>) -> bool {
    let tests = part.as_object().expect("an object");
    tests.iter().all(|(path, test)| {
        let (first, rest) = path.split_once('.').map_or((path.as_str(), None), |(first, rest)| (first, Some(rest)));
        let value =
            rest.into_iter().flat_map(|rest| rest.split('.')).fold(metadata.get(first), |value, name| value?.get(name));
        let Some(value) = value else { return false };
        test.as_object().expect("an object").iter().all(|(operator, operand)| match operator.as_str() {
            "$in" => operand.as_array().expect("a list").iter().any(|one| compare(value, one) == Some(Ordering::Equal)),
            "$gt" => compare(value, operand).is_some_and(Ordering::is_gt),
            "$gte" => compare(value, operand).is_some_and(Ordering::is_ge),
            "$lt" => compare(value, operand).is_some_and(Ordering::is_lt),
            "$lte" => compare(value, operand).is_some_and(Ordering::is_le),
            _ => panic!("{operator}"),
        })
    })
}

fn compare(value: &Value, operand: &Value) -> Option<Ordering> {
    match (value, operand) {
        (Value::String(value), Value::String(operand)) => {
            Some(value.split_at(value.floor_char_boundary(64)).0.cmp(operand))
        }
        (Value::Bool(value), Value::Bool(operand)) => Some(value.cmp(operand)),
        _ => value.as_f64()?.partial_cmp(&operand.as_f64()?),
    }
}

/// R24: the part matches at least the documents that the filter matches, if no indexed field has an array.
#[test]
fn random_filters_match_no_more_than_their_parts() {
    let fields = Fields::new().text("a", "A").indexed().number("b", "B").indexed().text("n.x", "X").indexed();
    let (mut matching, mut narrowed) = (0, 0);
    for seed in 0..10_000 {
        let mut random = Random::new(seed);
        let (whole, json) = pairs::filter(&mut random);
        let Some(part) = whole.pushed_down(&fields) else { continue };
        for _ in 0..100 {
            let mut metadata = pairs::metadata(&mut random);
            metadata.retain(|_, value| !value.is_array() && !value.get("x").is_some_and(Value::is_array));
            let (matches, is_found) = (whole.matches(&metadata), is_found(&part, &metadata));
            assert!(is_found || !matches, "seed {seed}: {part} of {json} for {metadata:?}");
            matching += usize::from(matches);
            narrowed += usize::from(!is_found);
        }
    }
    assert!(matching > 400 && narrowed > 10_000, "{matching} {narrowed}");
}
