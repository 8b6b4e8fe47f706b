//! Native tests of the example.

// A test may panic.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use edge_mcp::Endpoint;
use edge_mcp::auth::{PresentedToken, Principal, TokenRefusal};
use edge_mcp::check::SizeLimits;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Answer, Client, TestHost, TestTasks};
use edge_mcp_test_support::golden;
use serde_json::{Value, json};

use crate::{Paging, parcels, server};

/// A change of tools/list must also change the golden file.
#[test]
fn published_tools_equal_the_golden_file() {
    golden::compare_tools(&endpoint(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.golden.json"));
}

/// Directories and clients accept the server, with these exceptions: the conformance suite prescribes the schema of one tool and the names of
/// several, and the icon shows that a `data:` URL is possible.
#[test]
fn it_can_be_published() {
    let check = endpoint().open_to_the_public().check(SizeLimits::default()).expect("a server");
    let is_prescribed = |place: &str| place.starts_with("tool `test_") || place == "tool `json_schema_2020_12_tool`";
    let problems = check.problems.iter().map(|problem| (problem.rule.name, problem.place.as_str()));
    let problems: Vec<_> = problems.filter(|(rule, place)| *rule != "name-prefix" || !is_prescribed(place)).collect();
    let prescribed = "tool `json_schema_2020_12_tool`";
    let accepted = [
        ("argument-description", prescribed),
        ("root", prescribed),
        ("dialect", prescribed),
        ("server-json", "server"),
    ];
    assert_eq!(problems, accepted, "{check}");
}

fn endpoint() -> Endpoint {
    let endpoint = testing::endpoint(server).task_objects(TestTasks::new(&TestHost::new()));
    endpoint.state(Paging { page_size: None }).state(parcels::client().expect("a client"))
}

/// Sends a request as a client of 2025-11-25. The server cannot ask such a client for input.
fn request(method: &str, params: Value) -> Answer {
    testing::run(Client::new(&endpoint()).revision(Revision::V2025_11_25).request(method, params))
}

fn call(tool: &str, arguments: Value) -> Answer {
    testing::run(testing::call(&endpoint(), tool, arguments))
}

/// Calls a tool, and answers its question `key` with `answer`.
fn call_answering(key: &str, answer: &Value, tool: &str, arguments: Value) -> Answer {
    testing::run(Client::new(&endpoint()).reply(key, answer.clone()).call(tool, arguments))
}

#[test]
fn track_parcel_calls_another_server() {
    for (number, text) in [(7, "Parcel 7 is in Paris."), (8, "Parcel 8 is in Lyon.")] {
        assert_eq!(call("track-parcel", json!({ "number": number })).text(), text);
    }
}

#[test]
fn search_passages_returns_the_best_passages_first() {
    let found = |arguments: Value| {
        let answer = call("search-passages", arguments);
        assert_eq!(answer.structured()["retrieval"], "lexical");
        let sources = answer.structured()["sources"].as_array().expect("a list").clone();
        sources.iter().map(|source| json!([source["id"], source["score"]])).collect::<Vec<_>>()
    };
    for (arguments, expected) in [
        (json!({ "queryText": "PLAIN text" }), vec![json!(["text#0", 1.0])]),
        (json!({ "queryText": "content text" }), vec![json!(["text#0", 0.5]), json!(["data#0", 0.5])]),
        (
            json!({ "queryText": "one content file" }),
            vec![json!(["data#0", 2.0 / 3.0]), json!(["several#0", 1.0 / 3.0])],
        ),
        (json!({ "queryText": "one content file", "topK": 1 }), vec![json!(["data#0", 2.0 / 3.0])]),
        (json!({ "queryText": "three" }), vec![]),
    ] {
        assert_eq!(found(arguments.clone()), expected, "{arguments}");
    }
    let failed = call("search-passages", json!({ "queryText": "?" }));
    assert!(failed.is_error() && failed.text().contains("`queryText` must contain a word"), "{failed:?}");
}

#[test]
fn get_weather_has_all_metadata_and_returns_sample_data() {
    let tools = request("tools/list", json!({}));
    let tools = tools.result()["tools"].as_array().expect("tools");
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
        assert_eq!(call("get-weather", json!({ "location": place })).structured()["weather"], weather);
    }
    assert_eq!(call("get-weather", json!({})).result()["isError"], true, "a location is required");
}

#[test]
fn resources_are_read_by_uri() {
    for (uri, content) in [
        ("weather://current", "Paris: sunny"),
        ("weather://London?days=2", "London: rainy for 2 days"),
        ("weather://Lima", "Lima: sunny for 1 days"),
        ("file://data/123.txt", "This is the content of the data file."),
    ] {
        let read = request("resources/read", json!({ "uri": uri }));
        let expected = json!([{ "uri": uri, "mimeType": "text/plain", "text": content }]);
        assert_eq!(read.result()["contents"], expected, "{uri}");
    }
    for uri in ["weather://Atlantis", "file://data/124.txt", "file://data/"] {
        let read = request("resources/read", json!({ "uri": uri }));
        assert_eq!(
            (&read.json()["error"]["code"], &read.json()["error"]["data"]["uri"]),
            (&json!(-32002), &json!(uri))
        );
    }
    let listed = request("resources/list", json!({}));
    let listed = &listed.result()["resources"];
    let file = json!({ "uri": "file://data/123.txt", "name": "Data File", "mimeType": "text/plain" });
    assert!(listed.as_array().expect("resources").contains(&file), "{listed}");
}

#[test]
fn clients_can_choose_the_version_of_a_prompt() {
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
        assert_eq!(got.text(), expected, "{name} {version:?}");
    }
    for params in [
        json!({ "name": "analyze-code", "version": "v3", "arguments": { "code": "x" } }),
        json!({ "name": "analyze-code" }),
        json!({ "name": "analyse-code", "arguments": { "code": "x" } }),
    ] {
        assert_eq!(request("prompts/get", params).error().map(|(code, _)| code), Some(-32602));
    }
    let current = request("prompts/get", json!({ "name": "current" }));
    assert_eq!(current.text(), "It is sunny in Paris. What should one wear?");
}

#[test]
fn the_contact_tool_handles_each_outcome_of_its_question() {
    let asked = call("collectContactInfo", json!({ "reason": "We send a card." }));
    let question = &asked.questions()["contact"]["params"];
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
        let answer = call_answering("contact", &answer, "collectContactInfo", json!({}));
        assert_eq!(answer.questions()["contact"]["params"]["message"], "Please provide your contact information");
        assert_eq!((answer.text(), answer.is_error()), (expected, false));
    }
    let legacy = request("tools/call", json!({ "name": "collectContactInfo", "arguments": {} }));
    assert!(legacy.is_error() && legacy.text().contains("the client cannot be asked"), "{legacy:?}");
}

/// Accepts every token and returns Ada as the caller.
async fn ada(_: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
    let mut ada = Principal::new("ada");
    ada.claims.insert("email".into(), json!("ada@example.com"));
    Ok(ada)
}

#[test]
fn get_user_data_returns_the_caller_or_an_error() {
    let without_auth = call("get-user-data", json!({}));
    assert!(without_auth.is_error() && without_auth.text().starts_with("Authentication required"), "{without_auth:?}");
    let with_auth = endpoint().auth(ada);
    let known = testing::run(Client::new(&with_auth).token("x").call("get-user-data", json!({})));
    assert_eq!(*known.structured(), json!({ "userId": "ada", "email": "ada@example.com" }));
    let refused = testing::run(testing::call(&with_auth, "get-user-data", json!({})));
    assert!(refused.error().is_some_and(|(_, text)| text.contains("access token")), "{refused:?}");
}

#[test]
fn the_guide_answers_by_keyword() {
    for (question, expected) in [
        ("What is the WEATHER like?", "get-weather"),
        ("Who am I?", "get-user-data"),
        ("What about code?", "analyze-code"),
        ("Sing!", "Ask for one of these: weather, contact, who, outing, code."),
    ] {
        let answer = call("ask_guide", json!({ "message": question }));
        assert!(answer.text().contains(expected) && !answer.is_error(), "{answer:?}");
    }
}

/// In sunny weather, the workflow asks the client, and the plan contains the answer.
#[test]
fn the_plan_of_an_outing_depends_on_the_weather() {
    let indoors = call("run_outing", json!({ "city": "London" }));
    assert_eq!(indoors.structured()["plan"], "Visit a museum in London.");
    for (answer, plan) in [
        (json!({ "action": "accept", "content": { "hours": 3 } }), "Walk through Lisbon for 3 hours."),
        (json!({ "action": "decline" }), "Sit in the sun in Lisbon."),
        (json!({ "action": "cancel" }), "Sit in the sun in Lisbon."),
    ] {
        let answer = call_answering("walk", &answer, "run_outing", json!({ "city": "Lisbon" }));
        let question = answer.questions()["walk"]["params"]["message"].as_str().unwrap_or_default();
        assert!(question.contains("The sun shines in Lisbon"), "{answer:?}");
        assert_eq!(answer.structured()["plan"], plan);
    }
}
