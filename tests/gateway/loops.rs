//! Gateways in front of gateways.

use std::cell::RefCell;
use std::rc::Rc;

use edge_mcp::client::{Transport, Upstream};
use edge_mcp::gateway::{Gateway, Mount};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Endpoint, McpServer, Tool};
use futures::future::LocalBoxFuture;
use serde_json::json;

use crate::servers::{Server, call, caller, list};

/// A server that is set after the gateway that mounts it.
#[derive(Clone, Default)]
struct Later(Rc<RefCell<Option<Server>>>);

impl Transport for Later {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        self.0.borrow().as_ref().expect("the server is set").open(request, host)
    }
}

fn named(name: &'static str, mount: Mount) -> Endpoint {
    let gateway = Gateway::builder(name, "1").mount("next", mount).build().expect("a gateway");
    testing::endpoint(move |_| {
        McpServer::builder(name, "1").tool(Tool::new("own", "Own.", || async { "done" })).gateway(&gateway).build()
    })
}

fn at(transport: impl Transport + 'static, revision: Option<Revision>) -> Mount {
    let upstream = Upstream::via("http://localhost/mcp", transport).expect("a URL");
    Mount::new(match revision {
        Some(revision) => upstream.revision(revision),
        None => upstream,
    })
}

const REVISIONS: [Option<Revision>; 4] =
    [Some(Revision::V2026_07_28), Some(Revision::V2025_11_25), Some(Revision::V2024_11_05), None];

/// C110 and the hostile case 62: a gateway that is mounted in itself, and two gateways in a ring, refuse the request, and say why.
#[test]
fn a_loop_is_refused() {
    for revision in REVISIONS {
        for names in [vec!["edge"], vec!["edge", "other"], vec!["edge", "b", "c"]] {
            let first = Later::default();
            let mut next: Option<Server> = None;
            for name in names.iter().rev() {
                let mount = match next.take() {
                    Some(server) => at(server, revision),
                    None => at(first.clone(), revision),
                };
                next = Some(Server::endpoint(named(name, mount)));
            }
            let server = next.expect("a gateway");
            first.0.replace(Some(server.clone()));
            let front = named("front", at(server.clone(), revision));
            let path = "next_".repeat(names.len() + 2);
            let answer = call(&front, &format!("{path}own"), json!({}));
            assert!(
                answer.is_error() && answer.text().contains("this gateway is mounted in itself"),
                "{revision:?} {names:?} {answer:?}"
            );
            let path = "next_".repeat(names.len() + 1);
            assert_eq!(call(&front, &format!("{path}own"), json!({})).text(), "done", "{revision:?} {names:?}");
            server.take();
            let tools = list(&front, "tools");
            assert!(tools.names().contains(&"own") && tools.names().contains(&"next_own"), "{tools:?}");
            assert!(server.take().len() <= 4, "the loop ends");
        }
    }
}

/// C110: a request goes through at most 4 gateways.
#[test]
fn a_request_goes_through_at_most_4_gateways() {
    for revision in REVISIONS {
        let mut next = named("last", at(Server::tools([]), revision));
        for name in ["g4", "g3", "g2", "g1"] {
            next = named(name, at(Server::endpoint(next), revision));
        }
        // `last` has no request to send.
        assert_eq!(call(&next, "next_next_next_next_own", json!({})).text(), "done", "{revision:?}");
        let next = named("g0", at(Server::endpoint(next), revision));
        let answer = call(&next, "next_next_next_next_next_own", json!({}));
        assert!(answer.is_error() && answer.text().contains("went through 4 gateways"), "{revision:?} {answer:?}");
    }
}

/// C110: a caller cannot send more in the path than names, and an odd path does no harm.
#[test]
fn an_odd_path_does_no_harm() {
    let server = Server::tools(["t"]);
    for (via, problem) in [
        (json!("edge"), None),
        (json!(7), None),
        (json!({ "edge": 1 }), None),
        (json!([7, null, ["edge"]]), None),
        (json!(["other"]), None),
        (json!(["edge"]), Some("mounted in itself")),
        (json!(["x".repeat(129)]), Some("gateways")),
        (json!(["x".repeat(1_000_000)]), Some("`_meta`")),
        (json!(["a", "b", "c", "d"]), Some("went through 4 gateways")),
        (json!(vec!["a"; 5_000]), Some("went through 4 gateways")),
        (json!(vec!["a"; 100_000]), Some("`_meta`")),
    ] {
        let endpoint = crate::servers::endpoint([("m", server.mount())]);
        server.take();
        let client = caller(&endpoint, &TestHost::new()).meta("edge-mcp/via", via.clone());
        let answer = testing::run(client.call("m_t", json!({})));
        match problem {
            None => assert_eq!(answer.text(), "t {}", "{via}"),
            Some(problem) => {
                assert!(answer.is_error() && answer.text().contains(problem), "{answer:?}");
                assert!(server.take().is_empty() && answer.text().len() < 200);
            }
        }
        for sent in server.take() {
            assert!(sent["params"]["_meta"]["edge-mcp/via"].to_string().len() < 200, "{sent}");
        }
    }
}
