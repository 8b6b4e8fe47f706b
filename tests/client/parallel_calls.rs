//! Parallel calls of tools with the same name and the same arguments, whose order differs between the rounds of the caller.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::client::{McpClient, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client};
use edge_mcp::{Context, HandlerError, McpServer, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::calls::modern;
use crate::peer::{Answer, Peer};
use crate::questions::{asks, form};

#[derive(Deserialize, JsonSchema)]
struct Room {
    room: u32,
}

/// The place of a tool: another server, or this server.
type Place = Option<&'static str>;

async fn book(client: McpClient, cx: Context, place: Place, is_passed: bool) -> Result<String, HandlerError> {
    let room = json!({ "room": 7 });
    let Some(server) = place else { return Ok(cx.call_tool("book", room).await?.text()) };
    let call = client.connect(&cx).server(server)?.call("book", room);
    let call = if is_passed { call.ask_caller(&cx) } else { call };
    Ok(call.await?.text())
}

/// Books at both places and then asks the caller. The order of the two calls is another one in each round. Returns the answer, and the number
/// of calls at `alpha`, at `beta` and of the own tool.
fn book_both(places: [Place; 2], is_passed: bool, answers: fn(&str) -> Vec<Answer>) -> (String, [usize; 3]) {
    let peers = ["alpha", "beta"].map(|name| (name, Peer::new(answers(name))));
    let upstream = |(name, peer): &(&str, Peer)| {
        let upstream = Upstream::via(&format!("https://{name}.example/mcp"), peer.clone()).expect("a URL");
        upstream.revision(Revision::V2026_07_28)
    };
    let client = McpClient::builder("desk", "1.0.0");
    let client = client.server("alpha", upstream(&peers[0])).server("beta", upstream(&peers[1])).build();
    let client = client.expect("a client");
    let (rounds, runs) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let own_runs = runs.clone();
    let endpoint = testing::endpoint(move |_| {
        let (client, rounds, runs) = (client.clone(), rounds.clone(), own_runs.clone());
        let both = move |cx: Context| {
            let (client, round) = (client.clone(), rounds.get());
            rounds.set(round + 1);
            async move {
                let call = |place| book(client.clone(), cx.clone(), place, is_passed);
                let mut calls = places.map(call);
                if round % 2 == 1 {
                    calls.reverse();
                }
                let [first, second] = calls;
                let (first, second) = futures::try_join!(first, second)?;
                cx.confirm("sure", "Keep both?").await?;
                let mut texts = [first, second];
                texts.sort();
                Ok::<_, HandlerError>(texts.join(", "))
            }
        };
        let own = move |Room { room }: Room| {
            runs.set(runs.get() + 1);
            async move { if room == 7 { "own" } else { "another room" } }
        };
        McpServer::builder("desk", "1.0.0")
            .tool(Tool::new("both", "Books two rooms.", both))
            .tool(Tool::new("book", "Books a room.", own))
            .build()
    });
    let answer = testing::run(async {
        let caller = Client::new(&endpoint).answer("sure", json!({}));
        caller.answer("alpha.1.q", json!({})).answer("beta.1.q", json!({})).call("both", json!({})).await
    });
    let [alpha, beta] = peers.map(|(_, peer)| peer.requests().len());
    (answer.text().to_owned(), [alpha, beta, runs.get()])
}

/// C116: two servers with a tool of the same name do not share the counter of calls.
#[test]
fn calls_at_two_servers_are_steps_of_their_own() {
    let once = |name: &str| vec![modern(name), modern("again")];
    let (text, calls) = book_both([Some("alpha"), Some("beta")], false, once);
    assert_eq!((text.as_str(), calls), ("alpha, beta", [1, 1, 0]));
}

/// C116: each question is asked once, and its answer reaches the server that asked.
#[test]
fn questions_of_two_servers_belong_to_their_calls() {
    let asking = |name: &str| {
        let question = asks(json!({ "q": form(&format!("{name} asks"), json!({})) }), json!(name));
        vec![question, modern(name), modern("again"), modern("again")]
    };
    let (text, calls) = book_both([Some("alpha"), Some("beta")], true, asking);
    assert_eq!((text.as_str(), calls), ("alpha, beta", [2, 2, 0]));
}

/// C116: a remote tool does not share the counter of calls with an own tool of the same name.
#[test]
fn a_remote_call_and_an_own_call_are_steps_of_their_own() {
    let once = |name: &str| vec![modern(name), modern("again")];
    let (text, [alpha, ..]) = book_both([Some("alpha"), None], false, once);
    assert_eq!((text.as_str(), alpha), ("alpha, own", 1));
}
