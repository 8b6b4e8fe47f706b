//! Filters of the program.

use edge_mcp::rag::{Filter, Scalar};
use serde_json::json;

use crate::{filter, matches};

#[test]
fn constructors_build_what_json_describes() {
    for (built, json) in [
        (Filter::eq("a", "x"), json!({ "a": "x" })),
        (Filter::eq("a.b", true), json!({ "a": { "b": true } })),
        (Filter::ne("a", 1), json!({ "a": { "$ne": 1 } })),
        (Filter::gt("a", 1.5), json!({ "a": { "$gt": 1.5 } })),
        (Filter::gte("a", "x"), json!({ "a": { "$gte": "x" } })),
        (Filter::lt("a", 1_u32), json!({ "a": { "$lt": 1 } })),
        (Filter::lte("a", String::from("x")), json!({ "a": { "$lte": "x" } })),
        (Filter::any_of("a", ["x", "y"]), json!({ "a": ["x", "y"] })),
        (Filter::none_of("a", [Scalar::from("x"), Scalar::from(1)]), json!({ "a": { "$nin": ["x", 1] } })),
        (Filter::exists("a"), json!({ "a": { "$exists": true } })),
        (Filter::contains("a", "x"), json!({ "a": { "$contains": "x" } })),
        (Filter::not(Filter::exists("a")), json!({ "a": null })),
        (Filter::not(Filter::eq("a", "x").or(Filter::eq("b", 1))), json!({ "$nor": [{ "a": "x" }, { "b": 1 }] })),
        (Filter::eq("a", "x").and(Filter::eq("b", 1)), json!({ "a": "x", "b": 1 })),
        (Filter::default(), json!({})),
    ] {
        assert_eq!(built, filter(&json), "{json}");
        assert_eq!(built.check(), Ok(()));
    }
    assert!(Filter::default().is_empty() && !Filter::exists("a").is_empty());
}

/// A filter with an invalid part matches nothing, in every combination. Every use of it is an error.
#[test]
fn an_invalid_part_invalidates_the_whole_filter() {
    let everything = json!({ "a": "x", "b": 1 });
    for (invalid, problem) in [
        (Filter::eq("a b", "x"), "`a b` is not the name of a field."),
        (Filter::eq("$a", "x"), "`$a` is not the name of a field. The name of a field cannot begin with `$`."),
        (Filter::exists("a.b.c.d.e"), "the field `a.b.c.d.e` has more than 4 names in its path."),
        (Filter::gt("a", true), "the value for `a` must be a number or a string, because booleans have no order."),
        (Filter::eq("a", f64::NAN), "the value for `a` must be a number within the range of 64-bit floats."),
        (Filter::lt("a", f64::INFINITY), "the value for `a` must be a number within the range"),
        (Filter::contains("a", "x".repeat(513)), "the value for `a` must have at most 512 bytes (got 513)."),
        (Filter::any_of("a", vec!["x"; 101]), "the value for `a` must be a list of at most 100 values (got 101)."),
        (
            (0..81).map(|_| Filter::eq("a", "x")).reduce(Filter::or).expect("tests"),
            "it must have at most 80 tests (got 81).",
        ),
        (
            (0..24).fold(Filter::eq("a", "x"), |filter, _| Filter::not(filter)),
            "it must have at most 24 levels of nesting (got 25).",
        ),
        (
            (0..6).map(|_| Filter::any_of("a", vec!["x".repeat(512); 100])).reduce(Filter::or).expect("tests"),
            "it must have at most 262144 bytes in its strings (got 307200).",
        ),
    ] {
        let valid = || Filter::eq("a", "x");
        for filter in [
            invalid.clone(),
            Filter::not(invalid.clone()),
            valid().or(invalid.clone()),
            invalid.clone().or(valid()),
            Filter::not(valid().and(invalid.clone())),
        ] {
            let error = filter.check().expect_err(problem).to_string();
            assert!(error.starts_with(&format!("the filter is invalid: {problem}")), "{error}");
            assert!(!matches(&filter, &everything) && !matches(&filter, &json!({})) && !filter.is_empty());
            assert_eq!(filter.to_sql("metadata", 1).map_err(|error| error.to_string()), Err(error));
        }
    }
}

/// R14: the limits of a combined filter are exact.
#[test]
fn limits_of_combined_filters_are_exact() {
    let tests = (0..80).map(|_| Filter::eq("a", "x")).fold(Filter::default(), Filter::and);
    assert_eq!(tests.check(), Ok(()));
    let levels = (0..23).fold(Filter::eq("a", "x"), |filter, _| Filter::not(filter));
    assert_eq!(levels.check(), Ok(()));
    assert!(!matches(&levels, &json!({ "a": "x" })) && matches(&levels, &json!({})));
}

#[test]
fn errors_of_a_json_text_name_the_problem() {
    for (json, problem) in [
        ("", "the text is not JSON (byte 0). Send an object."),
        (r#"{"a":{"$regex":"x"}}"#, "`a.$regex` is not supported. Use `$contains` for a part of a string."),
        (r#"{"a":null,"a":1}"#, "the key `a` occurs twice in an object."),
    ] {
        let error = Filter::from_json(json).expect_err(json).to_string();
        assert!(error.starts_with(&format!("the filter is invalid: {problem}")), "{error}");
    }
}

/// R21: the text of a condition depends only on the shape of the filter. Values and paths are in the parameter.
#[test]
fn the_text_of_a_condition_depends_only_on_the_shape() {
    let condition = |filter: Filter| filter.to_sql("chunks.metadata", 7).expect("valid");
    let first =
        condition(Filter::eq("a", "x").and(Filter::not(Filter::any_of("b.c", [1, 2]))).or(Filter::eq("d", true)));
    let second =
        condition(Filter::eq("e.f", "y'").and(Filter::not(Filter::any_of("g", [3]))).or(Filter::eq("a", false)));
    assert_eq!(first.text, second.text);
    assert!(!first.text.contains("'x'") && first.text.matches("?7").count() == first.text.matches('?').count());
    assert_eq!(first.values, r#"["$.\"a\"",["x"],"$.\"b\".\"c\"",[1.0,2.0],"$.\"d\"",["true"]]"#);
    assert_eq!(condition(Filter::default()).text, "1");
    assert_eq!(condition(Filter::not(Filter::default())).text, "NOT 1");
}

/// The database evaluates a test for each document, so a caller cannot make it evaluate the same test many times.
#[test]
fn equal_tests_are_evaluated_once() {
    let tests =
        |filter: Filter| filter.to_sql("documents.metadata", 3).expect("valid").text.matches("json_type").count();
    let once = tests(Filter::ne("tags", "x"));
    let nine_times = (0..9).map(|_| Filter::ne("tags", "x")).fold(Filter::default(), Filter::and);
    assert_eq!(tests(nine_times.clone()), once);
    assert_eq!(tests(nine_times.clone().or(nine_times)), once);
    assert!(tests(Filter::ne("tags", "x").and(Filter::ne("tags", "y"))) > once);
}

/// R14: a filter of the program can have more tests than that of a caller.
#[test]
fn a_json_text_of_the_program_can_have_more_tests_than_an_argument() {
    let of_tests = |count: usize| format!("{{\"$and\":[{}]}}", vec!["{\"a\":1}"; count].join(","));
    assert!(Filter::from_json(&of_tests(80)).is_ok());
    let error = Filter::from_json(&of_tests(81)).expect_err("too many tests").to_string();
    assert_eq!(error, "the filter is invalid: it must have at most 80 tests (got 81).");
}

/// The longest condition fits into a statement of D1, which has at most 100 KB.
#[test]
fn the_longest_condition_fits_into_a_statement() {
    let values = || [Scalar::from("x"), Scalar::from(1), Scalar::from(true)];
    let longest = (0..80).map(|nth| Filter::none_of(&format!("a{nth}"), values())).reduce(Filter::or).expect("tests");
    let text = longest.to_sql("rag_chunks.metadata", 100).expect("valid").text;
    assert!(text.len() < 95_000, "{}", text.len());
}
