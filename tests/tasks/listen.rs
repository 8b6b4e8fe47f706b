//! `subscriptions/listen` with the ids of tasks.

use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Client};
use edge_mcp::{Context, McpServerBuilder, Revision, Tool};
use edge_mcp_test_support::{Answer, Ask, modern_as};
use serde_json::{Value, json};

use crate::world::{EXTENSION, World, all, endpoint};

const LISTEN: &str = "subscriptions/listen";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Sleeps three times for a minute, and says so.
async fn rest(cx: Context) -> &'static str {
    for nth in ["first", "second", "third"] {
        cx.progress(0.0, None, nth);
        cx.sleep(std::time::Duration::from_mins(1)).await;
    }
    "rested"
}

fn items(server: McpServerBuilder) -> McpServerBuilder {
    server.tool(Tool::new("rest", "Rests.", rest).task(Task::new()))
}

/// Returns a request to listen, of a client with these capabilities.
fn ask(id: &Value, filter: &Value, capabilities: &Value) -> Ask {
    let ask = modern_as(id, LISTEN, json!({ "notifications": filter }));
    let mut message: Value = serde_json::from_slice(&ask.body).expect("JSON");
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    ask.with_body(message.to_string()).header("Accept", "application/json, text/event-stream")
}

/// Listens to the end of the stream.
async fn listen_at(world: &World, filter: Value, capabilities: Value) -> Answer {
    ask(&json!(7), &filter, &capabilities).send(&world.endpoint, &world.host).await
}

/// T21, U10: without the capability, ids are rejected. A request without ids needs no capability.
#[test]
fn ids_need_the_capability() {
    testing::run(async {
        let world = World::new(items);
        let id = world.start("rest", json!({})).await;
        for capabilities in [json!({}), json!({ "extensions": { "com.example/tasks": {} } })] {
            for ids in [json!([id]), json!([])] {
                let answer = listen_at(&world, json!({ "taskIds": ids }), capabilities.clone()).await;
                assert_eq!(answer.refusal(), (400, -32021));
                let required = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
                assert_eq!(answer.body.expect("a body")["error"]["data"], required);
            }
        }
    });
}

/// T28, U1: ids that are not an array of strings are rejected.
#[test]
fn ids_are_strings() {
    testing::run(async {
        let world = World::new(items);
        for ids in [json!(null), json!("t1.x"), json!([1]), json!([null]), json!({})] {
            assert_eq!(listen_at(&world, json!({ "taskIds": ids }), all()).await.refusal(), (200, -32602), "{ids}");
        }
        for filter in [json!(null), json!([]), json!("taskIds")] {
            assert_eq!(listen_at(&world, filter.clone(), all()).await.refusal(), (200, -32602), "{filter}");
        }
    });
}

/// T28: without ids, without tasks, and without streams, ids change nothing.
#[test]
fn other_streams_are_empty_as_before() {
    let expected = concat!(
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":",
        "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":7},\"notifications\":{}}}\n\n",
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"resultType\":\"complete\",\"_meta\":",
        "{\"io.modelcontextprotocol/subscriptionId\":7,\"io.modelcontextprotocol/serverInfo\":",
        "{\"name\":\"s\",\"version\":\"1\"}}}}\n\n",
    );
    testing::run(async {
        let world = World::new(items);
        let tool = || Tool::new("now", "Answers.", || async { "now" });
        let (without_tool, without_objects) = (World::new(|server| server.tool(tool())), endpoint(items));
        let (ids, other) = (json!({ "taskIds": ["t1.x"] }), json!({ "toolsListChanged": true }));
        for (endpoint, filter) in [
            (&*world.endpoint, &json!({})),
            (&*world.endpoint, &other),
            (&*without_tool.endpoint, &ids),
            (&without_objects, &ids),
        ] {
            for capabilities in [all(), json!({})] {
                let answer = ask(&json!(7), filter, &capabilities).send(endpoint, &world.host).await;
                assert_eq!(String::from_utf8_lossy(answer.body()), expected, "{filter}");
            }
        }
        let json_only = World::of(endpoint(items).json_only());
        assert_eq!(listen_at(&json_only, ids.clone(), all()).await.refusal(), (404, -32601));
        for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
            let client = Client::new(&world.endpoint).host(&world.host).capabilities(all()).revision(revision);
            let answer = client.request(LISTEN, json!({ "notifications": ids })).await;
            assert_eq!((answer.status(), answer.error().map(|error| error.0)), (200, Some(-32601)));
        }
    });
}
