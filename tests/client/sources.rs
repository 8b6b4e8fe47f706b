//! Tools of other servers as tools of a server.

use edge_mcp::client::{InProcess, McpClient, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Endpoint, McpServer, Tool};
use serde_json::json;

use crate::calls::track_tool;
use crate::peer::{Answer, Peer, result};

fn parcels() -> Upstream {
    let parcels = InProcess::new(testing::endpoint(|_| {
        let lose = Tool::new("lose", "Loses a parcel.", || async {});
        McpServer::builder("parcels", "1.0.0").tool(track_tool().read_only()).tool(lose).build()
    }));
    Upstream::via("http://localhost/mcp", parcels).expect("a URL")
}

/// Serves the tools of `client` next to a tool of the server itself.
fn desk(client: McpClient, is_named: bool) -> Endpoint {
    testing::endpoint(move |_| {
        let tools = if is_named { client.tools(["parcels_track", "weather_now"]) } else { client.read_only_tools() };
        McpServer::builder("desk", "1.0.0")
            .tool(Tool::new("greet", "Says hello.", || async { "Hello" }))
            .source(tools)
            .build()
    })
}

#[test]
fn tools_of_another_server_are_listed_and_called() {
    let client = McpClient::builder("desk", "1.0.0").server("parcels", parcels()).build().expect("a client");
    let endpoint = desk(client, true);
    testing::run(async {
        let client = Client::new(&endpoint);
        let tools = client.request("tools/list", json!({})).await;
        let names: Vec<_> =
            tools.result()["tools"].as_array().expect("a list").iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(names, ["greet", "parcels_track"]);
        let schema = &tools.result()["tools"][1]["inputSchema"];
        assert_eq!(schema["properties"]["number"]["type"], "integer");
        let answer = client.call("parcels_track", json!({ "number": 7 })).await;
        assert_eq!((answer.text(), answer.is_error()), ("Parcel 7 is in Lyon.", false));
        let answer = client.call("parcels_track", json!({ "number": "x" })).await;
        assert!(answer.is_error() && answer.text().contains("`number` must be an integer"), "{answer:?}");
        let answer = client.call("parcels_lose", json!({})).await;
        assert_eq!(
            answer.error().map(|(_, message)| message),
            Some("Unknown tool `parcels_lose`. Call tools/list for the available tools.")
        );
    });
}

#[test]
fn without_names_only_read_only_tools_of_trusted_servers_are_served() {
    const LIST: &str = "Call tools/list for the available tools.";
    for (upstream, is_trusted) in [(parcels(), false), (parcels().trusted(), true)] {
        let client = McpClient::builder("desk", "1.0.0").server("parcels", upstream).build().expect("a client");
        let endpoint = desk(client, false);
        testing::run(async {
            let client = Client::new(&endpoint);
            let tools = client.request("tools/list", json!({})).await;
            let expected = if is_trusted { vec!["greet", "parcels_track"] } else { vec!["greet"] };
            assert_eq!(tools.names(), expected);
            let track = client.call("parcels_track", json!({ "number": 7 })).await;
            let lose = client.call("parcels_lose", json!({})).await;
            if is_trusted {
                assert_eq!(track.text(), "Parcel 7 is in Lyon.");
                assert_eq!(lose.text(), "The server `parcels` has no read-only tool `lose`.");
            } else {
                assert_eq!(track.error(), Some((-32_602, &*format!("Unknown tool `parcels_track`. {LIST}"))));
                assert_eq!(lose.error(), Some((-32_602, &*format!("Unknown tool `parcels_lose`. {LIST}"))));
            }
        });
    }
}

/// A source asks only the servers that its names refer to.
#[test]
fn only_the_servers_of_the_names_are_asked() {
    let other = Peer::new([]);
    let client = McpClient::builder("desk", "1.0.0")
        .server("parcels", parcels())
        .server("other", Upstream::via("https://other.example/mcp", other.clone()).expect("a URL"))
        .build()
        .expect("a client");
    let endpoint = desk(client, true);
    let tools = testing::run(Client::new(&endpoint).request("tools/list", json!({})));
    assert_eq!((tools.names(), other.requests().len()), (vec!["greet", "parcels_track"], 0));
}

/// Returns an endpoint with tools of a scripted server, which lists them and then gives the answers.
fn scripted(tools: &serde_json::Value, answers: impl IntoIterator<Item = serde_json::Value>) -> (Endpoint, Peer) {
    let list = json!({ "tools": tools, "resultType": "complete", "ttlMs": 60_000, "cacheScope": "private" });
    let peer = Peer::new([result(list)].into_iter().chain(answers.into_iter().map(result)));
    let upstream = Upstream::via("https://parcels.example/mcp", peer.clone()).expect("a URL");
    let client = McpClient::builder("desk", "1.0.0").server("parcels", upstream.revision(Revision::V2026_07_28));
    let client = client.build().expect("a client");
    let names = tools
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| format!("parcels_{}", tool["name"].as_str().expect("a name")));
    let names: Vec<_> = names.collect();
    let endpoint =
        testing::endpoint(move |_| McpServer::builder("desk", "1.0.0").source(client.tools(names.clone())).build());
    (endpoint, peer)
}

/// Output schemas are published. Up to 2025-11-25, an output schema must be for objects, and structured content must be an object.
#[test]
fn output_schemas_of_another_server_are_published() {
    let tools = json!([
        { "name": "track", "inputSchema": {}, "outputSchema": { "type": "object", "required": ["city"] } },
        { "name": "count", "inputSchema": {}, "outputSchema": { "type": "integer" } },
    ]);
    for revision in Revision::ALL {
        let done = |structured: serde_json::Value| json!({ "content": [], "structuredContent": structured, "resultType": "complete" });
        let (endpoint, _) = scripted(&tools, [done(json!({ "city": 1 })), done(json!(7)), done(json!("x"))]);
        testing::run(async {
            let client = Client::new(&endpoint).revision(revision);
            let list = client.list("tools").await;
            let is_modern = revision == Revision::V2026_07_28;
            let schemas = [0, 1].map(|nth| list.result()["tools"][nth]["outputSchema"].clone());
            let integer = if is_modern { json!({ "type": "integer" }) } else { json!(null) };
            assert_eq!(schemas, [json!({ "type": "object", "required": ["city"] }), integer], "{revision}");
            let track = client.call("parcels_track", json!({})).await;
            assert_eq!(track.result()["structuredContent"], json!({ "city": 1 }), "{revision}");
            let count = client.call("parcels_count", json!({})).await;
            let expected = if is_modern { json!(7) } else { json!({ "result": 7 }) };
            assert_eq!(count.result()["structuredContent"], expected, "{revision}");
            // The client checks each result.
            let count = client.call("parcels_count", json!({})).await;
            assert!(count.is_error() && count.text().contains("does not match the output schema"), "{count:?}");
        });
    }
}

/// Clients may reject a whole list because of one schema. So a schema that is not valid is not listed, and the log names the tool and the
/// keyword. A valid schema that this library does not support is listed.
#[test]
fn only_valid_output_schemas_are_published() {
    let (host, mut expected) = (TestHost::new(), Vec::new());
    let (unlisted, unenforced) = ("neither enforced nor listed", "not enforced here");
    for (schema, is_listed, problem) in [
        (
            json!({ "$ref": "https://example.com/schema" }),
            false,
            Some((unlisted, "`https://example.com/schema` is in another document")),
        ),
        (
            json!({ "type": "object", "pattern": "(?=x)" }),
            true,
            Some((unenforced, "the pattern `(?=x)` uses lookahead")),
        ),
        (
            json!({ "type": "object", "pattern": "(?=x" }),
            false,
            Some((unlisted, "the pattern `(?=x` has an unclosed group")),
        ),
        (
            json!({ "type": "object", "unevaluatedProperties": false }),
            true,
            Some((unenforced, "`unevaluatedProperties` is not supported")),
        ),
        // The rest of the schema is read, too.
        (
            json!({ "unevaluatedProperties": false, "properties": { "a": { "type": "x" } } }),
            false,
            Some((unlisted, "unknown type `x` at /properties/a/type")),
        ),
        (
            json!({ "type": "object", "unevaluatedProperties": 7 }),
            false,
            Some((unlisted, "a schema must be an object or a boolean at /unevaluatedProperties")),
        ),
        (crate::costly_schemas::alternatives(2_000), false, Some((unlisted, "it takes too long to compile"))),
        (json!({ "enum": ["a\u{200b}"] }), false, None),
    ] {
        let (endpoint, _) = scripted(&json!([{ "name": "track", "inputSchema": {}, "outputSchema": schema }]), []);
        for _ in 0..2 {
            let list = testing::run(Client::new(&endpoint).host(&host).list("tools"));
            assert_eq!(list.names(), ["parcels_track"]);
            assert_eq!(list.result()["tools"][0].get("outputSchema"), is_listed.then_some(&schema));
        }
        expected.extend(problem);
    }
    for (consequence, problem) in expected {
        let warning =
            format!("The output schema of the tool `track` of the server `parcels` is {consequence}: {problem}");
        assert_eq!(host.log_text().matches(&warning).count(), 1, "{}", host.log_text());
    }
}

/// The TypeScript reference servers, and other servers that use zod, name draft-07.
#[test]
fn output_schemas_of_older_dialects_are_published_and_enforced() {
    for dialect in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"] {
        let schema = json!({
            "$schema": dialect, "type": "object", "properties": { "pair": { "$ref": "#/definitions/pair" } },
            "dependencies": { "pair": ["unit"] },
            "definitions": { "pair": { "type": "array", "items": [{ "type": "string" }], "additionalItems": { "type": "integer" } } },
        });
        let tools = json!([{ "name": "track", "inputSchema": {}, "outputSchema": schema }]);
        let (good, bad) = (json!({ "pair": ["a", 1], "unit": "mm" }), json!({ "pair": ["a", "b"], "unit": "mm" }));
        let done = |structured: &serde_json::Value| json!({ "content": [], "structuredContent": structured, "resultType": "complete" });
        let (endpoint, _) = scripted(&tools, [done(&good), done(&bad), done(&json!({ "pair": [] }))]);
        testing::run(async {
            let client = Client::new(&endpoint);
            assert_eq!(client.list("tools").await.result()["tools"][0]["outputSchema"], schema, "{dialect}");
            assert_eq!(client.call("parcels_track", json!({})).await.result()["structuredContent"], good, "{dialect}");
            for _ in 0..2 {
                let answer = client.call("parcels_track", json!({})).await;
                assert!(answer.text().contains("does not match the output schema"), "{dialect}: {answer:?}");
            }
        });
    }
}

/// The lists of a request share the steps to compile output schemas.
#[test]
fn the_schemas_of_a_list_share_the_steps() {
    // Each schema takes about a quarter of the steps of a request.
    let constants: Vec<_> = (0..8_000).collect();
    let pairs = vec![json!({ "anyOf": [{ "$ref": "#/x" }] }); 3];
    let tool = |nth: usize| {
        let schema = json!({ "x": { "enum": constants }, "prefixItems": pairs, "$comment": nth });
        json!({ "name": format!("t{nth}"), "inputSchema": {}, "outputSchema": schema })
    };
    let (endpoint, _) = scripted(&(0..6).map(tool).collect(), []);
    let list = testing::run(Client::new(&endpoint).list("tools"));
    let published =
        list.result()["tools"].as_array().expect("tools").iter().filter(|tool| tool.get("outputSchema").is_some());
    assert_eq!(published.count(), 3);
}

/// C94: a server that fails is named in the `_meta` of the list, and does not affect the other tools.
#[test]
fn a_server_that_fails_is_named() {
    let peer = Peer::new([Answer::new(502, "text/html", "<p>SECRET-4711</p>"), Answer::new(502, "", "")]);
    let broken = Upstream::via("https://weather.example/mcp", peer).expect("a URL");
    let client = McpClient::builder("desk", "1.0.0")
        .server("parcels", parcels())
        .server("weather", broken)
        .build()
        .expect("a client");
    let endpoint = desk(client, true);
    testing::run(async {
        let tools = Client::new(&endpoint).request("tools/list", json!({})).await;
        let result = tools.result();
        assert_eq!(result["tools"].as_array().map(Vec::len), Some(2));
        assert_eq!(result["_meta"]["edge-mcp/missing"]["weather"], "The server `weather` failed (status 502).");
        assert_eq!(result["cacheScope"], "private");
    });
}

/// C57: a list of one page has no cursor; each page is requested until the last.
#[test]
fn all_pages_of_a_list_are_read() {
    let page = |name: &str, next: Option<&str>| {
        let mut page =
            json!({ "tools": [{ "name": name, "inputSchema": { "type": "object" } }], "resultType": "complete" });
        if let Some(next) = next {
            page["nextCursor"] = json!(next);
        }
        result(page)
    };
    let peer = Peer::new([page("track", Some("2")), page("other", None)]);
    let upstream = Upstream::via("https://parcels.example/mcp", peer.clone()).expect("a URL");
    let client = McpClient::builder("desk", "1.0.0").server("parcels", upstream).build().expect("a client");
    let endpoint = desk(client, true);
    testing::run(async {
        let tools = Client::new(&endpoint).request("tools/list", json!({})).await;
        assert_eq!(tools.result()["tools"].as_array().map(Vec::len), Some(2));
    });
    let bodies: Vec<_> = peer.requests().into_iter().map(http::Request::into_body).collect();
    assert!(!bodies[0].contains("cursor") && bodies[1].contains("\"cursor\":\"2\""), "{bodies:?}");
}
