//! The user interfaces of mounted tools (MCP Apps).

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::gateway::Mount;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{App, Context, Endpoint, McpServer, Text, Tool, ToolEvent};
use serde_json::{Value, json};

use crate::peer::Answer;
use crate::servers::{
    Server, answer_of, assert_unknown, call, caller, complete, endpoint, gateway, list, serving, tool, with_scopes,
};

const UI: &str = "io.modelcontextprotocol/ui";

fn with_ui(name: &str, ui: Value) -> Value {
    let mut tool = tool(name);
    tool["_meta"] = json!({ "ui": ui });
    tool
}

/// A server with an app, and tools for the model, for the app, and for both.
fn weather() -> Server {
    Server::with(json!({
        "tools": [
            with_ui("show", json!({ "resourceUri": "ui://weather/map" })),
            with_ui("refresh", json!({ "visibility": ["app"] })),
            with_ui("model-only", json!({ "visibility": ["model"] })),
            tool("plain"),
        ],
        "resources": [{ "uri": "ui://weather/map", "name": "map" }],
    }))
}

/// Returns a caller that shows apps.
fn host_of_apps(endpoint: &Endpoint) -> Client<'_> {
    let capabilities =
        json!({ "elicitation": { "form": {} }, "extensions": { UI: { "mimeTypes": ["text/html;profile=mcp-app"] } } });
    caller(endpoint, &TestHost::new()).capabilities(capabilities)
}

fn tools_of(endpoint: &Endpoint) -> Vec<Value> {
    testing::run(host_of_apps(endpoint).list("tools")).result()["tools"].as_array().expect("tools").clone()
}

/// A28, A29: tools and resources have the URIs of the caller, under both keys, and the extension is declared.
#[test]
fn apps_are_shown_under_the_name_of_their_mount() {
    let endpoint = endpoint([("w", weather().mount().apps())]);
    let tools = tools_of(&endpoint);
    let meta = |nth: usize| tools[nth]["_meta"].clone();
    assert_eq!(
        meta(0),
        json!({ "ui": { "resourceUri": "ui://w/weather/map", "visibility": ["model", "app"] }, "ui/resourceUri": "ui://w/weather/map" })
    );
    assert_eq!(meta(1), json!({ "ui": { "visibility": ["app"] } }));
    assert_eq!(meta(2), json!({ "ui": { "visibility": ["model"] } }));
    assert_eq!(meta(3), json!(null));
    assert_eq!(list(&endpoint, "resources").names(), ["ui://w/weather/map"]);
    let read = testing::run(host_of_apps(&endpoint).read("ui://w/weather/map"));
    assert_eq!(read.result()["contents"][0]["uri"], "ui://w/weather/map");
    let discovered = testing::run(host_of_apps(&endpoint).request("server/discover", json!({})));
    assert!(discovered.result()["capabilities"]["extensions"].get(UI).is_some(), "{discovered:?}");
    // A single mount shows its apps as they are.
    let as_is = self::endpoint([("w", weather().mount().as_is())]);
    assert_eq!(tools_of(&as_is)[0]["_meta"]["ui"]["resourceUri"], "ui://weather/map");
    assert_eq!(testing::run(host_of_apps(&as_is).call("refresh", json!({}))).text(), "refresh {}");
}

/// A30, A32: a mount that does not show its apps has neither their pages nor the tools that are for them only, and no model gets such a tool.
#[test]
fn without_apps_neither_pages_nor_their_tools_exist() {
    let endpoint = endpoint([("w", weather().mount())]);
    let tools = tools_of(&endpoint);
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["w_show", "w_model-only", "w_plain"]);
    assert!(tools.iter().all(|tool| tool.get("_meta").is_none()), "{tools:?}");
    assert!(list(&endpoint, "resources").names().is_empty());
    let read = testing::run(host_of_apps(&endpoint).read("ui://w/weather/map"));
    assert_eq!(read.error().map(|(code, _)| code), Some(-32_602));
    assert_unknown(&endpoint, "refresh");
    let without = self::endpoint([("w", weather().mount().apps().without_resources())]);
    assert!(tools_of(&without)[0].get("_meta").is_none(), "a caller could not read the page");
    // A client without apps gets no tool for them.
    let plain = self::endpoint([("w", weather().mount().apps())]);
    let listed = testing::run(caller(&plain, &TestHost::new()).list("tools"));
    assert!(!listed.names().contains(&"w_refresh"), "{listed:?}");
}

/// The extension cases 8 and 9: odd URIs and odd visibilities. The tool stays, without a user interface.
#[test]
fn odd_definitions_have_no_user_interface() {
    let odd_uris = [
        json!("https://evil.example"),
        json!("UI://x"),
        json!(format!("ui://{}", "x".repeat(40_000))),
        json!(7),
        json!(["ui://x"]),
        json!(null),
        json!("ui://../m2/x"),
        json!("ui://x/../../m2"),
        json!("ui://"),
        json!("ui://a//b"),
        json!("ui://a?b"),
        json!("ui://%2e%2e/m2"),
        json!("ui:x"),
    ];
    let mut tools: Vec<_> = odd_uris
        .iter()
        .enumerate()
        .map(|(nth, uri)| with_ui(&format!("t{nth}"), json!({ "resourceUri": uri })))
        .collect();
    tools.push(json!({ "name": "flat", "inputSchema": {}, "_meta": { "ui/resourceUri": "ui://../m2/x" } }));
    tools.push(json!({ "name": "ui", "inputSchema": {}, "_meta": { "ui": "x" } }));
    tools.push(json!({ "name": "meta", "inputSchema": {}, "_meta": 7 }));
    let count = tools.len();
    let shown = tools_of(&endpoint([("w", Server::with(json!({ "tools": tools })).mount().apps())]));
    assert_eq!(shown.len(), count);
    assert!(shown.iter().all(|tool| tool.get("_meta").is_none()), "{shown:?}");
    for (visibility, is_for_models) in [
        (json!([]), false),
        (json!(["app", "x"]), false),
        (json!([1]), false),
        (json!(vec!["app"; 5000]), false),
        (json!("app"), true),
        (json!(["model", "app"]), true),
    ] {
        let endpoint = endpoint([(
            "w",
            Server::with(json!({ "tools": [with_ui("t", json!({ "visibility": visibility }))] })).mount().apps(),
        )]);
        let listed = testing::run(caller(&endpoint, &TestHost::new()).list("tools"));
        assert_eq!(!listed.names().is_empty(), is_for_models, "{visibility}");
    }
}

/// A29 and the extension cases 8 and 11: the URI of an app in a result is that of the caller, and never that of another mount.
#[test]
fn uris_of_apps_in_results_are_rewritten() {
    for (uri, shown) in [
        (json!("ui://weather/map"), json!("ui://w/weather/map")),
        (json!("ui://w2/x"), json!("ui://w/w2/x")),
        (json!("ui://w2//x"), json!(null)),
        (json!("ui://../w2/x"), json!(null)),
        (json!("https://evil.example"), json!(null)),
        (json!(7), json!(null)),
    ] {
        let sent = uri.clone();
        let server = Server::new(move |_| {
            let meta = json!({ "ui": { "resourceUri": sent, "x": 1 }, "ui/resourceUri": sent, "openai/outputTemplate": sent, "other": "ui://weather/map" });
            let page =
                json!({ "type": "resource", "resource": { "uri": "ui://weather/map", "text": "<p>", "_meta": meta } });
            complete(json!({ "content": [page], "structuredContent": { "uri": "ui://weather/map" }, "_meta": meta }))
        });
        let answer = call(&endpoint([("w", server.mount().apps())]), "w_t", json!({}));
        let meta = &answer.result()["_meta"];
        assert_eq!((&meta["ui"]["resourceUri"], &meta["ui/resourceUri"]), (&shown, &shown), "{uri}");
        assert_eq!((&meta["ui"]["x"], &meta["other"]), (&json!(1), &json!("ui://weather/map")));
        assert_eq!(answer.result()["structuredContent"]["uri"], "ui://weather/map");
        assert_eq!(meta.get("openai/outputTemplate"), None, "other clients find pages by this member");
        let embedded = &answer.result()["content"][0]["resource"];
        assert!(!embedded.to_string().contains("outputTemplate"), "{embedded}");
        // A mount that does not show apps names none.
        let hidden = call(&endpoint([("w", server.mount())]), "w_t", json!({}));
        assert_eq!(hidden.result()["_meta"].get("ui/resourceUri"), None);
    }
}

/// A31 and the extension case 7: origins that a client could misread are dropped, permissions need trust, and the domain is that of the mount.
#[test]
fn the_settings_of_a_page_are_checked() {
    let good = "https://a.example.com";
    let bad = [
        "https://a.com; script-src *",
        "https://a.com 'unsafe-eval'",
        "*",
        "https://a.com/x",
        "https://bücher.example",
        "http://a.com",
        "https://*",
        "javascript:",
        "https://a.com\n",
        "data:",
        "",
    ];
    let origins: Vec<_> = bad.iter().copied().chain([good, "https://b.example.com"]).collect();
    let ui = json!({
        "csp": { "connectDomains": origins, "resourceDomains": origins, "frameDomains": origins, "baseUriDomains": origins, "scriptDomains": ["*"], },
        "permissions": { "camera": {} }, "domain": "evil.claudemcpcontent.com", "prefersBorder": true, "odd": 1,
    });
    let page = json!({ "uri": "ui://weather/map", "text": "<p>", "_meta": { "ui": ui, "example.com/x": 1 } });
    let (lists, contents) = (
        json!({ "tools": [], "resources": [{ "uri": "ui://weather/map", "name": "map", "_meta": { "ui": ui } }] }),
        json!({ "contents": [page] }),
    );
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("resources/read") => complete(contents.clone()),
        _ => answer_of(&lists, message),
    });
    for (mount, origins, is_trusted, domain) in [
        (server.mount().apps(), vec![good, "https://b.example.com"], false, json!(null)),
        (
            Mount::new(server.upstream().trusted()).apps().app_domain("mine"),
            vec![good, "https://b.example.com"],
            true,
            json!("mine"),
        ),
        (server.mount().apps().app_origins([good]), vec![good], false, json!(null)),
    ] {
        let endpoint = endpoint([("w", mount)]);
        let listed = list(&endpoint, "resources").result()["resources"][0]["_meta"]["ui"].clone();
        let read =
            testing::run(host_of_apps(&endpoint).read("ui://w/weather/map")).result()["contents"][0]["_meta"].clone();
        assert_eq!((&listed, &read["example.com/x"]), (&read["ui"], &json!(1)));
        let csp = json!({ "connectDomains": origins, "resourceDomains": origins, "frameDomains": origins, "baseUriDomains": origins });
        assert_eq!(listed["csp"], csp);
        assert_eq!(
            (listed.get("permissions").is_some(), &listed["domain"], &listed["prefersBorder"], listed.get("odd")),
            (is_trusted, &domain, &json!(true), None)
        );
    }
    let invalid = edge_mcp::gateway::Gateway::builder("edge", "1")
        .mount("w", server.mount().apps().app_origins(["https://a.com/x"]))
        .build();
    assert!(invalid.is_err());
}

/// A30: a page calls tools by their names at the server. The tool must be for apps, and the server the only one that has it.
#[test]
fn a_page_calls_tools_by_their_names_at_the_server() {
    let (one, two) = (weather(), Server::tools(["refresh", "only-two"]));
    let endpoint = serving(gateway([("w", one.mount().apps()), ("two", two.mount())]), |it| {
        it.tool(Tool::new("plain", "The local one.", || async { "local" }))
    });
    let call = |name: &str| testing::run(host_of_apps(&endpoint).call(name, json!({ "n": 1.50 })));
    assert_eq!(call("refresh").text(), "refresh {\"n\":1.5}", "the other server does not show apps");
    assert!(two.take().is_empty());
    assert_eq!(
        crate::servers::call(&endpoint, "plain", json!({})).text(),
        "local",
        "a tool of the server itself takes precedence"
    );
    for name in ["model-only", "only-two", "none", "w", "call-tool"] {
        let answer = call(name);
        assert!(answer.is_error() && answer.text().starts_with("Unknown tool"), "{name}: {answer:?}");
    }
    assert!(one.methods().iter().filter(|method| *method == "tools/call").count() == 1);
}

/// A30: a page cannot call a tool of the server itself by the name of a tool of its own server.
#[test]
fn a_page_does_not_call_a_tool_of_the_server_itself() {
    let server = weather();
    let endpoint = serving(gateway([("w", server.mount().apps())]), |it| {
        it.tool(Tool::new("w_refresh", "The local one.", || async { "local" }).visible_if(|_| false))
    });
    let answer = testing::run(host_of_apps(&endpoint).call("refresh", json!({})));
    assert!(answer.is_error() && answer.text().starts_with("Unknown tool"), "{answer:?}");
    assert!(server.methods().iter().all(|method| method == "tools/list"));
}

/// A30: neither a server that also has the tool, nor one whose list cannot be read, gets the call of another server's page.
#[test]
fn a_call_of_a_page_never_reaches_another_server() {
    let rival = || Server::with(json!({ "tools": [tool("refresh")] }));
    let down = || Server::new(|_| Answer::new(500, "", ""));
    for (first, problem) in [(rival(), "Unknown tool `refresh`"), (down(), "The server `w` failed (status 500)")] {
        let second = rival();
        let endpoint = endpoint([("w", first.mount().apps()), ("x", second.mount().apps())]);
        let answer = testing::run(host_of_apps(&endpoint).call("refresh", json!({})));
        assert!(answer.is_error() && answer.text().starts_with(problem), "{answer:?}");
        for server in [first, second] {
            assert!(server.methods().iter().all(|method| method == "tools/list"));
        }
    }
    // A filter says which server has the tool.
    let (first, second) = (down(), rival());
    let endpoint = endpoint([("w", first.mount().apps().without(["refresh"])), ("x", second.mount().apps())]);
    assert_eq!(testing::run(host_of_apps(&endpoint).call("refresh", json!({}))).text(), "refresh {}");
}

/// A30, C102: the settings of the program for a tool apply also by its name at the server: scopes, filters, pins, hooks and approval.
#[test]
fn the_name_at_the_server_avoids_no_check() {
    let hooked = Rc::new(Cell::new(0));
    let seen = hooked.clone();
    let guard = move |tool: Tool| {
        let seen = seen.clone();
        let hook = move |event: ToolEvent, _: Context| {
            let seen = seen.clone();
            async move {
                if let ToolEvent::InputStart = event {
                    seen.set(seen.get() + 1);
                }
                Ok(())
            }
        };
        match tool.name() {
            "w_refresh" => tool.scopes(["refresh"]),
            "w_show" => tool.requires_approval(|_: Value, _: Context| async { Ok(Some(Text::from("Show it?"))) }),
            _ => tool.hook(hook),
        }
    };
    let server = weather();
    let endpoint = with_scopes(endpoint([("w", server.mount().apps().each_tool(guard))]), &[]);
    let refused = testing::run(host_of_apps(&endpoint).call("refresh", json!({})));
    assert!(refused.is_error() && refused.text().contains("needs the scope refresh"), "{refused:?}");
    let declined = testing::run(host_of_apps(&endpoint).decline("edge-mcp/approval").call("show", json!({})));
    assert!(declined.text().contains("`w_show` was not approved"), "{declined:?}");
    assert!(server.methods().iter().all(|method| method == "tools/list"));
    assert_eq!(testing::run(host_of_apps(&endpoint).call("plain", json!({}))).text(), "plain {}");
    assert_eq!(hooked.get(), 1);
    for mount in [
        server.mount().apps().scopes(["w:use"]),
        server.mount().apps().without(["plain"]),
        server.mount().apps().pins_only(),
        server.mount().apps().pin("plain", "sha256-RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o="),
        server.mount().apps().each_tool(|tool| tool.visible_if(|_| false)),
    ] {
        server.take();
        let endpoint = with_scopes(self::endpoint([("w", mount)]), &[]);
        let answer = testing::run(host_of_apps(&endpoint).call("plain", json!({})));
        assert!(answer.is_error() && answer.text().starts_with("Unknown tool"), "{answer:?}");
        assert!(server.methods().iter().all(|method| method == "tools/list"));
    }
}

/// E19: a gateway declares support for apps to a server whose apps it shows, so that the server lists its tools for them. It declares nothing
/// else, neither its own extensions nor those of its caller, and it has an extension only if a mount shows it.
#[test]
fn a_gateway_declares_only_the_extensions_that_a_mount_shows() {
    let parcels = || {
        Server::endpoint(testing::endpoint(|_| {
            let form = App::new("ui://parcels/form", "<!doctype html>");
            let quote = Tool::new("quote", "Quotes.", || async { "12" }).ui(&form);
            let refresh = Tool::new("refresh", "Refreshes.", || async { "11" }).for_app_only();
            McpServer::builder("parcels", "1.0.0").app(form).tool(quote).tool(refresh).build()
        }))
    };
    for (shows_apps, declared) in
        [(true, json!({ UI: { "mimeTypes": ["text/html;profile=mcp-app"] } })), (false, json!(null))]
    {
        let server = parcels();
        let mount = if shows_apps { server.mount().apps() } else { server.mount() };
        let endpoint = serving(gateway([("p", mount)]), |server| server.extension("com.example/own", json!({})));
        let tools = tools_of(&endpoint);
        assert_eq!(tools.iter().any(|tool| tool["name"] == "p_refresh"), shows_apps, "{tools:?}");
        let sent = server.take();
        let capabilities = &sent[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(capabilities["extensions"], declared);
        let discovered = testing::run(host_of_apps(&endpoint).request("server/discover", json!({})));
        assert_eq!(discovered.result()["capabilities"]["extensions"].get(UI).is_some(), shows_apps);
    }
}
