//! Questions of a call that passes values of its caller's request on to another server.

use std::cell::Cell;
use std::net::IpAddr;

use edge_mcp::client::Upstream;
use edge_mcp::testing::{self, Answer, Client};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, Tool};
use serde_json::{Value, json};

/// Returns an endpoint with a tool that asks before it acts. The program passes on a header and a member of `_meta`.
fn endpoint() -> Endpoint {
    let parcels = Upstream::at("https://parcels.example/mcp").expect("a URL");
    let parcels = parcels.forward_header("x-tenant").and_then(|parcels| parcels.forward_meta("example.com/tenant"));
    parcels.expect("names");
    testing::endpoint(|_| {
        let delete = |cx: Context| async move {
            let is_confirmed = cx.confirm("delete", "Delete all parcels?").await?;
            Ok::<_, HandlerError>(if is_confirmed { "Deleted." } else { "Kept." })
        };
        McpServer::builder("desk", "1").tool(Tool::new("delete", "Deletes all parcels.", delete)).build()
    })
}

/// Calls the tool with these headers and this tenant in `_meta`. `round` has the state and the answers of a further round.
fn delete(endpoint: &Endpoint, headers: &[(&str, &str)], tenant: &Value, round: &Value) -> Answer {
    let mut params = round.clone();
    params["name"] = json!("delete");
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        "example.com/tenant": tenant,
        "progressToken": round.to_string().len(),
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let request = http::Request::post("http://localhost/mcp")
        .extension(IpAddr::from([127, 0, 0, 1]))
        .header("Content-Type", "application/json")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "delete");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    testing::run(Client::new(endpoint).send(request.body(Cell::new(body.into_bytes())).expect("a request")))
}

/// A person confirms a call for one tenant. The confirmation counts only for this tenant, because another server acts for the tenant that
/// the program passes on.
#[test]
fn an_answer_counts_only_for_the_same_forwarded_values() {
    let endpoint = endpoint();
    let (headers, tenant) = ([("x-tenant", "blue"), ("x-trace", "1")], json!({ "id": 7 }));
    let first = delete(&endpoint, &headers, &tenant, &json!({}));
    let confirmed = json!({
        "requestState": first.result()["requestState"],
        "inputResponses": { "delete": { "action": "accept", "content": {} } },
    });
    for (headers, tenant) in [
        (&[("x-tenant", "red")][..], &tenant),
        (&[], &tenant),
        (&[("x-tenant", "blue"), ("x-tenant", "red")], &tenant),
        (&headers, &json!({ "id": 8 })),
        (&headers, &json!(null)),
    ] {
        let refused = delete(&endpoint, headers, tenant, &confirmed);
        assert_eq!(refused.json()["error"]["code"], -32602, "{headers:?} {tenant}");
    }
    let other = [("x-tenant", "blue"), ("x-trace", "2")];
    assert_eq!(delete(&endpoint, &other, &tenant, &confirmed).text(), "Deleted.", "other headers may differ");
}

/// The names that a program passes on are bounded, because the state of each call covers their values.
#[test]
fn the_number_of_forwarded_values_is_limited() {
    let parcels = || Upstream::at("https://parcels.example/mcp").expect("a URL");
    for nth in 0..64 {
        assert!(parcels().forward_meta(format!("example.com/{nth}")).is_ok(), "{nth}");
    }
    let error = parcels().forward_meta("example.com/64").err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("at most 64") && error.contains("example.com/64"), "{error}");
    assert!(parcels().forward_meta("example.com/7").is_ok(), "a known name");
}
