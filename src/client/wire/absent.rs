//! Null members of results.
//!
//! Some servers write a member without a value as null. No member of the protocol has the value null, so the client reads such a member as
//! absent.

use edge_json::write::{self, literal};
use edge_json::{Document, JsonLimits, Kind, Value};
use serde_json::value::RawValue;

use crate::protocol::revision::Era;

/// The members that can have any JSON inside. A null inside them is a value.
const FREE: [&str; 6] = [STRUCTURED, "_meta", "inputSchema", "outputSchema", "requestedSchema", "input"];
/// In 2026-07-28, null is a possible structured content.
const STRUCTURED: &str = "structuredContent";

/// Returns a result, or the parameters of a question, without its null members.
pub(in crate::client) fn without_nulls(json: Box<RawValue>, era: Era) -> Box<RawValue> {
    if !json.get().contains("null") {
        return json;
    }
    let written = Document::parse(json.get().as_bytes(), JsonLimits::MOST).map(|document| {
        let mut text = String::with_capacity(json.get().len());
        write(document.root(), era, &mut text);
        write::raw_value(text)
    });
    written.unwrap_or(json)
}

/// Writes a value without its null members. The recursion is bounded by the nesting of JSON.
fn write(value: Value<'_>, era: Era, text: &mut String) {
    match value.kind() {
        Kind::Object => {
            let is_present = |name: &str, member: Value<'_>| {
                member.kind() != Kind::Null || (name == STRUCTURED && era == Era::Modern)
            };
            text.push('{');
            for (nth, (name, member)) in value.members().filter(|(name, member)| is_present(name, *member)).enumerate()
            {
                text.push_str(if nth > 0 { "," } else { "" });
                text.push_str(literal(&name).get());
                text.push(':');
                if FREE.contains(&&*name) {
                    text.push_str(member.text());
                } else {
                    write(member, era, text);
                }
            }
            text.push('}');
        }
        Kind::Array => {
            text.push('[');
            for (nth, item) in value.items().enumerate() {
                text.push_str(if nth > 0 { "," } else { "" });
                write(item, era, text);
            }
            text.push(']');
        }
        _ => text.push_str(value.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_members_are_absent_except_where_any_json_is_possible() {
        for (json, modern, legacy) in [
            (r#"{ "a" : 1.0 }"#, r#"{ "a" : 1.0 }"#, r#"{ "a" : 1.0 }"#),
            (
                r#"{"a":null,"b":[{"c":null,"d":1.50},null]}"#,
                r#"{"b":[{"d":1.50},null]}"#,
                r#"{"b":[{"d":1.50},null]}"#,
            ),
            (
                r#"{"structuredContent":null,"_meta":{"x":null},"\"":"null"}"#,
                r#"{"structuredContent":null,"_meta":{"x":null},"\"":"null"}"#,
                r#"{"_meta":{"x":null},"\"":"null"}"#,
            ),
            (
                r#"{"inputSchema":{"default":null},"outputSchema":null,"_meta":null}"#,
                r#"{"inputSchema":{"default":null}}"#,
                r#"{"inputSchema":{"default":null}}"#,
            ),
        ] {
            for (era, expected) in [(Era::Modern, modern), (Era::Legacy, legacy)] {
                let raw = RawValue::from_string(json.to_owned()).expect("JSON");
                assert_eq!(without_nulls(raw, era).get(), expected, "{json}");
            }
        }
    }
}
