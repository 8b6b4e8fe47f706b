//! Tools of other servers as tools of an agent.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use edge_mcp::agents::{ChatAgent, ChatModel};
use edge_mcp::call::ToolEvent;
use edge_mcp::client::{InProcess, McpClient, MemoryTokens, SignIn, TokenKeys, Upstream};
use edge_mcp::source::{ListKind, Source, SourceItems};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, Endpoint, FormAnswer, HandlerError, McpServer, StaticTokens, Tool};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::calls::track_tool;
use crate::fake_model::{asked, calls, model, text};
use crate::peer::{Answer, Peer, result};

fn parcels() -> Upstream {
    let parcels = InProcess::new(testing::endpoint(|_| {
        let fail = || async { Err::<String, _>(HandlerError::new("No van today.")) };
        McpServer::builder("parcels", "1.0.0")
            .tool(track_tool().read_only())
            .tool(Tool::new("collect.now", "Collects a parcel.", fail))
            .build()
    }));
    Upstream::via("http://localhost/mcp", parcels).expect("a URL")
}

fn client(upstream: Upstream) -> McpClient {
    McpClient::builder("desk", "1.0.0").server("parcels", upstream).build().expect("a client")
}

fn clerk() -> ChatAgent {
    let model = ChatModel::new("http://localhost:11434/v1", "small").expect("a model");
    ChatAgent::new("clerk", "The clerk", "Knows.", model).tools(["greet"])
}

/// Serves the agent next to the tools `greet` and `secret`.
fn desk(agent: impl Fn() -> ChatAgent + 'static) -> Endpoint {
    testing::endpoint(move |_| {
        McpServer::builder("desk", "1.0.0")
            .tool(Tool::new("greet", "Says hello.", || async { "Hello" }))
            .tool(Tool::new("secret", "Is not for the agent.", || async { "told" }))
            .agent(agent())
            .build()
    })
}

fn ask(endpoint: &Endpoint, host: &TestHost) -> String {
    let answer = testing::run(Client::new(endpoint).host(host).call("ask_clerk", json!({ "message": "Where is 7?" })));
    assert!(!answer.is_error(), "{answer:?}");
    answer.text().to_owned()
}

/// Returns the names of the tools that the first request offered to the model.
fn offered(host: &TestHost) -> Vec<String> {
    let request = asked(host).remove(0);
    let name = |tool: &Value| tool["function"]["name"].as_str().expect("a name").to_owned();
    request["tools"].as_array().expect("tools").iter().map(name).collect()
}

/// Returns the last message of the last request: the result of the last tool call.
fn last_result(host: &TestHost) -> String {
    let request = asked(host).pop().expect("a request");
    let message = request["messages"].as_array().and_then(|messages| messages.last().cloned()).expect("a message");
    message["content"].as_str().expect("a text").to_owned()
}

#[test]
fn an_agent_calls_tools_of_other_servers() {
    let client = client(parcels());
    let endpoint = desk(move || clerk().source(client.tools(["parcels_track", "parcels_collect.now"])));
    let host = model([calls(&[("parcels_track", json!({ "number": 7 }))]), text("In Lyon.")]);
    assert_eq!(ask(&endpoint, &host), "In Lyon.");
    assert_eq!(offered(&host), ["greet", "parcels_track", "parcels_collect_now"]);
    let parameters = &asked(&host)[0]["tools"][1]["function"]["parameters"];
    assert_eq!(parameters["properties"]["number"]["type"], "integer");
    assert_eq!(last_result(&host), "Parcel 7 is in Lyon.");
    // The other server enforces its schema, and its errors are results.
    for (tool, arguments, expected) in [
        ("parcels_track", json!({ "number": "x" }), "The tool failed: The arguments of `track` do not fit"),
        ("parcels_collect_now", json!({}), "The tool failed: No van today."),
        ("parcels_lose", json!({}), "There is no tool `parcels_lose`."),
        ("secret", json!({}), "There is no tool `secret`."),
    ] {
        let host = model([calls(&[(tool, arguments)]), text("Done.")]);
        ask(&endpoint, &host);
        assert!(last_result(&host).starts_with(expected), "{tool}: {}", last_result(&host));
    }
}

/// The server itself neither lists nor calls the tools of its agents' sources.
#[test]
fn the_source_of_an_agent_is_not_served() {
    let client = client(parcels());
    let endpoint = desk(move || clerk().source(client.tools(["parcels_track"])));
    testing::run(async {
        let client = Client::new(&endpoint);
        assert_eq!(client.list("tools").await.names(), ["greet", "secret", "ask_clerk"]);
        let answer = client.call("parcels_track", json!({ "number": 7 })).await;
        assert!(answer.error().is_some_and(|(_, message)| message.starts_with("Unknown tool `parcels_track`")));
    });
}

#[test]
fn without_names_an_agent_gets_read_only_tools_of_trusted_servers() {
    for (upstream, expected) in [(parcels(), vec!["greet"]), (parcels().trusted(), vec!["greet", "parcels_track"])] {
        let client = client(upstream);
        let endpoint = desk(move || clerk().source(client.read_only_tools()));
        let host = model([text("Hello.")]);
        ask(&endpoint, &host);
        assert_eq!(offered(&host), expected);
    }
}

/// C94: a server that fails does not affect the other tools. The answer and the log name it, and have nothing else of its answer.
#[test]
fn an_agent_answers_without_a_server_that_fails() {
    let answers = (0..3).map(|_| Answer::new(502, "text/html", "<p>SECRET-4711</p>"));
    let broken = Upstream::via("https://parcels.example/mcp", Peer::new(answers)).expect("a URL");
    let client = client(broken);
    let endpoint = desk(move || clerk().source(client.tools(["parcels_track"])));
    let host = model([text("Hello.")]);
    assert_eq!(ask(&endpoint, &host), "Hello.\nThe server `parcels` failed (status 502).");
    assert_eq!(offered(&host), ["greet"]);
    let log = host.log_text();
    assert!(log.contains("The server `parcels` failed (status 502).") && !log.contains("4711"), "{log}");
}

/// A server to which the caller must sign in does not affect the other tools. The log names it, and does not have the link, which is only for
/// the caller.
#[test]
fn the_link_of_a_sign_in_is_not_in_the_log() {
    let keys = TokenKeys::from_text("MCP_TOKEN_KEY", Some("0123456789abcdef0123456789abcdef")).expect("keys");
    let sign_in = SignIn::new("Desk", "https://desk.example/sign-in", keys, MemoryTokens::new()).expect("settings");
    let answers = (0..3).map(|_| Answer::new(401, "", ""));
    let closed = Upstream::via("https://parcels.example/mcp", Peer::new(answers)).expect("a URL").sign_in(&sign_in);
    let client = client(closed);
    let endpoint = desk(move || clerk().source(client.tools(["parcels_track"])));
    let host = model([text("Hello.")]);
    let tokens = json!([{ "token": "t", "subject": "ada", "scopes": [] }]).to_string();
    let endpoint = endpoint.auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(&tokens)).expect("tokens"));
    let ada = Client::new(&endpoint).host(&host).token("t").capabilities(json!({}));
    let answer = testing::run(ada.call("ask_clerk", json!({ "message": "Where is 7?" })));
    assert!(answer.text().starts_with("Hello.\nThe server `parcels` requires you to sign in."), "{answer:?}");
    let log = host.log_text();
    assert!(log.contains("The server `parcels` requires you to sign in.") && !log.contains("ticket"), "{log}");
}

/// A source with these tools.
struct Tools<F>(F);

impl<F: Fn() -> Vec<Tool>> Source for Tools<F> {
    fn tool(&self, name: &str) -> Option<Tool> {
        (name == "other").then(|| tool("other"))
    }

    fn find(&self, list: ListKind, _: &Context) -> LocalBoxFuture<'static, SourceItems> {
        assert_eq!(list, ListKind::Tools);
        ready((self.0)().into_iter().fold(SourceItems::default(), SourceItems::tool)).boxed_local()
    }
}

fn tool(name: &str) -> Tool {
    Tool::new(name.to_owned(), "Answers.", || async { "found" })
}

/// Scopes and visibility apply to the tools of a source. Tools that a model cannot call are left out.
#[test]
fn tools_that_cannot_be_called_are_not_offered() {
    let tools = || {
        vec![
            tool("dots.too"),
            tool("dots_too"),
            tool("greet"),
            tool("a b"),
            tool("café"),
            tool(&"x".repeat(65)),
            tool("scoped").scopes(["kb:write"]),
            tool("hidden").visible_if(|_| false),
            tool("last"),
        ]
    };
    let tokens = r#"[{"token": "ada", "subject": "ada", "scopes": []}, {"token": "bob", "subject": "bob", "scopes": ["kb:write"]}]"#;
    for (caller, expected) in
        [("ada", vec!["greet", "dots_too", "last"]), ("bob", vec!["greet", "dots_too", "scoped", "last"])]
    {
        let endpoint = desk(move || clerk().source(Tools(tools)));
        let endpoint = endpoint.auth(StaticTokens::from_json("T", Some(tokens)).expect("tokens"));
        let host = model([calls(&[("greet", json!({})), ("scoped", json!({}))]), text("Done.")]);
        let client = Client::new(&endpoint).host(&host).token(caller);
        testing::run(client.call("ask_clerk", json!({ "message": "?" })));
        assert_eq!(offered(&host), expected, "{caller}");
        let messages = asked(&host)[1]["messages"].as_array().expect("messages").clone();
        let results: Vec<_> = messages.iter().rev().take(2).map(|message| message["content"].clone()).collect();
        let scoped = if caller == "bob" { "found" } else { "There is no tool `scoped`." };
        assert_eq!(results, [scoped, "Hello"], "{caller}");
        for name in ["greet", "dots_too", "a b", "café"] {
            assert!(host.log_text().contains(&format!("was not offered the tool `{name}`")), "{name}");
        }
    }
}

#[test]
fn the_tools_of_a_source_are_bounded() {
    let many = || (0..200).map(|nth| tool(&format!("tool-{nth}"))).collect::<Vec<_>>();
    let schema = || json!({ "type": "object", "description": "x".repeat(60 << 10) });
    let long = move || {
        let tool = |nth| Tool::with_schema(format!("tool-{nth}"), "Long.", &schema(), None, |_: Value| async { "" });
        (0..20).map(tool).collect::<Vec<_>>()
    };
    let endpoints = [(desk(move || clerk().source(Tools(many))), 128), (desk(move || clerk().source(Tools(long))), 4)];
    for (endpoint, expected) in endpoints {
        let host = model([text("Hello.")]);
        ask(&endpoint, &host);
        assert_eq!(offered(&host).len(), 1 + expected);
        assert!(host.log_text().contains("was not offered all tools"));
    }
}

/// A result is shortened for the model, as a result of the server's own tools is.
#[test]
fn long_results_of_a_source_are_shortened() {
    let tools = || vec![Tool::new("long", "Goes on.", || async { "é".repeat(40_000) })];
    let endpoint = desk(move || clerk().source(Tools(tools)));
    let host = model([calls(&[("long", json!({}))]), text("Done.")]);
    ask(&endpoint, &host);
    assert!(last_result(&host).ends_with("(The result is cut off here: 14464 bytes are missing.)"));
}

#[test]
fn hooks_of_the_server_see_calls_of_a_source() {
    let seen = Rc::<RefCell<Vec<String>>>::default();
    let of_server = seen.clone();
    let endpoint = testing::endpoint(move |_| {
        let seen = of_server.clone();
        let agent = clerk().tools(Vec::<Cow<'static, str>>::new()).source(Tools(|| vec![tool("other")]));
        McpServer::builder("desk", "1.0.0")
            .tool(Tool::new("greet", "Says hello.", || async { "Hello" }))
            .hook(move |tool: Cow<'static, str>, event, _: Context| {
                if let ToolEvent::Output(result) = event {
                    seen.borrow_mut().push(format!("{tool}: {}", result.text()));
                }
                ready(Ok(()))
            })
            .agent(agent)
            .build()
    });
    let host = model([calls(&[("other", json!({}))]), text("Done.")]);
    ask(&endpoint, &host);
    assert_eq!(*seen.borrow(), ["other: found", "ask_clerk: Done."]);
}

#[test]
fn the_first_call_can_be_a_tool_of_a_source() {
    let endpoint = desk(|| clerk().source(Tools(|| vec![tool("other")])).first_call("other", |_| json!({})));
    let host = model([text("Done.")]);
    ask(&endpoint, &host);
    assert_eq!(last_result(&host), "found");
    let agent = || clerk().source(Tools(|| vec![tool("other")])).first_call("third", |_| json!({}));
    let server = McpServer::builder("desk", "1.0.0").tool(tool("greet")).agent(agent()).build();
    assert!(server.is_err_and(|error| error.to_string().contains("the first call `third`")));
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// A round after the reply of an agent uses the reply, so it does not ask the sources again.
#[test]
fn later_rounds_do_not_ask_the_sources() {
    let list = result(json!({ "tools": [{ "name": "track", "inputSchema": {} }], "resultType": "complete" }));
    let peer = Peer::new([list]);
    let client = client(Upstream::via("https://parcels.example/mcp", peer.clone()).expect("a URL"));
    let endpoint = testing::endpoint(move |_| {
        let ask = async |cx: Context| {
            let reply = cx.call_tool("ask_clerk", json!({ "message": "?" })).await?;
            match cx.elicit::<Name>("name", "Who are you?").await? {
                FormAnswer::Accepted(Name { name }) => Ok(format!("{name}: {}", reply.text())),
                _ => Err(HandlerError::new("No name.")),
            }
        };
        McpServer::builder("desk", "1.0.0")
            .tool(Tool::new("greet", "Says hello.", || async { "Hello" }))
            .tool(Tool::new("ask", "Asks the clerk and then the client.", ask))
            .agent(clerk().source(client.tools(["parcels_track"])))
            .build()
    });
    let host = model([text("In Lyon.")]);
    let caller = Client::new(&endpoint).host(&host).answer("name", json!({ "name": "Ada" }));
    assert_eq!(testing::run(caller.call("ask", json!({}))).text(), "Ada: In Lyon.");
    assert_eq!(
        (offered(&host), peer.methods()),
        (vec!["greet".into(), "parcels_track".into()], vec!["tools/list".into()])
    );
}
