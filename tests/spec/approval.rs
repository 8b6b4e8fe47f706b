//! Approval: a person confirms a call of a tool before it runs.

use edge_mcp::agents::ChatAgent;
use edge_mcp::call::ToolEvent;
use edge_mcp::testing::TestHost;
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::chat_agent::{local, over};
use crate::fake_model::{calls, model, text};
use crate::input_required::{all_capabilities, answer_all, retry, with_capabilities};
use crate::rounds::{Done, ask_on, keys, note, open, rounds, yes};
use crate::support::{Answer, envelope, legacy, modern};

#[derive(Deserialize, JsonSchema)]
struct Payment {
    euros: u32,
}

/// Returns a tool that needs approval for more than 100 euros. It records its payments in `done`.
fn pay(done: &Done) -> Tool {
    let (paid, seen) = (done.clone(), done.clone());
    let handler = move |Payment { euros }: Payment| {
        // The payment is not part of the future, because a handler may start its work when it is called.
        note(&paid, format!("paid {euros}"));
        async move { format!("Paid {euros}.") }
    };
    let hook = move |event: ToolEvent, _: Context| {
        match event {
            ToolEvent::InputStart => note(&seen, "hook"),
            ToolEvent::Approval { is_approved } => note(&seen, format!("approved: {is_approved}")),
            _ => {}
        }
        async { Ok(()) }
    };
    Tool::new("pay", "Pays a bill.", handler)
        .hook(hook)
        .requires_approval(async |Payment { euros }: Payment, _| Ok((euros > 100).then(|| "Pay this much?".into())))
}

fn endpoint(done: &Done) -> Endpoint {
    let done = done.clone();
    open(move || {
        let outer = |cx: Context| async move {
            let pay = |euros: u32| cx.call_tool("pay", json!({ "euros": euros }));
            let (first, second) = futures::try_join!(pay(200), pay(300))?;
            Ok::<_, HandlerError>(format!("{} {}", first.text(), second.text()))
        };
        McpServer::builder("s", "1")
            .tool(pay(&done))
            .tool(Tool::new("outer", "Pays twice.", outer))
            .agent(ChatAgent::new("clerk", "Clerk", "Pays.", local()).tools(["pay"]))
            .build()
    })
}

fn call(euros: u32) -> Value {
    json!({ "name": "pay", "arguments": { "euros": euros } })
}

#[test]
fn a_call_runs_after_its_approval() {
    let done = Done::default();
    let endpoint = endpoint(&done);
    let first = ask_on(&endpoint, &call(200), &TestHost::new());
    assert_eq!(
        (keys(&first), done.borrow().len()),
        (vec!["edge-mcp/approval".to_owned()], 0),
        "the tool and its hook did not run"
    );
    let asked = &first.result()["inputRequests"]["edge-mcp/approval"];
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Pay this much?\n\nTool: pay\nArguments: {\"euros\":200}");
    assert_eq!(asked["params"]["requestedSchema"], json!({ "type": "object", "properties": {} }));
    let accept = json!({ "action": "accept", "content": {} });
    let second = ask_on(&endpoint, &retry(&call(200), &first, answer_all(&first, &accept)), &TestHost::new());
    assert_eq!(
        (second.tool_text(), done.take()),
        (("Paid 200.", false), vec!["paid 200".to_owned(), "hook".to_owned(), "approved: true".to_owned()])
    );
}

#[test]
fn a_call_that_is_not_approved_does_not_run() {
    for action in ["decline", "cancel"] {
        let done = Done::default();
        let endpoint = endpoint(&done);
        let first = ask_on(&endpoint, &call(200), &TestHost::new());
        let answers = answer_all(&first, &json!({ "action": action }));
        let second = ask_on(&endpoint, &retry(&call(200), &first, answers), &TestHost::new());
        let (text, is_error) = second.tool_text();
        assert!(is_error && text.contains("was not approved"), "{text}");
        assert_eq!(*done.borrow(), ["hook", "approved: false"], "{action}");
    }
}

#[test]
fn arguments_are_checked_first_and_small_payments_need_no_approval() {
    let done = Done::default();
    let endpoint = endpoint(&done);
    let invalid = ask_on(&endpoint, &json!({ "name": "pay", "arguments": { "euros": "many" } }), &TestHost::new());
    assert!(invalid.tool_text().1 && invalid.tool_text().0.contains("`euros`"), "{invalid:?}");
    assert_eq!(ask_on(&endpoint, &call(100), &TestHost::new()).tool_text(), ("Paid 100.", false));
}

/// A number beyond the range of `f64` cannot be passed to the approval predicate or to hooks. So such arguments are rejected.
#[test]
fn numbers_that_the_predicate_cannot_read_are_rejected() {
    /// Allows other members, and ignores them.
    #[derive(Deserialize, JsonSchema)]
    #[schemars(extend("additionalProperties" = true))]
    struct Open {
        euros: u32,
    }
    let done = Done::default();
    let of = done.clone();
    let endpoint = open(move || {
        let (paid, seen) = (of.clone(), of.clone());
        let handler = move |Open { euros }: Open| {
            note(&paid, format!("paid {euros}"));
            async move { "Paid." }
        };
        let hook = move |event: ToolEvent, _: Context| {
            if let ToolEvent::InputAvailable(arguments) = event {
                note(&seen, arguments["euros"].to_string());
            }
            async { Ok(()) }
        };
        let large = async |bill: Open, _| Ok((bill.euros > 100).then(|| "Pay this much?".into()));
        let tool = Tool::new("pay", "Pays a bill.", handler).hook(hook).requires_approval(large);
        McpServer::builder("s", "1").tool(tool).build()
    });
    // `serde_json::Value` cannot hold the number, so the body is text.
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"euros":200,"note":1e400}}}"#;
    let answer = legacy("tools/call", json!({})).with_body(body).ask_at(&endpoint);
    let (text, is_error) = answer.tool_text();
    assert!(is_error && text.contains("out of range"), "{text}");
    assert!(done.borrow().is_empty(), "{:?}", done.borrow());
}

/// Returns the question for a payment with these arguments, as JSON text.
fn question(arguments: &str) -> String {
    let asked = transfer(arguments);
    asked.result()["inputRequests"]["edge-mcp/approval"]["params"]["message"].as_str().expect("a text").to_owned()
}

/// Returns the first answer to a payment with these arguments, as JSON text.
fn transfer(arguments: &str) -> Answer {
    #[derive(Deserialize, JsonSchema)]
    #[schemars(extend("additionalProperties" = true))]
    struct Transfer {
        to: String,
        amount: u32,
    }
    let endpoint = open(|| {
        let pay = |Transfer { to, amount }: Transfer| async move { format!("{to} {amount}") };
        let question = async |Transfer { to, .. }: Transfer, _| Ok(Some(format!("Pay {to}?").into()));
        let pay = Tool::new("pay", "Pays.", pay).requires_approval(question);
        McpServer::builder("s", "1").tool(pay).build()
    });
    // The arguments have white space and escapes, so the body is text.
    let mut params = json!({ "name": "pay", "arguments": "ARGUMENTS" });
    let ask = with_capabilities(all_capabilities(), "tools/call", params.clone());
    params["_meta"] = envelope();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = all_capabilities();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    ask.with_body(body.replace("\"ARGUMENTS\"", arguments)).ask_at(&endpoint)
}

/// The spelling and the length of arguments do not decide which of them the question shows.
#[test]
fn white_space_and_long_arguments_do_not_hide_others() {
    let filled = format!("{{{}\"to\":\"Ada\",\"amount\":999999}}", "\n ".repeat(1000));
    assert_eq!(question(&filled), "Pay Ada?\n\nTool: pay\nArguments: {\"to\":\"Ada\",\"amount\":999999}");
    let long = format!("{{\"note\":\"{}\",\"to\":\"Ada\",\"amount\":999999}}", "x ".repeat(3000));
    let shown = question(&long);
    assert!(shown.ends_with("\"…,\"to\":\"Ada\",\"amount\":999999}") && shown.chars().count() < 4100, "{shown}");
}

/// A member that is left out could be the decisive one. So a person is not asked if the question cannot show all members.
#[test]
fn arguments_that_the_question_cannot_show_are_refused() {
    for others in [format!("\"list\":[{}0]", "1,".repeat(2000)), format!("\"{}\":1", "x".repeat(4000))] {
        let refused = transfer(&format!("{{{others},\"to\":\"Ada\",\"amount\":999999}}"));
        let expected = "The arguments of `pay` are too long to show them for approval. Send less in one call.";
        assert_eq!(refused.tool_text(), (expected, true));
    }
    let payments: Vec<_> = (0..45).map(|nth| format!("{{\"to\":\"account-{nth}\",\"amount\":1}},")).collect();
    let arguments =
        format!("{{\"to\":\"Ada\",\"amount\":1,\"list\":[{}{{\"to\":\"Eve\",\"amount\":999999}}]}}", payments.concat());
    assert!(question(&arguments).ends_with(&format!("\nArguments: {arguments}")));
}

/// The question of the program is one line, so an argument in it cannot imitate the lines after it.
#[test]
fn arguments_do_not_forge_lines_of_the_question() {
    let shown = question(r#"{"to":"Ada?\n\nTool: read-balance\nArguments: {}\n\n\n\n\u202e","amount":7}"#);
    let lines: Vec<_> = shown.lines().collect();
    let arguments = r#"Arguments: {"to":"Ada?\n\nTool: read-balance\nArguments: {}\n\n\n\n\u202e","amount":7}"#;
    assert_eq!(lines, ["Pay Ada? Tool: read-balance Arguments: {} ?", "", "Tool: pay", arguments]);
    let long = question(&format!(r#"{{"to":"{}","amount":7}}"#, "x".repeat(5000)));
    assert!(long.contains("…\n\nTool: pay\nArguments: {\"to\":\"xxx") && long.chars().count() < 4600, "{long}");
}

#[test]
fn an_approval_is_valid_for_its_arguments_only() {
    let done = Done::default();
    let endpoint = endpoint(&done);
    let first = ask_on(&endpoint, &call(200), &TestHost::new());
    let other = ask_on(&endpoint, &retry(&call(999), &first, answer_all(&first, &yes())), &TestHost::new());
    assert_eq!(other.refusal(), (200, -32602));
    assert!(done.borrow().is_empty());
}

/// Each nested call needs its own approval. Parallel calls ask in one round.
#[test]
fn each_nested_call_needs_its_own_approval() {
    let done = Done::default();
    let rounds = rounds(&endpoint(&done), &json!({ "name": "outer" }), &TestHost::new());
    assert_eq!((rounds.len(), keys(&rounds[0]).len()), (2, 2));
    assert_eq!(rounds[1].tool_text(), ("Paid 200. Paid 300.", false));
    assert!(done.borrow().contains(&"paid 200".to_owned()) && done.borrow().contains(&"paid 300".to_owned()));
}

#[test]
fn calls_by_an_agent_need_approval() {
    let done = Done::default();
    let network = model([calls(&[("pay", json!({ "euros": 200 }))]), text("Done.")]);
    let params = json!({ "name": "ask_clerk", "arguments": { "message": "Pay!" } });
    let rounds = rounds(&endpoint(&done), &params, &over(&network));
    assert_eq!((rounds.len(), rounds[1].tool_text()), (2, ("Done.", false)));
    assert_eq!(*done.borrow(), ["paid 200", "hook", "approved: true"]);
    assert_eq!(network.requests().len(), 2);
}

/// Clients of older revisions and clients without elicitation cannot be asked. The call fails before the handler runs. The tool list
/// shows in `_meta` that the tool requires approval.
#[test]
fn clients_that_cannot_be_asked_get_an_error() {
    let done = Done::default();
    let endpoint = endpoint(&done);
    for ask in [legacy("tools/call", call(200)), modern("tools/call", call(200))] {
        let answer = ask.ask_at(&endpoint);
        let (text, is_error) = answer.tool_text();
        let expected = "This call of `pay` needs the approval of a person, and the client cannot be asked. Nothing was done. Use a \
                        client of 2026-07-28 that declares form elicitation.";
        assert_eq!((text, is_error), (expected, true));
        assert_eq!(done.take(), ["hook"], "the client was not asked");
    }
    for ask in [legacy("tools/list", json!({})), modern("tools/list", json!({}))] {
        assert_eq!(ask.ask_at(&endpoint).result()["tools"][0]["_meta"], json!({ "edge-mcp/approval": true }));
    }
}

#[test]
fn a_server_that_requires_approval_needs_a_state_key() {
    let done = Done::default();
    let server = move |_: &_| McpServer::builder("s", "1").tool(pay(&done)).build();
    let endpoint = Endpoint::new(server).without_auth().without_rate_limit();
    let answer = modern("tools/list", json!({})).ask_at(&endpoint);
    assert_eq!(answer.status, 503);
    assert!(answer.message().contains("MCP_STATE_KEY"), "{}", answer.message());
}
