//! `call-tool` and `call-read-only-tool`: calls of tools that a model has found.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::call::ToolEvent;
use edge_mcp::gateway::{Catalogue, Mount};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Answer as Reply, TestHost};
use edge_mcp::{Context, Endpoint, LogPolicy, McpServerBuilder, Tool};
use serde_json::{Value, json};

use crate::servers::{Server, caller, gateway, serving, tool, with_scopes};

/// A handler that calls a tool of the catalogue.
fn outer(tool: &'static str) -> Tool {
    let handler = move |arguments: Value, cx: Context| async move { cx.call_tool(tool, arguments).await };
    Tool::with_schema(format!("outer-{tool}"), "Calls another tool.", &json!({ "type": "object" }), None, handler)
}

/// Returns an endpoint with a catalogue by search.
fn searching(mount: Mount) -> Endpoint {
    let gateway = gateway([("m", mount.catalogue(Catalogue::Search))]);
    serving(gateway, |it: McpServerBuilder| it.tool(outer("call-tool")).tool(outer("call-read-only-tool")))
}

/// Calls a tool through a tool of the catalogue.
fn through(endpoint: &Endpoint, host: &TestHost, by: &str, name: &str, arguments: Value) -> Reply {
    testing::run(caller(endpoint, host).call(by, json!({ "name": name, "arguments": arguments })))
}

const BOTH: [&str; 2] = ["call-tool", "outer-call-tool"];
const READ_ONLY: [&str; 2] = ["call-read-only-tool", "outer-call-read-only-tool"];

/// A call through the catalogue is the call of its target, from a request and from a handler, in all revisions.
#[test]
fn a_target_is_called_in_each_revision() {
    for revision in Revision::ALL {
        for by in BOTH {
            let server = Server::tools(["t"]);
            let endpoint = searching(server.mount());
            let client = caller(&endpoint, &TestHost::new()).revision(revision);
            let answer = testing::run(client.call(by, json!({ "name": "m_t", "arguments": { "a": [1] } })));
            assert_eq!((answer.text(), answer.is_error()), (r#"t {"a":[1]}"#, false), "{revision} {by} {answer:?}");
            assert_eq!(server.methods(), ["tools/call"], "one request");
            let answer = testing::run(client.call(by, json!({ "name": "m_t" })));
            assert_eq!(answer.text(), "t {}", "arguments can be left out");
        }
    }
}

/// A target that does not exist for the caller is unknown: by filter, visibility, pin, or because it is a tool of the server itself.
#[test]
fn unknown_targets_are_not_called() {
    let server = Server::tools(["t"]);
    let wrong = "sha256-RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=";
    for mount in [
        server.mount().without(["t"]),
        server.mount().tools(["other"]),
        server.mount().rename("t", "u"),
        server.mount().each_tool(|tool| tool.visible_if(|_| false)),
        server.mount().pins_only(),
        server.mount().pin("t", wrong),
    ] {
        let endpoint = searching(mount);
        for by in BOTH {
            let answer = through(&endpoint, &TestHost::new(), by, "m_t", json!({}));
            assert!(answer.is_error() && answer.text().starts_with("Unknown tool"), "{by} {answer:?}");
            assert!(server.methods().iter().all(|method| method == "tools/list"));
        }
    }
    let shadowed = serving(gateway([("m", server.mount().catalogue(Catalogue::Search))]), |it| {
        it.tool(Tool::new("m_t", "The local one.", || async { "local" })).tool(outer("call-tool"))
    });
    for by in BOTH {
        let answer = through(&shadowed, &TestHost::new(), by, "m_t", json!({}));
        assert!(answer.is_error() && server.take().is_empty(), "{by} {answer:?}");
    }
    let endpoint = searching(server.mount().apps());
    for name in [
        "",
        "t",
        "m",
        "x_t",
        "M_t",
        "call-tool",
        "find-tools",
        "outer-call-tool",
        "m_t_01234567",
        "\u{200b}m_t",
        "m_t\n",
    ] {
        for by in [BOTH, READ_ONLY].concat() {
            let answer = through(&endpoint, &TestHost::new(), by, name, json!({}));
            assert!(answer.is_error(), "{by} {name} {answer:?}");
        }
    }
    assert!(server.methods().iter().all(|method| method == "tools/list" || method == "tools/call"));
}

/// A name that the server cannot have, or arguments that are not an object, are refused by the schema.
#[test]
fn arguments_are_checked() {
    let server = Server::tools(["t"]);
    let endpoint = searching(server.mount());
    for by in BOTH {
        for arguments in [
            json!({}),
            json!({ "name": 7 }),
            json!({ "name": null, "arguments": {} }),
            json!({ "name": "m_t", "arguments": "x" }),
            json!({ "name": "m_t", "arguments": [1] }),
            json!({ "name": "m_t", "arguments": null }),
            json!({ "name": "m_t", "arguments": 7 }),
        ] {
            let answer = testing::run(caller(&endpoint, &TestHost::new()).call(by, arguments.clone()));
            assert!(answer.is_error(), "{by} {arguments} {answer:?}");
            assert!(server.take().is_empty(), "{by} {arguments}");
        }
    }
    let large = json!({ "x": "x".repeat(100) });
    let limited = searching(server.mount().each_tool(|tool| tool.argument_limit(64)));
    for by in BOTH {
        let answer = through(&limited, &TestHost::new(), by, "m_t", large.clone());
        assert!(answer.is_error() && answer.text().contains("limit: 64"), "{answer:?}");
    }
}

/// C102: the scopes of the target are required, with a 403 that names them for a request.
#[test]
fn the_scopes_of_the_target_are_required() {
    let server = Server::tools(["t", "merge"]);
    let mount =
        || server.mount().each_tool(|tool| if tool.name() == "m_merge" { tool.scopes(["merge"]) } else { tool });
    let without = with_scopes(searching(mount()), &[]);
    for by in ["call-tool", "call-read-only-tool"] {
        let refused = through(&without, &TestHost::new(), by, "m_merge", json!({}));
        assert_eq!(refused.status(), 403, "{by}");
        assert!(refused.header("www-authenticate").is_some_and(|it| it.contains("scope=\"merge\"")), "{refused:?}");
    }
    let nested = through(&without, &TestHost::new(), "outer-call-tool", "m_merge", json!({}));
    assert!(nested.is_error() && nested.text().contains("needs the scope merge"), "{nested:?}");
    assert!(server.take().is_empty());
    let with = with_scopes(searching(mount()), &["merge"]);
    for by in BOTH {
        assert_eq!(through(&with, &TestHost::new(), by, "m_merge", json!({})).text(), "merge {}");
        assert_eq!(through(&without, &TestHost::new(), by, "m_t", json!({})).text(), "t {}");
    }
}

/// C102: hooks, the deadline and the approval of the target apply, and the log and the hooks of the server name the target.
#[test]
fn the_settings_of_the_target_apply() {
    let server = Server::tools(["t"]);
    let seen = Rc::new(RefCell::new(Vec::new()));
    for by in BOTH {
        let of_server = seen.clone();
        let mount = server.mount().catalogue(Catalogue::Search);
        let endpoint = serving(gateway([("m", mount)]), move |it| {
            let seen = of_server.clone();
            it.tool(outer("call-tool")).hook(move |name: Cow<'static, str>, event: ToolEvent, _: Context| {
                let seen = seen.clone();
                async move {
                    if let ToolEvent::InputAvailable(arguments) = event {
                        seen.borrow_mut().push((name.to_string(), arguments.to_string()));
                    }
                    Ok(())
                }
            })
        });
        let (endpoint, host) = (endpoint.log(LogPolicy::All), TestHost::new());
        through(&endpoint, &host, by, "m_t", json!({ "a": 1 }));
        let calls = seen.take();
        assert_eq!(calls.last(), Some(&("m_t".to_owned(), r#"{"a":1}"#.to_owned())), "{by}");
        if by == "call-tool" {
            assert_eq!(calls.len(), 1);
            let log = host.log();
            let line = log
                .iter()
                .find(|line| line["name"] == "call-tool" || line["target"] == "call-tool")
                .unwrap_or_else(|| panic!("{log:?}"));
            assert_eq!(line["called"], "m_t", "{line}");
        }
        let approving =
            |tool: Tool| tool.requires_approval(|_: Value, _: Context| async { Ok(Some(Cow::from("Call it?"))) });
        let asking = searching(server.mount().each_tool(approving));
        server.take();
        let client = caller(&asking, &TestHost::new());
        let arguments = json!({ "name": "m_t", "arguments": { "a": 1 } });
        let declined = testing::run(client.clone().decline("edge-mcp/approval").call(by, arguments.clone()));
        assert!(declined.text().contains("`m_t` was not approved") && server.take().is_empty(), "{declined:?}");
        let question = declined.questions().values().next().expect("a question")["params"]["message"].to_string();
        assert!(question.contains("Tool: m_t") && question.contains(r#"{\"a\":1}"#), "{question}");
        let accepted = testing::run(client.answer("edge-mcp/approval", json!({})).call(by, arguments));
        assert_eq!(accepted.text(), r#"t {"a":1}"#);
        let late = searching(Server::silent().mount().each_tool(|tool| tool.deadline(Duration::from_secs(1))));
        let host = TestHost::new();
        assert!(through(&late, &host, by, "m_t", json!({})).is_error());
        assert_eq!(host.waits(), [Duration::from_secs(1)]);
    }
}

/// A call of a tool that is not read-only is in the log of a server that logs only those. A read-only one is not.
#[test]
fn the_log_knows_whether_the_target_changes_data() {
    let read_only = |tool: Tool| if tool.name() == "m_r" { tool.read_only() } else { tool };
    for (name, by, is_logged) in [
        ("m_t", "call-tool", true),
        ("m_r", "call-tool", false),
        ("m_r", "call-read-only-tool", false),
        ("m_t", "call-read-only-tool", false),
    ] {
        let endpoint = searching(Server::tools(["t", "r"]).mount().each_tool(read_only)).log(LogPolicy::Failures);
        let host = TestHost::new();
        through(&endpoint, &host, by, name, json!({}));
        let is_in_log = host.log().iter().any(|line| line["called"] == name && line.get("error").is_none());
        assert!(is_in_log || !is_logged, "{name} by {by}: {}", host.log_text());
    }
}

/// `call-read-only-tool` calls only tools that the program declares read-only, or that a trusted server does. Contradicting hints count as none.
#[test]
fn only_trusted_read_only_tools_are_called_as_such() {
    let hinted = |name: &str, annotations: Value| {
        let mut tool = tool(name);
        tool["annotations"] = annotations;
        tool
    };
    let long = "read-".repeat(12);
    let lists = json!({ "tools": [
        hinted("read", json!({ "readOnlyHint": true })),
        hinted(&long, json!({ "readOnlyHint": true })),
        hinted("both", json!({ "readOnlyHint": true, "destructiveHint": true })),
        hinted("text", json!({ "readOnlyHint": "true" })),
        hinted("write", json!({ "readOnlyHint": false })),
        hinted("undone", json!({ "readOnlyHint": true })),
        hinted("adding", json!({ "readOnlyHint": true })),
        tool("plain"),
    ] });
    let server = Server::with(lists);
    let listed = crate::servers::names(&crate::servers::endpoint([("m", server.mount())]));
    let hashed = listed.iter().find(|name| name.starts_with("m_read-read")).expect("a hashed name");
    let declared = |tool: Tool| match tool.name() {
        "m_plain" => tool.read_only(),
        "m_undone" => tool.destructive(),
        "m_adding" => tool.additive(),
        _ => tool,
    };
    for is_trusted in [false, true] {
        let upstream = if is_trusted { server.upstream().trusted() } else { server.upstream() };
        let endpoint = searching(Mount::new(upstream).each_tool(declared));
        for by in READ_ONLY {
            for (name, is_called) in [
                ("m_read", is_trusted),
                (&**hashed, is_trusted),
                ("m_both", false),
                ("m_text", false),
                ("m_write", false),
                ("m_plain", true),
                ("m_undone", false),
                ("m_adding", false),
                ("m_none", false),
                ("read", false),
                ("find-tools", false),
                ("call-tool", false),
                ("outer-call-tool", false),
            ] {
                server.take();
                let answer = through(&endpoint, &TestHost::new(), by, name, json!({}));
                assert_eq!(!answer.is_error(), is_called, "{by} {name} {is_trusted}: {answer:?}");
                assert_eq!(server.methods().contains(&"tools/call".to_owned()), is_called, "{by} {name}");
            }
        }
    }
}

/// A name of a target cannot be longer than a line of the log.
#[test]
fn the_name_of_a_target_is_shortened_in_the_log() {
    let (endpoint, host) = (searching(Server::tools(["t"]).mount()).log(LogPolicy::All), TestHost::new());
    through(&endpoint, &host, "call-tool", &format!("m_{}", "x".repeat(100_000)), json!({}));
    assert!(host.log_text().len() < 4000, "{}", host.log_text().len());
}
