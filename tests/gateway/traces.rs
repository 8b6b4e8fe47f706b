//! A trace through three servers: a program with the MCP client, a gateway, and the server behind it.

use edge_mcp::client::McpClient;
use edge_mcp::gateway::Mount;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, HandlerError, LogPolicy, McpServer, Tool};
use edge_mcp_test_support::telemetry::{Recorded, TestTelemetry};
use serde_json::{Value, json};

use crate::servers::{Server, endpoint};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

/// The three servers, and what they recorded.
struct Chain {
    host: TestHost,
    program: Endpoint,
    /// The gateway and the server behind it, with their requests.
    servers: [Server; 2],
    telemetry: [TestTelemetry; 3],
}

impl Chain {
    /// Creates the servers. The ones that `have` it have telemetry.
    fn new(have: [bool; 3]) -> Self {
        let telemetry: [TestTelemetry; 3] = Default::default();
        let observed = |endpoint: Endpoint, number: usize| {
            let endpoint = endpoint.without_auth().without_rate_limit().log(LogPolicy::All);
            if have[number] { endpoint.telemetry(telemetry[number].clone()) } else { endpoint }
        };
        let last =
            Endpoint::new(|_| McpServer::builder("last", "1").tool(Tool::new("t", "d", || async { "done" })).build());
        let last = Server::endpoint(observed(last, 2));
        let mount = Mount::new(last.upstream());
        let gateway = Server::endpoint(observed(endpoint([("m", mount)]), 1));
        let client = McpClient::builder("program", "1").server("edge", gateway.upstream()).build().expect("a client");
        let call = move |cx: Context| {
            let client = client.clone();
            async move {
                let answer = client.connect(&cx).server("edge")?.call("m_t", json!({})).await?;
                Ok::<_, HandlerError>(answer.text())
            }
        };
        let program = Endpoint::new(move |_| {
            McpServer::builder("program", "1").tool(Tool::new("call", "d", call.clone())).build()
        });
        let program = observed(program, 0);
        Self { host: TestHost::new(), program, servers: [gateway, last], telemetry }
    }

    fn call(&self, parent: Option<&str>) {
        let mut client = Client::new(&self.program).host(&self.host);
        if let Some(parent) = parent {
            client = client.meta("traceparent", json!(parent)).meta("tracestate", json!("vendor=1"));
        }
        let answer = testing::run(client.call("call", json!({})));
        assert_eq!(answer.text(), "done", "{answer:?}");
    }

    /// Returns the trace context of each call that a server sent, with its `tracestate`.
    fn sent(&self) -> [(String, Value); 2] {
        self.servers.each_ref().map(|server| {
            let messages = server.take();
            let call = messages.iter().find(|message| message["method"] == "tools/call").expect("a call");
            let meta = &call["params"]["_meta"];
            (meta["traceparent"].as_str().expect("a trace context").to_owned(), meta["tracestate"].clone())
        })
    }

    /// Returns the trace ids of the log lines of calls.
    fn logged(&self) -> Vec<Value> {
        let calls = self.host.log().into_iter().filter(|line| line["method"] == "tools/call");
        calls.map(|line| line["trace"].clone()).collect()
    }
}

/// Returns the operation of a server: its call, or with the name of another server the call that it sent.
fn operation(telemetry: &TestTelemetry, upstream: Option<&str>) -> Recorded {
    let recorded = telemetry.recorded();
    let found =
        recorded.iter().find(|each| each.upstream.as_deref() == upstream && each.name.starts_with("tools/call"));
    found.unwrap_or_else(|| panic!("no operation for {upstream:?}: {recorded:?}")).clone()
}

/// SEP-414: the trace of the caller goes through all servers. The parent of each operation is the one before it, and `traceparent` names the
/// operation of its sender.
#[test]
fn a_trace_goes_through_all_servers() {
    let chain = Chain::new([true; 3]);
    chain.call(Some(PARENT));
    let [program, gateway, last] = &chain.telemetry;
    let operations = [
        operation(program, None),
        operation(program, Some("edge")),
        operation(gateway, None),
        operation(gateway, Some("m")),
        operation(last, None),
    ];
    let mut parent = "b7ad6b7169203331".to_owned();
    for operation in &operations {
        assert_eq!(operation.trace_id, "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(operation.parent_span_id.as_deref(), Some(&*parent), "{operation:?}");
        parent.clone_from(&operation.span_id);
    }
    let names = operations.each_ref().map(|operation| &*operation.name);
    assert_eq!(names, ["tools/call call", "tools/call m_t", "tools/call m_t", "tools/call t", "tools/call t"]);
    let expected = [&operations[1], &operations[3]]
        .map(|sender| (format!("00-0af7651916cd43dd8448eb211c80319c-{}-00", sender.span_id), json!("vendor=1")));
    assert_eq!(chain.sent(), expected);
    assert_eq!(chain.logged(), vec![json!("0af7651916cd43dd8448eb211c80319c"); 3]);
}

/// A server with telemetry begins a trace if its caller has none, and marks it as sampled if it records it.
#[test]
fn a_new_trace_goes_through_all_servers() {
    let chain = Chain::new([true; 3]);
    chain.call(None);
    let program = operation(&chain.telemetry[0], None);
    assert_eq!((program.trace_id.len(), &program.parent_span_id), (32, &None));
    let [(to_gateway, state), (to_last, _)] = chain.sent();
    assert!(
        to_gateway.starts_with(&format!("00-{}-", program.trace_id)) && to_gateway.ends_with("-01"),
        "{to_gateway}"
    );
    assert!(to_last.starts_with(&format!("00-{}-", program.trace_id)), "{to_last}");
    assert_eq!(state, Value::Null);
    assert_eq!(chain.logged(), vec![json!(program.trace_id); 3]);
}

/// A server without telemetry passes the trace on as it is, so the servers around it stay connected.
#[test]
fn a_trace_goes_through_a_server_without_telemetry() {
    let chain = Chain::new([true, false, true]);
    chain.call(Some(PARENT));
    let sender = operation(&chain.telemetry[0], Some("edge"));
    let last = operation(&chain.telemetry[2], None);
    assert_eq!(last.parent_span_id, Some(sender.span_id));
    let [to_gateway, to_last] = chain.sent();
    assert_eq!(to_gateway, to_last);
}

/// Baggage is data of the caller, so it is passed on only if the program names it.
#[test]
fn baggage_is_passed_on_only_if_it_is_named() {
    for (is_named, baggage, expected) in [
        (false, "tenant=blue".to_owned(), Value::Null),
        (true, "tenant=blue".to_owned(), json!("tenant=blue")),
        (true, "x".repeat(1100), Value::Null),
    ] {
        let server = Server::tools(["t"]);
        let upstream = server.upstream();
        let upstream = if is_named { upstream.forward_meta("baggage").expect("a name") } else { upstream };
        let endpoint = endpoint([("m", Mount::new(upstream))]);
        let client = Client::new(&endpoint).meta("baggage", json!(baggage));
        assert!(!testing::run(client.call("m_t", json!({}))).is_error());
        let calls = server.take();
        let call = calls.iter().find(|message| message["method"] == "tools/call").expect("a call");
        assert_eq!(call["params"]["_meta"]["baggage"], expected);
    }
}

/// A gateway learns only from its servers which names they have. A name that no server can have is unknown, and is not recorded.
#[test]
fn a_name_that_no_server_can_have_is_not_recorded() {
    let (telemetry, server) = (TestTelemetry::default(), Server::tools(["t"]));
    // The page of an app calls a tool by its name at the server.
    let endpoint = endpoint([("m", server.mount().apps())]).telemetry(telemetry.clone());
    for (name, operation) in [
        ("m_drop_0123abcd".to_owned(), "tools/call m_drop_0123abcd"),
        (format!("m_{}_0123abcd", "x".repeat(40)), "tools/call"),
        ("m_d\u{200b}_0123abcd".to_owned(), "tools/call"),
        ("Call 030 1234567".to_owned(), "tools/call"),
    ] {
        testing::run(Client::new(&endpoint).call(&name, json!({})));
        testing::run(Client::new(&endpoint).prompt(&name, json!({})));
        let names: Vec<_> =
            telemetry.take().into_iter().filter(|each| each.upstream.is_none()).map(|each| each.name).collect();
        assert_eq!(names, [operation, &operation.replace("tools/call", "prompts/get")]);
    }
}
