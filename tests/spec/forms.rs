//! Forms whose schemas a program makes while it runs.

use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, McpServer, Tool};
use serde_json::{Value, json};

/// Returns an endpoint whose tool asks with the form in its arguments, and returns the answer.
fn endpoint() -> Endpoint {
    testing::endpoint(|_| {
        let ask = async |form: Value, cx: Context| {
            Ok::<_, HandlerError>(match cx.elicit_form("form", "Please fill in.", &form).await? {
                FormAnswer::Accepted(answer) => answer.to_string(),
                other => format!("{other:?}"),
            })
        };
        let any = json!({ "type": "object" });
        McpServer::builder("s", "1").tool(Tool::with_schema("ask", "Asks.", &any, None, ask)).build()
    })
}

fn form(field: &Value) -> Value {
    json!({ "type": "object", "properties": { "field": field }, "required": ["field"] })
}

/// The answer is checked against the form: its types, limits, formats and choices.
#[test]
fn a_form_made_at_run_time_checks_its_answer() {
    let endpoint = endpoint();
    let titled = json!([{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }]);
    for (field, right, wrong) in [
        (json!({ "type": "string", "title": "Name", "minLength": 2, "maxLength": 3 }), json!("Ada"), json!("A")),
        (json!({ "type": "string", "format": "email" }), json!("ada@example.com"), json!("ada")),
        (json!({ "type": "string", "enum": ["a", "b"], "default": "a" }), json!("b"), json!("c")),
        (json!({ "type": "string", "oneOf": titled }), json!("b"), json!("c")),
        (json!({ "type": "integer", "minimum": 1, "maximum": 9 }), json!(9), json!(10)),
        (json!({ "type": "number" }), json!(1.5), json!("1.5")),
        (json!({ "type": "boolean", "description": "Really?" }), json!(true), json!(1)),
        (
            json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "maxItems": 1 }),
            json!(["a"]),
            json!(["a", "b"]),
        ),
        (json!({ "type": "array", "items": { "anyOf": titled } }), json!(["b"]), json!(["c"])),
    ] {
        let form = form(&field);
        let ask = |content: &Value| {
            // A member that the form does not have is ignored.
            let client = Client::new(&endpoint).answer("form", json!({ "field": content, "other": 1 }));
            testing::run(async { client.call("ask", form.clone()).await })
        };
        let answer = ask(&right);
        assert_eq!(answer.text(), json!({ "field": right }).to_string(), "{field}");
        assert_eq!(answer.questions()["form"]["params"]["requestedSchema"], form);
        assert_eq!(ask(&wrong).error().map(|(code, _)| code), Some(-32602), "{field}");
    }
    let declined = testing::run(Client::new(&endpoint).decline("form").call("ask", form(&json!({ "type": "number" }))));
    assert_eq!(declined.text(), "Declined");
}

/// A form outside the subset of the specification is not sent. The log names the field.
#[test]
fn a_form_outside_the_subset_is_a_fault_of_the_server() {
    let endpoint = endpoint();
    for (form, problem) in [
        (json!({ "type": "array" }), "a form must be an object schema"),
        (json!({ "type": "object" }), "a form must have `properties`, which is an object"),
        (json!({ "type": "object", "properties": {}, "title": "T" }), "a form does not support the keyword `title`"),
        (json!({ "type": "object", "properties": {}, "required": ["a"] }), "which is not one of its fields"),
        (
            form(&json!({ "type": "object" })),
            "field `field`: its `type` must be string, number, integer, boolean or array",
        ),
        (form(&json!({ "enum": ["a"] })), "field `field`: its `type` must be"),
        (form(&json!({ "type": "string", "pattern": "a" })), "field `field`: it has the keyword `pattern`"),
        (form(&json!({ "type": "string", "format": "ipv4" })), "its `format` must be email, uri, date or date-time"),
        (form(&json!({ "type": "string", "enum": [1] })), "its choices must be strings in `enum`, or objects"),
        (
            form(&json!({ "type": "string", "oneOf": [{ "const": "a" }] })),
            "its choices must be strings in `enum`, or objects",
        ),
        (form(&json!({ "type": "array" })), "its `items` must have `enum` or `anyOf`"),
        (form(&json!({ "type": "array", "items": { "type": "string" } })), "its `items` must have `enum` or `anyOf`"),
        (form(&json!({ "type": "array", "items": { "type": "array", "enum": [[]] } })), "its choices must be strings"),
        (form(&json!({ "type": "integer", "minimum": "1" })), "minimum"),
    ] {
        let host = TestHost::new();
        let answer =
            testing::run(Client::new(&endpoint).host(&host).answer("form", json!({})).call("ask", form.clone()));
        assert!(
            answer.error().is_some_and(|(code, _)| code == -32603) && answer.questions().is_empty(),
            "{form}: {answer:?}"
        );
        assert!(host.log_text().contains(problem), "{form}: {}", host.log_text());
    }
}
