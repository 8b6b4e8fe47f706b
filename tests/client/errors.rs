//! Errors of other servers in a handler.

use std::time::Duration;

use edge_mcp::client::{ClientError, Failure, McpClient, Unreachable, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, HandlerError, McpServer, ResultExt, Tool};
use serde_json::json;

use crate::calls::{at, client};
use crate::peer::{Answer, End, Peer, json_answer};

const SENTENCE: &str = "The server `parcels` cannot be reached or has closed the connection. Try again later. It is not known whether \
                        the call was executed. Check its effect before you call again.";

async fn track(cx: &Context) -> Result<String, ClientError> {
    let connection = cx.state::<McpClient>().expect("a client").connect(cx);
    Ok(connection.server("parcels")?.call("track", json!({})).await?.text())
}

async fn propagated(cx: Context) -> Result<String, HandlerError> {
    Ok(track(&cx).await?)
}

async fn explained(cx: Context) -> Result<String, HandlerError> {
    track(&cx).await.explained()
}

async fn replaced(cx: Context) -> Result<String, HandlerError> {
    track(&cx).await.message("There is no parcel today.")
}

async fn matched(cx: Context) -> Result<String, HandlerError> {
    match track(&cx).await {
        Err(error) if *error.failure() == Failure::Unreachable(Unreachable::Connection) => {
            Ok("the depot is closed".into())
        }
        tracked => Ok(tracked?),
    }
}

/// The log has the code and the message of a JSON-RPC error, also of one that only the log explains: a rejected handshake, and an error with a
/// sentence of its own. The program gets the whole error.
#[test]
fn the_log_has_the_error_of_the_server() {
    let error = |status: u16, code: i64| {
        let error = json!({ "code": code, "message": "The depot 'Lyon' is\nclosed", "data": { "until": 8 } });
        json_answer(status, json!({ "jsonrpc": "2.0", "id": "$id", "error": error }))
    };
    for (revision, answer, cause) in [
        (Revision::V2026_07_28, error(200, -32_050), "tools/call at parcels: error -32050: The depot … is closed"),
        (Revision::V2026_07_28, error(400, -32_021), "tools/call at parcels: error -32021: The depot … is closed"),
        (Revision::V2025_11_25, error(400, -32_602), "initialize at parcels: error -32602: The depot … is closed"),
    ] {
        let upstream = at(&Peer::new([answer.clone()])).revision(revision);
        let endpoint = testing::endpoint(move |_| {
            McpServer::builder("desk", "1.0.0").tool(Tool::new("propagated", "d", propagated)).build()
        });
        let host = TestHost::new();
        let endpoint = endpoint.state(client(upstream));
        testing::run(Client::new(&endpoint).host(&host).call("propagated", json!({})));
        assert_eq!(host.log()[0]["cause"], cause);
        let failed = crate::calls::track(at(&Peer::new([answer])).revision(revision)).expect_err("a failure");
        if let Failure::Rpc { message, data, .. } = failed.failure() {
            assert_eq!(message, "The depot 'Lyon' is closed");
            assert_eq!(data.as_deref(), Some(r#"{"until":8}"#));
        }
    }
}

/// `?`, `explained` and the error type itself show the sentence of the error, and `message` replaces it. The log has the cause each time.
#[test]
fn a_handler_can_show_match_or_replace_the_error_of_a_server() {
    let returned = |cx: Context| async move { track(&cx).await };
    let endpoint = testing::endpoint(move |_| {
        McpServer::builder("desk", "1.0.0")
            .tool(Tool::new("propagated", "d", propagated))
            .tool(Tool::new("explained", "d", explained))
            .tool(Tool::new("returned", "d", returned))
            .tool(Tool::new("replaced", "d", replaced))
            .tool(Tool::new("matched", "d", matched))
            .build()
    })
    .state(client(Upstream::at("https://parcels.example/mcp").expect("a URL").revision(Revision::V2026_07_28)));
    for (tool, expected, is_error) in [
        ("propagated", SENTENCE, true),
        ("explained", SENTENCE, true),
        ("returned", SENTENCE, true),
        ("replaced", "There is no parcel today.", true),
        ("matched", "the depot is closed", false),
    ] {
        let host = TestHost::new().unreachable("https://parcels.example");
        let answer = testing::run(Client::new(&endpoint).host(&host).call(tool, json!({})));
        assert_eq!((answer.text(), answer.is_error()), (expected, is_error), "{tool}");
        let cause = "tools/call at parcels: Network connection lost.";
        assert_eq!(host.log_text().contains(cause), is_error, "{tool}: {}", host.log_text());
    }
}

/// A server that never answers is given up after 5 s if the client has to ask for its revision, and otherwise after 25 s.
#[test]
fn a_server_that_never_answers_is_given_up() {
    for (revision, seconds) in [(None, 5), (Some(Revision::V2026_07_28), 25), (Some(Revision::V2025_11_25), 5)] {
        let peer = Peer::new([Answer::new(200, "application/json", "").end(End::SilentBeforeHead)]);
        let upstream = revision.into_iter().fold(at(&peer), Upstream::revision);
        let error = crate::calls::track(upstream).expect_err("a failure");
        assert_eq!(error.failure(), &Failure::Timeout(Duration::from_secs(seconds)), "{revision:?}");
    }
}
