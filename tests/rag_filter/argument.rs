//! The argument `filter` of a call.

use edge_mcp::rag::Filter;
use serde_json::{Value, json};

use crate::argument;

/// R2: the argument is an object, or the same object as JSON text. An empty object matches everything.
#[test]
fn an_argument_is_an_object_or_its_text() {
    for object in [r#"{"category":"tea"}"#, r#" { "category" : { "$eq" : "tea" } } "#, r#"{"category":["tea"]}"#] {
        let text = Value::from(object).to_string();
        assert_eq!(argument(object), Ok(Filter::eq("category", "tea")), "{object}");
        assert_eq!(argument(&text), argument(object), "{text}");
    }
    for empty in ["{}", "\"{}\"", "\" { } \""] {
        assert!(argument(empty).expect("valid").is_empty(), "{empty}");
    }
    assert_eq!(argument(r#"{"author":{"name":"Ada"}}"#), Ok(Filter::eq("author.name", "Ada")));
    assert_eq!(
        argument(r#"{"version":{"$gt":1,"$lte":3}}"#),
        Ok(Filter::gt("version", 1).and(Filter::lte("version", 3)))
    );
}

/// R3, R17 and R18: each invalid form is rejected with its place, the problem and the remedy.
#[test]
fn invalid_forms_are_rejected_by_name() {
    for (json, message) in [
        ("null", "the value must be a filter: an object with fields (got null). Example: {\"field\":{\"$gt\":2}}."),
        ("[]", "the value must be a filter: an object with fields (got an empty list)."),
        ("5", "the value must be a filter: an object with fields (got a number)."),
        (r#""tea""#, "the text is not JSON (byte 0). Send an object."),
        (r#""""#, "the text is not JSON (byte 0). Send an object."),
        (r#""\"{}\"""#, "the value must be a filter: an object with fields (got a string)."),
        (
            r#""{\"version\":1,\"version\":2}""#,
            "the key `version` occurs twice in an object. Use `$and` for several tests",
        ),
        (
            r#"{"colour":"red"}"#,
            "field `colour` is not declared. Declared fields: category, version, draft, author.name, rights",
        ),
        (r#"{"author":"Ada"}"#, "field `author` is not declared."),
        (r#"{"__proto__":"x"}"#, "field `__proto__` is not declared."),
        (r#"{"$or":[{"category":"a"},{"author":{"born":1}}]}"#, "field `author.born` is not declared."),
        (r#"{"":"x"}"#, "`` is not the name of a field. A name has 1 to 64 letters"),
        (r#"{"a b":"x"}"#, "`a b` is not the name of a field."),
        (r#"{"a.b.c.d.e":"x"}"#, "the field `a.b.c.d.e` has more than 4 names in its path."),
        // Types.
        (r#"{"version":"2"}"#, "`version` must be a number (got a string). Remove the quotes."),
        (r#"{"category":2}"#, "`category` must be a string (got a number). Add quotes."),
        (r#"{"draft":1}"#, "`draft` must be a boolean (got a number)."),
        (r#"{"draft":"true"}"#, "`draft` must be a boolean (got a string). Remove the quotes."),
        (
            r#"{"draft":{"$gt":false}}"#,
            "`draft.$gt` cannot be used, because the field is a boolean and has no order. Use `$eq`.",
        ),
        (
            r#"{"version":{"$gt":null}}"#,
            "`version.$gt` must be a number (got null). Use {\"$exists\":false} for fields without a value.",
        ),
        (r#"{"version":{"$in":[1,"2"]}}"#, "`version.$in[1]` must be a number (got a string)."),
        (r#"{"version":{"$in":[null]}}"#, "`version.$in[0]` must be a number (got null). Use {\"$exists\":false}"),
        (r#"{"version":[[1]]}"#, "`version[0]` must be a number (got an array)."),
        (r#"{"version":{"$in":1}}"#, "`version.$in` must be a list of values (got a number)."),
        (r#"{"version":{"$exists":"yes"}}"#, "`version.$exists` must be true or false (got a string)."),
        (r#"{"version":1e400}"#, "`version` must be a number within the range of 64-bit floats."),
        // Empty forms.
        (r#"{"version":{}}"#, "`version` must be an object with operators (got an empty object)."),
        (r#"{"version":[]}"#, "`version` must have at least one value."),
        (r#"{"$and":[]}"#, "`$and` must be a list of at least one filter (got an empty list)."),
        (r#"{"$or":[{}]}"#, "`$or[0]` must be a filter: an object with fields (got an empty object)."),
        (r#"{"$nor":{"draft":true}}"#, "`$nor` must be a list of at least one filter (got an object)."),
        (r#"{"$not":[{"draft":true}]}"#, "`$not` must be a filter: an object with fields (got an array)."),
        // Operators.
        (r#"{"$gt":5}"#, "`$gt` needs a field. Write {\"field\":{\"$gt\":…}}."),
        (r#"{"$regex":"x"}"#, "`$regex` is not supported. Use `$contains` for a part of a string."),
        (r#"{"$xor":[]}"#, "`$xor` is not an operator. Operators outside of a field: $and, $or, $nor, $not."),
        (r#"{"category":{"$regex":"^t","$options":"i"}}"#, "`category.$regex` is not supported. Use `$contains`"),
        (r#"{"category":{"$options":"i"}}"#, "`category.$options` is not supported. Use `$contains`"),
        (r#"{"category":{"$all":["a"]}}"#, "`category.$all` is not supported. Use one `$eq` for each value:"),
        (r#"{"category":{"$elemMatch":{"$eq":"a"}}}"#, "`category.$elemMatch` is not supported. Use `$eq` or `$in`:"),
        (
            r#"{"category":{"$size":2}}"#,
            "`category.$size` is not supported. Use `$exists` to find arrays that have elements.",
        ),
        (
            r#"{"version":{"$date":"2026-01-31"}}"#,
            "`version.$date` is not supported. Compare dates as strings of equal form",
        ),
        (r#"{"category":{"$like":"t%"}}"#, "`category.$like` is not supported. Use `$contains`"),
        (
            r#"{"category":{"$and":[]}}"#,
            "`category.$and` combines filters, not tests of a field. Write {\"$and\":[{\"field\":…}",
        ),
        (
            r#"{"category":{"$EQ":"a"}}"#,
            "`category.$EQ` is not an operator. Operators of a field: $eq, $ne, $gt, $gte, $lt,",
        ),
        (r#"{"author":{"name":"Ada","$exists":true}}"#, "`author` mixes operators and nested fields. Use `$and`"),
        (
            r#"{"version":{"$not":{"$gt":1}}}"#,
            "`version.$not` negates a filter, not the test of a field. Use `$ne` or `$nin`, or write {\"$not\":{\"field\":…}}.",
        ),
        (r#"{"category":{"$eq":{"a":1}}}"#, "`category.$eq` must be a string (got an object)."),
    ] {
        let error = argument(json).expect_err(json);
        assert!(error.starts_with(&format!("Argument `filter`: {message}")), "{json}\n{error}");
        // A text gets the same message as its object.
        if json.starts_with('{') {
            assert_eq!(argument(&Value::from(json).to_string()), Err(error), "{json}");
        }
    }
}

/// Returns a filter with `count` tests.
fn of_tests(count: usize) -> String {
    json!({ "$or": vec![json!({ "version": 1 }); count] }).to_string()
}

/// R14: each limit is exact, and the message has the number.
#[test]
fn limits_are_exact() {
    let text = |bytes: usize| json!({ "category": "é".repeat(bytes / 2) + &"x".repeat(bytes % 2) }).to_string();
    let list = |count: usize| json!({ "version": vec![1; count] }).to_string();
    let bytes = |total: usize| {
        let mut values = vec!["x".repeat(400); 4];
        let rest = total - json!({ "category": values }).to_string().len() - 3;
        values.push("x".repeat(rest));
        json!({ "category": values }).to_string()
    };
    for (within, beyond, message) in [
        (of_tests(10), of_tests(11), "the filter must have at most 10 tests. Use `$in`"),
        (nested(5), nested(6), "objects must be nested at most 5 deep. Use `$in` for several values, and a path"),
        (text(512), text(513), "`category` must have at most 512 bytes (got 513)."),
        (list(100), list(101), "`version` must be a list of at most 100 values (got 101)."),
        (
            bytes(2048),
            bytes(2049),
            "the filter must have at most 2048 bytes as JSON (got 2049). Use fewer tests or values.",
        ),
    ] {
        for (within, beyond) in
            [(within.clone(), beyond.clone()), (Value::from(within).to_string(), Value::from(beyond).to_string())]
        {
            assert!(argument(&within).is_ok(), "{within}: {:?}", argument(&within));
            let error = argument(&beyond).expect_err("beyond the limit");
            assert!(error.starts_with(&format!("Argument `filter`: {message}")), "{beyond}\n{error}");
        }
    }
    // Spaces between the parts do not count.
    assert!(argument(&format!("{{{}\"version\":1}}", " ".repeat(5000))).is_ok());
    assert!(argument(&json!(format!("{{{}\"version\":1}}", "\n".repeat(5000))).to_string()).is_ok());
}

/// R14: a filter has two levels, as in the published schema. Each logical operator in another one is rejected with its place.
#[test]
fn logical_operators_contain_only_tests() {
    let test = || json!({ "draft": true });
    for outer in ["$and", "$or", "$nor", "$not"] {
        let of =
            |filter: Value| if outer == "$not" { json!({ outer: filter }) } else { json!({ outer: [test(), filter] }) };
        assert!(argument(&of(json!({ "draft": true, "version": { "$gt": 1 } })).to_string()).is_ok(), "{outer}");
        for (inner, operand) in
            [("$and", json!([test()])), ("$or", json!([test()])), ("$nor", json!([test()])), ("$not", test())]
        {
            let json = of(json!({ inner: operand })).to_string();
            let place = if outer == "$not" { format!("$not.{inner}") } else { format!("{outer}[1].{inner}") };
            let message = format!(
                "Argument `filter`: `{place}` is nested too deeply: `$and`, `$or`, `$nor` and `$not` contain only tests of \
                 fields. All tests of an object must hold. Use `$in` for several values, and `$ne` or `$nin` to negate a test."
            );
            assert_eq!(argument(&json), Err(message.clone()), "{json}");
            assert_eq!(argument(&Value::from(json).to_string()), Err(message));
        }
    }
}

/// Returns a filter whose objects are nested to this depth: 5 or 6.
fn nested(depth: usize) -> String {
    let test = if depth == 5 { json!("x") } else { json!({ "$eq": "x" }) };
    json!({ "$and": [{ "rights": { "holder": { "address": { "city": test } } } }] }).to_string()
}

/// R107: large and deep input is rejected with a short message. The test would not end if the time were quadratic.
#[test]
fn large_and_deep_input_is_rejected() {
    for json in [
        "{\"$not\":".repeat(90) + "{\"draft\":true}" + &"}".repeat(90),
        "[".repeat(90) + &"]".repeat(90),
        of_tests(20_000),
        json!({ "version": vec![1; 100_000] }).to_string(),
        json!({ "category": "x".repeat(400_000) }).to_string(),
        json!({ "x".repeat(400_000): 1 }).to_string(),
        json!("[".repeat(400_000)).to_string(),
        json!(" ".repeat(400_000)).to_string(),
        json!("\\\"".repeat(100_000)).to_string(),
        json!(format!("{{\"category\":{}}}", "{\"$not\":".repeat(200))).to_string(),
    ] {
        let error = argument(&json).expect_err("rejected");
        assert!(error.len() < 400, "{error}");
    }
}

/// R107: names and values with special characters reach neither the condition nor the message unescaped.
#[test]
fn special_characters_stay_values() {
    for text in ["'); DROP TABLE chunks; --", "\" OR 1=1", "$.a", "?1", "%_", "\0", "\u{202e}", "NEAR(", "*^:-(){}"] {
        let filter = argument(&json!({ "category": { "$contains": text } }).to_string()).expect("valid");
        let condition = filter.to_sql("c.metadata", 3).expect("valid");
        assert_eq!(condition.text, Filter::contains("category", "x").to_sql("c.metadata", 3).expect("valid").text);
        let values: Value = serde_json::from_str(&condition.values).expect("JSON");
        assert_eq!(values, json!(["$.\"category\"", [text]]));
        let error = argument(&json!({ text: 1 }).to_string()).expect_err("no name");
        assert!(!error.contains(char::is_control) && !error.contains('\u{202e}'), "{error:?}");
    }
}
