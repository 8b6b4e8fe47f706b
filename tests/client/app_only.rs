//! Tools that their server shows to its user interfaces only: they must not reach a model.

use edge_mcp::agents::{ChatAgent, ChatModel};
use edge_mcp::client::{Definition, InProcess, McpClient, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client};
use edge_mcp::{App, Endpoint, McpServer, Tool};
use serde_json::{Value, json};

use crate::fake_model::{asked, calls, model, text};

/// A trusted server with a tool for models and one for its user interfaces.
fn parcels() -> McpClient {
    let parcels = InProcess::new(testing::endpoint(|_| {
        let track = Tool::new("track", "Tracks.", || async { "in Lyon" }).read_only();
        let refresh = Tool::new("refresh", "Refreshes.", || async { "fresh" }).read_only().for_app_only();
        // Other servers list such tools for all clients.
        let app = App::new("ui://parcels/map", "<!doctype html>").always_list_tools();
        McpServer::builder("parcels", "1.0.0").tool(track).tool(refresh).app(app).build()
    }));
    let parcels = Upstream::via("http://localhost/mcp", parcels).expect("a URL").trusted();
    McpClient::builder("desk", "1.0.0").server("parcels", parcels).build().expect("a client")
}

const NAMED: [&str; 2] = ["parcels_track", "parcels_refresh"];

fn definition(meta: &Value) -> Definition {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "_meta": meta });
    Definition::from_json(&json!({ "server": "parcels", "tool": tool }).to_string()).expect("a definition")
}

/// A24, extension case 9: a tool is for apps only if its visibility is a list without "model".
#[test]
fn a_visibility_without_the_model_is_for_apps_only() {
    let many = json!(vec!["x"; 10_000]);
    for (visibility, expected) in [
        (json!(["app"]), true),
        (json!([]), true),
        (json!(["app", "x"]), true),
        (json!([1]), true),
        (many, true),
        (json!(["model", "app"]), false),
        (json!(["x", "model"]), false),
        (json!("app"), false),
        (json!(null), false),
        (json!({ "app": true }), false),
    ] {
        let tool = definition(&json!({ "ui": { "visibility": visibility } }));
        assert_eq!(tool.is_for_app_only(), expected, "{:.60}", visibility.to_string());
    }
    assert!(!definition(&json!({ "ui": ["app"] })).is_for_app_only());
    assert!(!definition(&json!(7)).is_for_app_only());
}

/// A26, extension case 8: the nested member counts, then the deprecated one. Other URIs than `ui://` are ignored, and the tool stays.
#[test]
fn the_uri_of_an_app_is_read_from_both_members() {
    let long = format!("https://evil.example/{}", "x".repeat(40_000));
    for (meta, expected) in [
        (json!({ "ui": { "resourceUri": "ui://a/b" }, "ui/resourceUri": "ui://c/d" }), Some("ui://a/b")),
        (json!({ "ui/resourceUri": "ui://c/d" }), Some("ui://c/d")),
        (json!({ "ui": { "resourceUri": "https://evil" } }), None),
        (json!({ "ui": { "resourceUri": "UI://x" } }), None),
        (json!({ "ui": { "resourceUri": "ui://../m2/x" } }), None),
        (json!({ "ui": { "resourceUri": "ui://m1/%2E%2e/m2/x" } }), None),
        (json!({ "ui": { "resourceUri": long } }), None),
        (json!({ "ui": { "resourceUri": 7 } }), None),
        (json!({}), None),
    ] {
        assert_eq!(definition(&meta).app_uri(), expected);
    }
}

fn desk(is_named: bool) -> Endpoint {
    testing::endpoint(move |_| {
        let client = parcels();
        let tools = if is_named { client.tools(NAMED) } else { client.read_only_tools() };
        McpServer::builder("desk", "1.0.0").source(tools).build()
    })
}

/// A25, A32: a server that passes such a tool on passes it on for apps only. Without a name, it has no such tool.
#[test]
fn a_source_keeps_tools_for_apps_from_models() {
    testing::run(async {
        let endpoint = desk(true);
        for revision in Revision::ALL {
            let apps = json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } } });
            let client = Client::new(&endpoint).revision(revision).capabilities(apps);
            let list = client.request("tools/list", json!({})).await;
            assert_eq!(list.names(), NAMED, "{revision}");
            for tool in list.result()["tools"].as_array().expect("a list") {
                let is_for_apps = tool["name"] == "parcels_refresh";
                let visibility = &tool["_meta"]["ui"]["visibility"];
                assert_eq!(visibility, &if is_for_apps { json!(["app"]) } else { Value::Null }, "{revision}: {tool}");
            }
        }
        let endpoint = desk(false);
        let client = Client::new(&endpoint);
        assert_eq!(client.request("tools/list", json!({})).await.names(), ["parcels_track"]);
        let refresh = client.call("parcels_refresh", json!({})).await;
        assert_eq!(refresh.text(), "The server `parcels` has no read-only tool `refresh`.");
    });
}

/// A25, extension case 10: no agent is offered such a tool, named or not. A model that guesses its name calls nothing.
#[test]
fn no_agent_is_offered_a_tool_for_apps() {
    for is_named in [true, false] {
        let endpoint = testing::endpoint(move |_| {
            let client = parcels();
            let tools = if is_named { client.tools(NAMED) } else { client.read_only_tools() };
            let model = ChatModel::new("http://localhost:11434/v1", "small").expect("a model");
            let clerk = ChatAgent::new("clerk", "The clerk", "Knows.", model).source(tools);
            McpServer::builder("desk", "1.0.0").agent(clerk).build()
        });
        let host = model([calls(&[("parcels_refresh", json!({}))]), text("Done.")]);
        testing::run(Client::new(&endpoint).host(&host).call("ask_clerk", json!({ "message": "?" })));
        let asked = asked(&host);
        let offered = asked[0]["tools"].as_array().expect("tools").iter().map(|tool| &tool["function"]["name"]);
        assert_eq!(offered.collect::<Vec<_>>(), ["parcels_track"]);
        let result = asked[1]["messages"].as_array().and_then(|messages| messages.last()).expect("a message");
        assert_eq!(result["content"], "There is no tool `parcels_refresh`.");
        let warning = "the agent was not offered the tool `parcels_refresh`, which is for user interfaces only";
        assert_eq!(host.log_text().contains(warning), is_named);
    }
}

/// A25: an agent cannot name such a tool of its own server.
#[test]
fn an_agent_with_a_tool_for_apps_cannot_be_built() {
    let model = ChatModel::new("http://localhost:11434/v1", "small").expect("a model");
    let clerk = ChatAgent::new("clerk", "The clerk", "Knows.", model).tools(["refresh"]);
    let refresh = Tool::new("refresh", "Refreshes.", || async { "fresh" }).for_app_only();
    let error = McpServer::builder("desk", "1.0.0").tool(refresh).agent(clerk).build().err().expect("an error");
    assert!(
        error.to_string().contains("calls the tool `refresh`, which the server does not have for agents"),
        "{error}"
    );
}
