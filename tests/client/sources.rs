//! Tools of other servers as tools of a server.

use edge_mcp::client::{McpClient, Upstream};
use edge_mcp::testing::{self, Client};
use edge_mcp::{InProcess, McpServer, Tool};
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
fn desk(client: McpClient, is_named: bool) -> edge_mcp::Endpoint {
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
