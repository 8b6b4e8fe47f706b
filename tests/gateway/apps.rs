//! The user interfaces of mounted tools (MCP Apps).

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::call::ToolEvent;
use edge_mcp::gateway::Mount;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{App, Context, Endpoint, McpServer, Tool};
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
            "w_show" => tool.requires_approval(|_: Value, _: Context| async { Ok(Some(Cow::from("Show it?"))) }),
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

/// The name of a tool belongs to a server before any filter. If the tool is held back, or its list is not complete, no other server gets the
/// call of its page.
#[test]
fn a_filter_never_gives_the_call_of_a_page_to_another_server() {
    let for_apps = |name: &str| with_ui(name, json!({ "visibility": ["app"] }));
    let of = |tools: Value| Server::with(json!({ "tools": tools }));
    let untyped = || {
        let mut tool = for_apps("pay");
        tool["inputSchema"] = json!({ "type": "array" });
        tool
    };
    let hidden = || {
        let mut tool = for_apps("pay");
        tool["inputSchema"]["title\u{200b}"] = json!({ "x": 1 });
        tool["inputSchema"]["required"] = json!(["\u{200b}"]);
        tool
    };
    let long = || {
        let mut tool = for_apps("pay");
        tool["description"] = json!("x".repeat(70_000));
        tool
    };
    let many: Vec<_> = (0..1001).map(|nth| for_apps(&format!("t{nth}"))).collect();
    let pin = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    let bank = || of(json!([for_apps("pay"), for_apps("show")]));
    for (label, mount) in [
        ("a pin", bank().mount().apps().pin("pay", pin)),
        ("only pins", bank().mount().apps().pins_only()),
        ("scopes", bank().mount().apps().scopes(["bank"])),
        ("scopes of the tool", bank().mount().apps().each_tool(|tool| tool.scopes(["bank"]))),
        ("visibility", bank().mount().apps().each_tool(|tool| tool.visible_if(|_| false))),
        ("an input schema of another type", of(json!([untyped()])).mount().apps()),
        ("hidden characters", of(json!([hidden()])).mount().apps()),
        ("a long definition", of(json!([long()])).mount().apps()),
        ("a long list", of(json!(many)).mount().apps()),
        (
            "a tool that is not for pages",
            of(json!([with_ui("pay", json!({ "visibility": ["model"] }))])).mount().apps(),
        ),
        ("another name", bank().mount().apps().rename("pay", "transfer")),
    ] {
        let rival = of(json!([for_apps("pay")]));
        let endpoint = with_scopes(endpoint([("bank", mount), ("rival", rival.mount().apps())]), &[]);
        let answer = testing::run(host_of_apps(&endpoint).call("pay", json!({ "iban": "SECRET" })));
        assert!(answer.is_error(), "{label}: {answer:?}");
        assert!(rival.methods().iter().all(|method| method == "tools/list"), "{label}");
    }
}

/// An old list does not show that its server has no tool of this name now.
#[test]
fn an_old_list_gives_no_call_of_a_page_to_another_server() {
    let is_down = Rc::new(Cell::new(false));
    let down = is_down.clone();
    let lists = json!({ "tools": [with_ui("show", json!({ "visibility": ["app"] }))], "ttlMs": 1000 });
    let bank =
        Server::new(move |message| if down.get() { Answer::new(500, "", "") } else { answer_of(&lists, message) });
    let rival = Server::with(json!({ "tools": [tool("pay")] }));
    let (endpoint, host) =
        (endpoint([("bank", bank.mount().apps()), ("rival", rival.mount().apps())]), TestHost::new());
    let call = || {
        let capabilities = json!({ "extensions": { UI: { "mimeTypes": ["text/html;profile=mcp-app"] } } });
        testing::run(caller(&endpoint, &host).capabilities(capabilities).call("pay", json!({})))
    };
    assert_eq!(call().text(), "pay {}", "only the rival has it");
    rival.take();
    is_down.set(true);
    host.advance(std::time::Duration::from_secs(2));
    let answer = call();
    assert!(answer.text().contains("the list of the server `bank` is not complete"), "{answer:?}");
    assert_eq!(rival.methods(), ["tools/list"]);
}

/// An unknown name costs a client without apps no request, and another client the time of a list.
#[test]
fn an_unknown_name_is_not_searched_without_limits() {
    let servers: Vec<_> = (0..12).map(|_| Server::silent()).collect();
    let builder = edge_mcp::gateway::Gateway::builder("edge", "1");
    let builder = servers
        .iter()
        .enumerate()
        .fold(builder, |it, (nth, server)| it.mount(format!("s{nth}"), server.mount().apps()));
    let endpoint = serving(builder.build().expect("a gateway"), |it| it);
    assert_unknown(&endpoint, "x1");
    assert!(servers.iter().all(|server| server.take().is_empty()));
    let host = TestHost::new();
    let capabilities = json!({ "extensions": { UI: { "mimeTypes": ["text/html;profile=mcp-app"] } } });
    let before = edge_mcp::host::Host::now_ms(&host);
    let answer = testing::run(caller(&endpoint, &host).capabilities(capabilities).call("x1", json!({})));
    assert!(answer.is_error(), "{answer:?}");
    assert!(edge_mcp::host::Host::now_ms(&host) - before <= 8000);
}

/// To a client, all tools of a gateway are those of one server. So with apps, the tools of servers without apps, and those of the gateway's own
/// server that say nothing else, are for models only.
#[test]
fn pages_cannot_call_the_tools_of_others() {
    let visibility = |endpoint: &Endpoint| {
        let seen = |tool: &Value| {
            (tool["name"].as_str().expect("a name").to_owned(), tool["_meta"]["ui"]["visibility"].clone())
        };
        tools_of(endpoint).iter().map(seen).collect::<std::collections::BTreeMap<_, _>>()
    };
    let bank = || Server::tools(["pay"]).mount();
    let own = |it: edge_mcp::McpServerBuilder| {
        it.tool(Tool::new("plain", "A tool.", || async { "" }))
            .tool(Tool::new("open", "A tool.", || async { "" }).meta("ui", json!({ "visibility": ["model", "app"] })))
    };
    let with_apps = |mount: Mount| {
        let gateway = edge_mcp::gateway::Gateway::builder("edge", "1").mount("w", mount).mount("bank", bank());
        visibility(&serving(gateway.catalogue(edge_mcp::gateway::Catalogue::All).build().expect("a gateway"), own))
    };
    let seen = with_apps(weather().mount().apps().catalogue(edge_mcp::gateway::Catalogue::Search));
    for name in ["bank_pay", "plain", "find-tools", "call-tool", "call-read-only-tool"] {
        assert_eq!(seen[name], json!(["model"]), "{name}");
    }
    assert_eq!((&seen["open"], &seen["w_show"]), (&json!(["model", "app"]), &json!(["model", "app"])));
    assert_eq!(seen["w_refresh"], json!(["app"]));
    assert!(
        with_apps(weather().mount()).iter().all(|(name, seen)| name == "open" || seen.is_null()),
        "no app is shown"
    );
    let remote =
        edge_mcp::client::McpClient::builder("edge", "1").server("other", bank_upstream()).build().expect("a client");
    let gateway = gateway([("w", weather().mount().apps())]);
    let seen = visibility(&serving(gateway, move |it| it.source(remote.tools(["other_pay"]))));
    assert_eq!(seen["other_pay"], json!(["model"]), "tools of other sources");
    let as_is = self::gateway([("w", weather().mount().as_is())]);
    assert_eq!(visibility(&serving(as_is, own))["plain"], json!(["model"]));
}

fn bank_upstream() -> edge_mcp::client::Upstream {
    Server::tools(["pay"]).upstream()
}
