//! Native tests of the example.

// A test may panic.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../../tests/golden/mod.rs"]
mod golden;

use std::path::Path;

use edge_mcp::{Endpoint, Presented, Principal, StateKeys, TokenRefusal};
use serde_json::{Value, json};

use crate::{Paging, server};

/// tools/list changes only together with its golden file.
#[test]
fn tools_are_published_as_before() {
    let endpoint = Endpoint::new(server).state(Paging { page_size: None }).without_auth();
    golden::compare_tools(&endpoint, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.golden.json"));
}

fn endpoint() -> Endpoint {
    let keys = StateKeys::from_text("MCP_STATE_KEY", Some("a-key-of-thirty-two-bytes-or-more")).expect("a key");
    Endpoint::new(server).state(Paging { page_size: None }).without_auth().without_rate_limit().state_keys(keys)
}

fn request(method: &str, params: Value) -> Value {
    golden::ask(&endpoint(), method, &params)
}

/// Calls a tool as a client that supports elicitation by form.
fn call(tool: &str, arguments: Value, more: Value) -> Value {
    const NEWEST: &str = "2026-07-28";
    let mut params = json!({ "name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    } });
    let members = more.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
    params.as_object_mut().expect("an object").extend(members);
    let headers = [("MCP-Protocol-Version", NEWEST), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
    golden::ask_with(&endpoint(), &headers, "tools/call", &params)["result"].take()
}

fn text(result: &Value) -> (&str, bool) {
    (result["content"][0]["text"].as_str().unwrap_or_default(), result["isError"] == true)
}

#[test]
fn the_weather_is_described_and_made_up() {
    let tools = request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().expect("tools");
    let tool = tools.iter().find(|tool| tool["name"] == "get-weather").expect("the tool");
    assert_eq!(
        (&tool["annotations"], &tool["_meta"]),
        (
            &json!({
                "title": "Weather Lookup", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": true,
            }),
            &json!({ "version": "1.0.0", "category": "weather" })
        )
    );
    for (place, weather) in [("Paris", "sunny"), ("London", "rainy"), ("48.85, 2.35", "sunny")] {
        assert_eq!(
            call("get-weather", json!({ "location": place }), json!({}))["structuredContent"]["weather"],
            weather
        );
    }
    assert!(text(&call("get-weather", json!({}), json!({}))).1, "a location is required");
}

#[test]
fn resources_are_read_by_their_uris() {
    for (uri, content) in [
        ("weather://current", "Paris: sunny"),
        ("weather://London?days=2", "London: rainy for 2 days"),
        ("weather://Lima", "Lima: sunny for 1 days"),
        ("file://data/123.txt", "This is the content of the data file."),
    ] {
        let read = request("resources/read", json!({ "uri": uri }));
        let expected = json!([{ "uri": uri, "mimeType": "text/plain", "text": content }]);
        assert_eq!(read["result"]["contents"], expected, "{uri}");
    }
    for uri in ["weather://Atlantis", "file://data/124.txt", "file://data/"] {
        let read = request("resources/read", json!({ "uri": uri }));
        assert_eq!((&read["error"]["code"], &read["error"]["data"]["uri"]), (&json!(-32002), &json!(uri)));
    }
    let listed = request("resources/list", json!({}))["result"]["resources"].take();
    let file = json!({ "uri": "file://data/123.txt", "name": "Data File", "mimeType": "text/plain" });
    assert!(listed.as_array().expect("resources").contains(&file), "{listed}");
}

#[test]
fn a_version_of_a_prompt_is_chosen() {
    let first = "Analyze this code: x";
    for (name, version, expected) in [
        ("analyze-code", None, first),
        ("analyze-code", Some("v1"), first),
        ("analyze-code", Some("v2"), "Analyze this code with the new logic: x"),
        ("analyze-code@v2", None, "Analyze this code with the new logic: x"),
    ] {
        let mut params = json!({ "name": name, "arguments": { "code": "x" } });
        params.as_object_mut().expect("an object").extend(version.map(|version| ("version".into(), json!(version))));
        let got = request("prompts/get", params);
        assert_eq!(got["result"]["messages"][0]["content"]["text"], expected, "{name} {version:?}");
    }
    for params in [
        json!({ "name": "analyze-code", "version": "v3", "arguments": { "code": "x" } }),
        json!({ "name": "analyze-code" }),
        json!({ "name": "analyse-code", "arguments": { "code": "x" } }),
    ] {
        assert_eq!(request("prompts/get", params)["error"]["code"], -32602);
    }
    let current = request("prompts/get", json!({ "name": "current" }));
    assert_eq!(current["result"]["messages"][0]["content"]["text"], "It is sunny in Paris. What should one wear?");
}

/// The tool handles each outcome of the question.
#[test]
fn contact_information_is_collected_or_not() {
    let asked = call("collectContactInfo", json!({ "reason": "We send a card." }), json!({}));
    let question = &asked["inputRequests"]["contact"]["params"];
    assert_eq!(question["message"], "Please provide your contact information. We send a card.");
    assert_eq!(
        question["requestedSchema"],
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "title": "Full Name", "description": "Your full name" },
                "email": { "type": "string", "title": "Email Address", "description": "Your email address", "format": "email" },
                "phone": { "type": "string", "title": "Phone Number", "description": "Your phone number (optional)" },
            },
            "required": ["name", "email"],
        })
    );
    let content = json!({ "name": "Ada", "email": "ada@example.com" });
    for (answer, expected) in [
        (
            json!({ "action": "accept", "content": content }),
            "Contact information collected: {\n  \"name\": \"Ada\",\n  \"email\": \"ada@example.com\"\n}",
        ),
        (json!({ "action": "decline" }), "Contact information collection was declined by the user."),
        (json!({ "action": "cancel" }), "Contact information collection was cancelled by the user."),
    ] {
        let asked = call("collectContactInfo", json!({}), json!({}));
        assert_eq!(asked["inputRequests"]["contact"]["params"]["message"], "Please provide your contact information");
        let more = json!({ "inputResponses": { "contact": answer }, "requestState": asked["requestState"] });
        assert_eq!(text(&call("collectContactInfo", json!({}), more)), (expected, false));
    }
    let legacy = request("tools/call", json!({ "name": "collectContactInfo", "arguments": {} }))["result"].take();
    assert!(text(&legacy).1 && text(&legacy).0.contains("elicitation needs a session"), "{legacy}");
}

/// Accepts every token as Ada's.
async fn ada(_: Presented<'_>) -> Result<Principal, TokenRefusal> {
    let mut ada = Principal::new("ada");
    ada.claims.insert("email".into(), json!("ada@example.com"));
    Ok(ada)
}

#[test]
fn a_tool_knows_who_calls_or_says_that_it_does_not() {
    let params = json!({ "name": "get-user-data", "arguments": {} });
    let nobody = golden::ask(&endpoint(), "tools/call", &params);
    let (says, is_error) = text(&nobody["result"]);
    assert!(is_error && says.starts_with("Authentication required"), "{nobody}");
    let guarded = Endpoint::new(server).state(Paging { page_size: None }).auth(ada).without_rate_limit();
    let known = golden::ask_with(&guarded, &[("Authorization", "Bearer x")], "tools/call", &params);
    assert_eq!(known["result"]["structuredContent"], json!({ "userId": "ada", "email": "ada@example.com" }));
    let refused = golden::ask(&guarded, "tools/call", &params);
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("access token")), "{refused}");
}

#[test]
fn the_guide_knows_its_answers() {
    for (question, expected) in [
        ("What is the WEATHER like?", "get-weather"),
        ("Who am I?", "get-user-data"),
        ("What about code?", "analyze-code"),
        ("Sing!", "Ask for one of these: weather, contact, who, outing, code."),
    ] {
        let answer = call("ask_guide", json!({ "message": question }), json!({}));
        assert!(text(&answer).0.contains(expected) && !text(&answer).1, "{answer}");
    }
}

/// In sunny weather the workflow asks the client, and the answer is in the plan.
#[test]
fn an_outing_is_planned_by_the_weather() {
    let indoors = call("run_outing", json!({ "city": "London" }), json!({}));
    assert_eq!(indoors["structuredContent"]["plan"], "Visit a museum in London.");
    for (answer, plan) in [
        (json!({ "action": "accept", "content": { "hours": 3 } }), "Walk through Lisbon for 3 hours."),
        (json!({ "action": "decline" }), "Sit in the sun in Lisbon."),
        (json!({ "action": "cancel" }), "Sit in the sun in Lisbon."),
    ] {
        let place = || json!({ "city": "Lisbon" });
        let asked = call("run_outing", place(), json!({}));
        let question = asked["inputRequests"]["walk"]["params"]["message"].as_str().unwrap_or_default();
        assert!(question.contains("The sun shines in Lisbon"), "{asked}");
        let more = json!({ "inputResponses": { "walk": answer }, "requestState": asked["requestState"] });
        assert_eq!(call("run_outing", place(), more)["structuredContent"]["plan"], plan);
    }
}
