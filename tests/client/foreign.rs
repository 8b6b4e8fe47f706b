//! Servers of other libraries, as they answered when they were run: what they answer to a modern request, and in a session that has ended. The
//! answers of old versions of `rmcp` are those of public reports.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_mcp::Context;
use edge_mcp::client::{Connection, Executed, Failure, NotMcp, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::{Value, json};

use crate::calls::{at, client, context, track};
use crate::peer::{Answer, Peer, id_of, json_answer, result};

/// Status, media type and body. `"$id"` is the id of the request.
type Recorded = (u16, &'static str, &'static str);

const JSON: &str = "application/json";
const PYTHON_MISSING: Recorded = (
    400,
    JSON,
    r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}"#,
);
const PYTHON_ENDED: Recorded =
    (404, JSON, r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}"#);
const PYTHON_REVISION: Recorded = (
    400,
    JSON,
    r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Unsupported protocol version: 2026-07-28. Supported versions: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25"}}"#,
);
const SDK_MISSING: Recorded = (
    400,
    JSON,
    r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}"#,
);
const SDK_REVISION: Recorded = (
    400,
    JSON,
    r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07)"},"id":null}"#,
);
const SDK_EXAMPLE: Recorded = (
    400,
    "application/json; charset=utf-8",
    r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#,
);
const MASTRA_MISSING: Recorded = (
    400,
    JSON,
    r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided for non-initialize request"},"id":"$id"}"#,
);
const MASTRA_ENDED: Recorded =
    (404, JSON, r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Session not found"},"id":null}"#);
const SUPERGATEWAY_METHOD: Recorded = (
    200,
    JSON,
    r#"{"jsonrpc":"2.0","id":"$id","error":{"code":-32602,"message":"Invalid request parameters","data":""}}"#,
);
const SUPERGATEWAY_ENDED: Recorded = (
    404,
    "application/json; charset=utf-8",
    r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}"#,
);
const LITE_REVISION: Recorded = (
    400,
    JSON,
    r#"{"jsonrpc":"2.0","id":"$id","error":{"code":-32602,"message":"Protocol version mismatch","data":{"expectedVersion":["2025-03-26","2025-06-18"],"receivedVersion":"2026-07-28"}}}"#,
);
const RMCP_MISSING: Recorded = (422, "text/plain", "Unexpected message, expect initialize request");
const RMCP_ENDED: Recorded = (404, "text/plain", "Not Found: Session not found");

/// A server: its answer to a modern request, its revision, and its answer in a session that has ended, if it has sessions.
type Row = (&'static str, Recorded, &'static str, Option<Recorded>);

const SERVERS: [Row; 12] = [
    ("mcp 1.30 (Python)", PYTHON_MISSING, "2025-11-25", Some(PYTHON_ENDED)),
    ("mcp 1.30 (Python), stateless", PYTHON_REVISION, "2025-11-25", None),
    ("mcp 1.8 (Python)", PYTHON_MISSING, "2024-11-05", Some((400, "", "Bad Request: No valid session ID provided"))),
    ("mcp-proxy 0.13", PYTHON_MISSING, "2025-11-25", Some(PYTHON_ENDED)),
    ("supergateway 4.0", SUPERGATEWAY_METHOD, "2025-11-25", None),
    ("supergateway 4.0, stateful", SUPERGATEWAY_METHOD, "2025-11-25", Some(SUPERGATEWAY_ENDED)),
    ("sdk 1.32", SDK_MISSING, "2025-11-25", Some((404, "", ""))),
    ("sdk 1.32, with the code of its example", SDK_EXAMPLE, "2025-11-25", Some(SDK_EXAMPLE)),
    ("sdk 1.32, stateless", SDK_REVISION, "2025-11-25", None),
    ("mastra 1.18", MASTRA_MISSING, "2025-11-25", Some(MASTRA_ENDED)),
    ("mcp-lite 0.10", LITE_REVISION, "2025-03-26", None),
    ("rmcp 0.x", RMCP_MISSING, "2025-06-18", Some(RMCP_ENDED)),
];

/// A legacy server of a row. Clones are the same server.
#[derive(Clone)]
struct Foreign(Rc<State>);

struct State {
    row: Row,
    /// The number of the current session.
    session: Cell<usize>,
    methods: RefCell<Vec<String>>,
}

impl Foreign {
    fn new(row: Row) -> Self {
        Self(Rc::new(State { row, session: Cell::new(0), methods: RefCell::default() }))
    }

    /// Forgets all sessions, as a restart does.
    fn restart(&self) {
        self.0.session.set(self.0.session.get() + 1);
    }

    fn connect(&self, host: &TestHost) -> Connection {
        let cx: Context = context(host);
        client(Upstream::via("https://parcels.example/mcp", self.clone()).expect("a URL")).connect(&cx)
    }

    /// Returns the methods of the requests since the last time.
    fn take(&self) -> Vec<String> {
        self.0.methods.take()
    }

    fn answer(&self, method: &str, revision: &str, session: &str) -> Answer {
        let (_, modern, own_revision, ended) = self.0.row;
        let current = ended.map(|_| format!("s-{}", self.0.session.get()));
        if method == "initialize" {
            let answer =
                result(json!({ "protocolVersion": own_revision, "capabilities": { "tools": {} }, "serverInfo": {} }));
            return match &current {
                Some(id) => answer.header("mcp-session-id", id),
                None => answer,
            };
        }
        if revision == "2026-07-28" {
            return recorded(modern);
        }
        match (ended, method) {
            (Some(ended), _) if current.as_deref() != Some(session) => recorded(ended),
            (_, "tools/list") => result(json!({ "tools": [{ "name": "add", "inputSchema": {} }] })),
            (_, "tools/call") => result(json!({ "content": [{ "type": "text", "text": "3" }] })),
            _ => Answer::new(202, JSON, ""),
        }
    }
}

fn recorded((status, media_type, body): Recorded) -> Answer {
    Answer::new(status, media_type, body)
}

impl Transport for Foreign {
    fn open(&self, request: Outbound, _: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or("DELETE").to_owned();
        let header = |name: &str| {
            let found = request.headers.iter().find(|(found, _)| found == name);
            found.map_or("", |(_, value)| value.to_str().expect("text"))
        };
        let answer = self.answer(&method, header("mcp-protocol-version"), header("mcp-session-id"));
        self.0.methods.borrow_mut().push(method);
        let body = answer.chunks_for(&id_of(&request.body)).concat();
        ready(Ok(Opened::new(answer.status, answer.headers, body))).boxed_local()
    }
}

/// Lists the tools of a connection, and returns their names.
fn list(connection: &Connection, host: &TestHost) -> Result<Vec<String>, Failure> {
    let list = testing::run(host.run(connection.server("parcels").expect("a server").list_tools()));
    let list = list.expect("the list ends").map_err(|error| error.failure().clone())?;
    Ok(list.items.iter().map(|tool| tool.name().to_owned()).collect())
}

fn add(connection: &Connection, host: &TestHost) -> Result<String, Executed> {
    let call = connection.call("parcels_add", json!({})).expect("a call");
    let sum = testing::run(host.run(async move { call.await.map(|result| result.text()) }));
    sum.expect("the call ends").map_err(|error| error.executed())
}

/// Each server is found to be legacy, by the first list and by the first call.
#[test]
fn a_server_of_another_library_is_used_without_a_setting() {
    for row in SERVERS {
        let name = row.0;
        let (server, host) = (Foreign::new(row), TestHost::new());
        assert_eq!(list(&server.connect(&host), &host), Ok(vec!["add".to_owned()]), "{name}");
        let begun = ["tools/list", "server/discover", "initialize", "notifications/initialized", "tools/list"];
        assert_eq!(server.take()[..5], begun, "{name}");
        let server = Foreign::new(row);
        assert_eq!(add(&server.connect(&host), &host), Ok("3".to_owned()), "{name}");
        let begun = ["server/discover", "initialize", "notifications/initialized", "tools/call"];
        assert_eq!(server.take()[..4], begun, "{name}");
    }
}

/// After the session has ended, a list works on the same connection. A call works if the status proves that the server did not execute it.
#[test]
fn a_session_of_another_library_that_has_ended_is_begun_again() {
    for row in SERVERS.into_iter().filter(|row| row.3.is_some()) {
        let (name, status) = (row.0, row.3.map(|(status, ..)| status));
        let (server, host) = (Foreign::new(row), TestHost::new());
        let connection = server.connect(&host);
        add(&connection, &host).expect("a result");
        server.restart();
        assert_eq!(list(&connection, &host), Ok(vec!["add".to_owned()]), "{name}");
        server.restart();
        let expected = if status == Some(404) { Ok("3".to_owned()) } else { Err(Executed::Unknown) };
        assert_eq!(add(&connection, &host), expected, "{name}");
    }
}

/// Servers that are no MCP servers answer each POST in their own way. The failure is about the URL.
#[test]
fn a_server_without_an_mcp_endpoint_is_named_as_such() {
    for (recorded_answer, expected) in [
        ((404, JSON, r#"{"detail":"Not Found"}"#), Failure::NotMcp(NotMcp::NotFound)),
        ((404, "text/html; charset=utf-8", "<pre>Cannot POST /nope</pre>"), Failure::NotMcp(NotMcp::NotFound)),
        ((404, "text/plain; charset=utf-8", "Not Found"), Failure::NotMcp(NotMcp::NotFound)),
        ((405, JSON, r#"{"detail":"Method Not Allowed"}"#), Failure::NotMcp(NotMcp::NoPost)),
        (
            (422, JSON, r#"{"detail":[{"type":"missing","loc":["body","name"],"msg":"Field required","input":{}}]}"#),
            Failure::Rejected { status: 422 },
        ),
        ((400, JSON, r#"{"error":"bad request"}"#), Failure::Rejected { status: 400 }),
        ((200, "text/html", "<p>Welcome</p>"), Failure::NotMcp(NotMcp::WebPage)),
    ] {
        let peer = Peer::new([recorded(recorded_answer), recorded(recorded_answer)]);
        let error = track(at(&peer)).expect_err("a failure");
        assert_eq!(error.failure(), &expected, "{recorded_answer:?}");
    }
}

/// With a status from 400, an error answers this HTTP request, whatever id it has. With status 200, only null may replace the id.
#[test]
fn an_error_with_a_status_from_400_is_the_answer_whatever_its_id_is() {
    for status in [400, 404, 409, 499] {
        for id in [json!("server-error"), json!(null), json!(0), json!("$id"), json!("99")] {
            let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32_050, "message": "no" } });
            let peer = Peer::new([json_answer(status, error.clone())]);
            let failed = track(at(&peer).revision(Revision::V2026_07_28)).expect_err("a failure");
            assert!(matches!(failed.failure(), Failure::Rpc { code: -32_050, .. }), "{status} {error} {failed}");
        }
        let result = json!({ "jsonrpc": "2.0", "id": "99", "result": { "content": [] } });
        let peer = Peer::new([json_answer(status, result)]);
        let failed = track(at(&peer).revision(Revision::V2026_07_28)).expect_err("a failure");
        assert_eq!(failed.failure(), &Failure::Malformed("is the answer to another request"), "{status}");
    }
    let error = json!({ "jsonrpc": "2.0", "id": "server-error", "error": { "code": -32_050, "message": "no" } });
    let failed =
        track(at(&Peer::new([json_answer(200, error)])).revision(Revision::V2026_07_28)).expect_err("a failure");
    assert_eq!(failed.failure(), &Failure::Malformed("is the answer to another request"));
}
