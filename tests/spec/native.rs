//! Tool calls within the program: by the program itself and by other tools.

use std::cell::RefCell;
use std::rc::Rc;

use edge_mcp::auth::Principal;
use edge_mcp::call::ToolEvent;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, Json, McpServer, RequestInfo, StaticTokens, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::input_required::{all_capabilities, answer_all, ask_with, retry};
use crate::support::{Internal, SECRET, legacy};

#[derive(Deserialize, JsonSchema)]
struct Number {
    n: i32,
}

#[derive(Serialize, JsonSchema)]
struct Double {
    #[schemars(range(max = 100))]
    double: i32,
}

#[derive(Deserialize, JsonSchema)]
struct Called {
    name: String,
    arguments: Value,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

const TOKENS: &str = r#"[
    {"token": "ada", "subject": "ada", "scopes": []},
    {"token": "bob", "subject": "bob", "scopes": ["kb:write"]}
]"#;

struct Tenant(&'static str);

async fn tenant(cx: Context) -> String {
    let tenant = cx.extension::<Tenant>().map_or("no tenant", |tenant| tenant.0);
    format!("{tenant} for {}", cx.caller().map_or("no caller", |caller| &caller.subject))
}

async fn ask(cx: Context) -> Result<String, HandlerError> {
    match cx.elicit::<Name>("name", "What is your name?").await? {
        FormAnswer::Accepted(Name { name }) => Ok(name),
        FormAnswer::Declined | FormAnswer::Cancelled => Ok("no name".into()),
    }
}

/// Calls the tool `name` with `arguments`.
async fn call(Called { name, arguments }: Called, cx: Context) -> Result<String, HandlerError> {
    cx.progress(1.0, Some(2.0), "calling");
    let result = cx.call_tool(&name, arguments).await?;
    cx.progress(2.0, Some(2.0), "called");
    Ok(format!("{}: {}", if result.is_error() { "failed" } else { "said" }, result.text()))
}

async fn progress(cx: Context) -> &'static str {
    cx.progress(50.0, Some(100.0), "nested");
    "done"
}

async fn forever(cx: Context) -> Result<String, HandlerError> {
    Ok(cx.call_tool("forever", json!({})).await?.text())
}

type Seen = Rc<RefCell<Vec<&'static str>>>;

fn server(seen: &Seen) -> McpServer {
    let seen = seen.clone();
    let look = move |event, _| {
        seen.borrow_mut().push(match event {
            ToolEvent::InputStart => "start",
            ToolEvent::Output(_) => "output",
            ToolEvent::Error(_) => "error",
            ToolEvent::Finished(_) => "end",
            _ => "input",
        });
        async { Ok(()) }
    };
    let double = |Number { n }: Number| async move { Json(Double { double: n * 2 }) };
    McpServer::builder("s", "1")
        .tool(Tool::new("double", "Doubles.", double).hook(look))
        .tool(Tool::new("break", "Breaks.", || async { Err::<String, HandlerError>(Internal.into()) }))
        .tool(Tool::new("write", "Writes.", || async { "written" }).scopes(["kb:write"]))
        .tool(Tool::new("hidden", "Hides.", || async { "seen" }).visible_if(|_| false))
        .tool(Tool::new("tenant", "Returns the tenant and the caller.", tenant))
        .tool(Tool::new("ask", "Asks.", ask))
        .tool(Tool::new("progress", "Sends progress.", progress))
        .tool(Tool::new("call", "Calls.", call))
        .tool(Tool::new("forever", "Calls itself.", forever))
        .build()
        .expect("a server")
}

fn endpoint() -> Endpoint {
    testing::endpoint(|request| {
        request.extend(Tenant("acme"));
        Ok(server(&Seen::default()))
    })
    .auth(StaticTokens::from_json("T", Some(TOKENS)).expect("tokens"))
}

/// A call by the program returns the same result or error that a client would get.
#[test]
fn the_program_can_call_tools() {
    let (seen, host) = (Seen::default(), TestHost::new());
    let server = Rc::new(server(&seen));
    let execute = |name: &str, arguments: Value, caller: Option<Principal>| {
        let (head, ()) = http::Request::new(()).into_parts();
        let cx = Context::for_program(RequestInfo::new(Rc::new(head), caller), Rc::new(host.clone()));
        testing::run(host.run(server.execute_tool(name, arguments, &cx))).expect("it ends")
    };
    let ada = || Some(Principal::new("ada"));
    for (name, arguments, caller, says) in [
        ("double", json!({ "n": 4 }), None, Ok(("{\"double\":8}", false))),
        ("double", json!({ "n": "4" }), None, Ok(("- `n` must be an integer (got \"4\")", true))),
        ("double", json!({}), None, Ok(("- `n` is required", true))),
        ("double", json!({ "n": 51 }), None, Ok(("does not fit its own output schema", true))),
        ("double", json!([4]), None, Err("The arguments of `double` must be an object.")),
        ("break", json!({}), None, Ok(("The server failed to answer this request.", true))),
        ("halve", json!({}), None, Err("Unknown tool `halve`. Call tools/list for the available tools.")),
        ("write", json!({}), None, Ok(("written", false))),
        ("write", json!({}), ada(), Err("`write` needs the scope kb:write, which the caller does not have.")),
        ("tenant", json!({}), ada(), Ok(("no tenant for ada", false))),
        ("ask", json!({}), None, Err("and the client cannot be asked")),
        ("call", json!({ "name": "double", "arguments": { "n": 1 } }), None, Ok(("said: {\"double\":2}", false))),
    ] {
        match (execute(name, arguments.clone(), caller), says) {
            (Ok(result), Ok((text, is_error))) => {
                assert!(result.text().contains(text), "{name} {arguments}: {}", result.text());
                assert_eq!(result.is_error(), is_error, "{name} {arguments}");
                assert!(!result.text().contains(SECRET));
            }
            (Err(error), Err(text)) => assert!(error.message().contains(text), "{name}: {}", error.message()),
            (result, _) => panic!("{name} {arguments}: {result:?}"),
        }
    }
    let events = seen.borrow().join(" ");
    let whole = "start input input output end";
    assert_eq!(
        events,
        [whole, "start input error end", "start input error end", "start input input error end", whole].join(" "),
        "hooks get the same events as for other calls"
    );
}

/// A tool can call another tool, with the scopes of the caller and the extensions of the request.
#[test]
fn a_tool_can_call_another_tool() {
    let endpoint = endpoint();
    for (token, name, arguments, says) in [
        ("ada", "double", json!({ "n": 4 }), "said: {\"double\":8}"),
        ("ada", "double", json!({ "n": 4.5 }), "failed: The arguments of `double`"),
        ("ada", "tenant", json!({}), "said: acme for ada"),
        ("ada", "write", json!({}), "`write` needs the scope kb:write, which the caller does not have."),
        ("bob", "write", json!({}), "said: written"),
        ("bob", "hidden", json!({}), "Unknown tool `hidden`."),
        ("bob", "forever", json!({}), "`forever` was not called: tool calls are nested too deeply (limit: 8)."),
        ("bob", "call", json!({ "name": "double", "arguments": { "n": 1 } }), "said: said: {\"double\":2}"),
    ] {
        let params = json!({ "name": "call", "arguments": { "name": name, "arguments": arguments } });
        let answer = legacy("tools/call", params).bearer(token).ask_at(&endpoint);
        assert!(answer.tool_text().0.contains(says), "{token} {name}: {answer:?}");
    }
}

/// Questions of nested tools reach the client. Progress of nested tools does not.
#[test]
fn questions_of_nested_tools_reach_the_client() {
    let endpoint = endpoint();
    let params = json!({ "name": "call", "arguments": { "name": "ask", "arguments": {} } });
    let first = ask_with(all_capabilities(), "tools/call", params.clone(), "ada", &endpoint);
    let questions = first.result()["inputRequests"].as_object().expect("questions");
    let keys: Vec<_> = questions.keys().map(String::as_str).collect();
    assert_eq!(keys, ["ask-17e26d7f/name"], "the key has the call path and the key of the tool");
    let again =
        retry(&params, &first, answer_all(&first, &json!({ "action": "accept", "content": { "name": "Ada" } })));
    let second = ask_with(all_capabilities(), "tools/call", again, "ada", &endpoint);
    assert_eq!(second.tool_text(), ("said: Ada", false));
    let rejected = ask_with(json!({}), "tools/call", params, "ada", &endpoint);
    assert_eq!(rejected.refusal(), (400, -32021), "the same error as for a direct call of the tool");

    let mut params = json!({ "name": "call", "arguments": { "name": "progress", "arguments": {} } });
    params["_meta"] = json!({ "progressToken": "p" });
    let answer = legacy("tools/call", params)
        .bearer("ada")
        .header("Accept", "application/json, text/event-stream")
        .ask_at(&endpoint);
    let progress: Vec<_> = answer.notifications.iter().map(|sent| sent["params"]["progress"].as_f64()).collect();
    assert_eq!(progress, [Some(1.0), Some(2.0)]);
}

/// On an endpoint without authentication, a handler that needs the caller has an error result.
#[test]
fn a_handler_that_needs_its_caller_is_an_error_without_one() {
    let subject = async |cx: Context| Ok::<_, HandlerError>(cx.caller()?.subject.clone());
    let server = McpServer::builder("s", "1").tool(Tool::new("whoami", "Names the caller.", subject));
    let server = server.build().expect("a server");
    let (anonymous, host) = (testing::context(&TestHost::new()), TestHost::new());
    let head = http::Request::new(()).into_parts().0;
    let ada = Context::for_program(RequestInfo::new(Rc::new(head), Some(Principal::new("ada"))), Rc::new(host));
    let said = |cx: &Context| {
        let result = testing::run(server.execute_tool("whoami", json!({}), cx)).expect("a result");
        (result.is_error(), result.text())
    };
    assert_eq!(said(&ada), (false, "ada".to_owned()));
    assert_eq!(said(&anonymous), (true, "This needs a signed-in caller. Sign in first.".to_owned()));
}
