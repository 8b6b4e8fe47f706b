//! The documents that a filter matches.

use edge_mcp::rag::Filter;
use serde_json::{Value, json};

use crate::random::Random;
use crate::{filter, matches, pairs};

/// Values of the field `a`. `None` is a missing field.
fn values() -> [Option<Value>; 16] {
    [
        None,
        Some(Value::Null),
        Some(json!("x")),
        Some(json!("y")),
        Some(json!("5")),
        Some(json!("")),
        Some(json!(5)),
        Some(json!(1)),
        Some(json!(1.0)),
        Some(json!(true)),
        Some(json!(false)),
        Some(json!(["x", "y"])),
        Some(json!([1, true])),
        Some(json!([])),
        Some(json!({})),
        Some(json!({ "b": 1 })),
    ]
}

/// Returns the values of `a` that a filter matches.
fn matched(filter: &Filter) -> Vec<String> {
    let document = |value: &Option<Value>| value.as_ref().map_or(json!({}), |value| json!({ "a": value }));
    let is_matched = |value: &Option<Value>| matches(filter, &document(value));
    let matched = values().into_iter().filter(is_matched);
    matched.map(|value| value.map_or("missing".to_owned(), |value| value.to_string())).collect()
}

/// R15, R16 and R17: the table of the semantics. Each filter matches exactly the listed values of `a`.
#[test]
fn each_operator_matches_exactly_these_values() {
    for (json, expected) in [
        (json!({ "a": "x" }), "\"x\" [\"x\",\"y\"]"),
        (json!({ "a": 1 }), "1 1.0 [1,true]"),
        (json!({ "a": 1.0 }), "1 1.0 [1,true]"),
        (json!({ "a": 5 }), "5"),
        (json!({ "a": "5" }), "\"5\""),
        (json!({ "a": true }), "true [1,true]"),
        (json!({ "a": null }), "missing null [] {} {\"b\":1}"),
        (json!({ "a": { "$eq": null } }), "missing null [] {} {\"b\":1}"),
        (json!({ "a": { "$exists": false } }), "missing null [] {} {\"b\":1}"),
        (json!({ "a": { "$gt": -1 } }), "5 1 1.0 [1,true]"),
        (json!({ "a": { "$gt": 1 } }), "5"),
        (json!({ "a": { "$gte": 1, "$lt": 5 } }), "1 1.0 [1,true]"),
        (json!({ "a": { "$lte": "x" } }), "\"x\" \"5\" \"\" [\"x\",\"y\"]"),
        (json!({ "a": { "$lt": "" } }), ""),
        (json!({ "a": ["y", 5, false] }), "\"y\" 5 false [\"x\",\"y\"]"),
        (json!({ "a": { "$in": [] } }), ""),
        (json!({ "a": { "$contains": "x" } }), "\"x\" [\"x\",\"y\"]"),
        (json!({ "a": { "$contains": "" } }), "\"x\" \"y\" \"5\" \"\""),
        (json!({ "a": { "$contains": 1 } }), "[1,true]"),
        (json!({ "a": { "b": 1 } }), "{\"b\":1}"),
        (json!({ "a.b": { "$exists": true } }), "{\"b\":1}"),
    ] {
        let expected: Vec<&str> = expected.split_terminator(' ').collect();
        assert_eq!(matched(&filter(&json)), expected, "{json}");
        // Negations are exact: they match all other values.
        let negated = filter(&json!({ "$not": json }));
        let others = matched(&Filter::default()).into_iter().filter(|value| !expected.contains(&value.as_str()));
        assert_eq!(matched(&negated), others.collect::<Vec<_>>(), "not {json}");
    }
}

/// R16: `$ne`, `$nin`, `$not` and `$nor` are the negations of the positive forms, also if the field is missing.
#[test]
fn negative_operators_are_exact_negations() {
    for (negative, positive) in [
        (json!({ "a": { "$ne": "x" } }), json!({ "a": "x" })),
        (json!({ "a": { "$ne": null } }), json!({ "a": null })),
        (json!({ "a": { "$nin": ["x", 5] } }), json!({ "a": ["x", 5] })),
        (json!({ "a": { "$nin": [] } }), json!({ "a": { "$in": [] } })),
        (json!({ "a": { "$not": { "$gt": 1, "$lt": 9 } } }), json!({ "a": { "$gt": 1, "$lt": 9 } })),
        (json!({ "$nor": [{ "a": 1 }, { "a": "x" }] }), json!({ "$or": [{ "a": 1 }, { "a": "x" }] })),
        (json!({ "a": { "$exists": false } }), json!({ "a": { "$exists": true } })),
    ] {
        assert_eq!(matched(&filter(&negative)), matched(&Filter::not(filter(&positive))), "{negative}");
    }
    assert_eq!(matched(&filter(&json!({ "a": { "$nin": [] } }))).len(), values().len());
}

/// R20: members of an object are combined before `$or` combines the objects.
#[test]
fn alternatives_keep_their_members_together() {
    let filter = filter(&json!({ "$or": [{ "a": "q", "b": 1 }, { "a": "z" }] }));
    for (metadata, expected) in [
        (json!({ "a": "q", "b": 1 }), true),
        (json!({ "a": "z" }), true),
        (json!({ "a": "q" }), false),
        (json!({ "b": 1 }), false),
        (json!({ "a": "z", "b": 2 }), true),
    ] {
        assert_eq!(matches(&filter, &metadata), expected, "{metadata}");
    }
    let both = filter_of_both();
    assert!(matches(&both, &json!({ "a": ["x", "y"] })) && !matches(&both, &json!({ "a": "y" })));
}

/// Both filters test the same field.
fn filter_of_both() -> Filter {
    filter(&json!({ "a": "x" })).and(filter(&json!({ "a": "y" })))
}

/// R17: strings are compared byte by byte, and numbers as `f64`.
#[test]
fn strings_are_ordered_by_bytes_and_numbers_as_floats() {
    let is_less = |a: Value, b: Value| matches(&filter(&json!({ "a": { "$lt": b } })), &json!({ "a": a }));
    assert!(is_less(json!("Z"), json!("a")) && is_less(json!("z"), json!("é")));
    assert!(is_less(json!("\u{ffff}"), json!("\u{10ffff}")), "not the order of UTF-16");
    assert!(is_less(json!(0.3), json!(0.300_000_000_000_000_04)));
    assert!(!is_less(json!(9_007_199_254_740_992_u64), json!(9_007_199_254_740_993_u64)), "equal as f64");
    assert!(!is_less(json!(-0.0), json!(0)) && !is_less(json!(0), json!(-0.0)));
}

/// Field names that mean something in JavaScript are ordinary names.
#[test]
fn names_of_javascript_are_ordinary_names() {
    let filter = filter(&json!({ "__proto__": "x", "constructor": { "prototype": { "$exists": true } } }));
    assert!(matches(&filter, &json!({ "__proto__": "x", "constructor": { "prototype": 1 } })));
    assert!(!matches(&filter, &json!({})));
}

/// R89: `and` never matches more than either filter, and `or` never less.
#[test]
fn combinations_of_random_filters_narrow_and_widen() {
    let mut random = Random::new(20_261_123);
    let (mut narrowed, mut both_match) = (0, 0);
    for _ in 0..5_000 {
        let (first, json) = pairs::filter(&mut random);
        let (second, other_json) = pairs::filter(&mut random);
        let metadata = pairs::metadata(&mut random);
        let (one, other) = (first.matches(&metadata), second.matches(&metadata));
        let both = first.clone().and(second.clone()).matches(&metadata);
        assert_eq!(both, one && other, "{json} and {other_json} for {metadata:?}");
        assert_eq!(
            first.clone().or(second).matches(&metadata),
            one || other,
            "{json} or {other_json} for {metadata:?}"
        );
        assert_eq!(Filter::not(first).matches(&metadata), !one, "{json} for {metadata:?}");
        narrowed += usize::from(one && !both);
        both_match += usize::from(both);
    }
    assert!(narrowed > 400 && both_match > 100, "{narrowed} {both_match}");
}
