//! MCP Apps: user interfaces of tools.

use std::time::Duration;

use edge_mcp::cache::{CacheHint, Cacheable};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{App, AppPermission, BuildError, Context, Endpoint, McpServer, McpServerBuilder, StaticTokens, Tool};
use serde_json::{Value, json};

const PAGE: &str = "<!DOCTYPE html><title>Form</title>";
const MIME_TYPE: &str = "text/html;profile=mcp-app";
const UI: &str = "io.modelcontextprotocol/ui";

fn form() -> App {
    App::new("ui://parcels/form", PAGE)
}

fn tool(name: &'static str) -> Tool {
    Tool::new(name, "Answers.", || async { "12 €" })
}

fn builder() -> McpServerBuilder {
    McpServer::builder("parcels", "1.0.0")
}

fn parcels(app: App) -> McpServerBuilder {
    let (quote, refresh) = (tool("quote").ui(&app), tool("refresh").for_app_only().ui(&app));
    builder().tool(quote).tool(refresh).app(app)
}

fn endpoint(build: impl Fn() -> McpServerBuilder + 'static) -> Endpoint {
    testing::endpoint(move |_| build().build())
}

fn ui_client(endpoint: &Endpoint) -> Client<'_> {
    Client::new(endpoint).capabilities(json!({ "extensions": { UI: { "mimeTypes": [MIME_TYPE] } } }))
}

fn problem(build: McpServerBuilder) -> String {
    build.build().err().map(|error: BuildError| error.to_string()).unwrap_or_default()
}

fn member(list: &testing::Answer, name: &str, item: usize) -> Value {
    list.result()[name][item].clone()
}

/// A2, A3, A8, A9, A10, A11, A13, A20: the wire in all revisions. The resource has the same settings in the list and in its contents.
#[test]
fn an_app_is_a_resource_that_tools_name() {
    let app = || {
        form()
            .title("Parcel form")
            .connect("https://api.example.com")
            .connect("wss://live.example.com:8443")
            .resources("https://*.example.com")
            .frames("https://maps.example.com")
            .base_uri("https://example.com")
            .permission(AppPermission::Geolocation)
            .permission(AppPermission::ClipboardWrite)
            .domain("www-example-com.oaiusercontent.com")
            .prefers_border(true)
    };
    let settings = json!({
        "csp": {
            "connectDomains": ["https://api.example.com", "wss://live.example.com:8443"],
            "resourceDomains": ["https://*.example.com"],
            "frameDomains": ["https://maps.example.com"],
            "baseUriDomains": ["https://example.com"],
        },
        "permissions": { "geolocation": {}, "clipboardWrite": {} },
        "domain": "www-example-com.oaiusercontent.com",
        "prefersBorder": true,
    });
    let endpoint = endpoint(move || parcels(app()));
    for revision in Revision::ALL {
        let client = ui_client(&endpoint).revision(revision);
        testing::run(async {
            let tools = client.request("tools/list", json!({})).await;
            for (nth, visibility) in [json!(["model", "app"]), json!(["app"])].into_iter().enumerate() {
                let meta = &member(&tools, "tools", nth)["_meta"];
                let ui = json!({ "resourceUri": "ui://parcels/form", "visibility": visibility });
                assert_eq!(meta, &json!({ "ui": ui, "ui/resourceUri": "ui://parcels/form" }), "{revision}");
            }
            let listed = member(&client.request("resources/list", json!({})).await, "resources", 0);
            let contents = client.read("ui://parcels/form").await;
            assert_eq!(contents.result()["contents"].as_array().map(Vec::len), Some(1), "{revision}");
            let contents = member(&contents, "contents", 0);
            assert_eq!((&contents["text"], &contents["blob"]), (&json!(PAGE), &Value::Null), "{revision}");
            for resource in [listed, contents] {
                assert_eq!(resource["uri"], "ui://parcels/form", "{revision}");
                assert_eq!(resource["mimeType"], MIME_TYPE, "{revision}");
                assert_eq!(resource["_meta"]["ui"], settings, "{revision}");
            }
        });
    }
}

/// A11, A13: without settings, the resource says so: no origin and no border.
#[test]
fn an_app_without_settings_declares_no_origins() {
    let endpoint = endpoint(|| parcels(form()));
    let contents = testing::run(Client::new(&endpoint).read("ui://parcels/form"));
    assert_eq!(member(&contents, "contents", 0)["_meta"]["ui"], json!({ "csp": {}, "prefersBorder": false }));
}

/// A20: an app declares the extension, in both eras. E4: without settings, for all callers.
#[test]
fn an_app_declares_the_extension() {
    let endpoint = endpoint(|| parcels(form()));
    for (revision, method) in [(Revision::V2026_07_28, "server/discover"), (Revision::V2025_06_18, "initialize")] {
        let client = json!({ "name": "c", "version": "1" });
        let params = json!({ "protocolVersion": revision.name(), "capabilities": {}, "clientInfo": client });
        let answer = testing::run(Client::new(&endpoint).revision(revision).request(method, params));
        assert_eq!(answer.result()["capabilities"]["extensions"], json!({ UI: {} }), "{method}");
    }
}

/// A18, E7, extension case 2: a modern client without support for apps does not get the tools for apps only. Other clients do, and every
/// client can call them.
#[test]
fn tools_for_apps_are_hidden_from_clients_that_show_no_apps() {
    let server = parcels(form()).cache_of(Cacheable::Tools, CacheHint::public(Duration::from_mins(1)));
    let endpoint = Endpoint::of(server.build().expect("a server")).open_to_the_public();
    let always = endpoint_of(form().always_list_tools());
    let with = |settings: Value| json!({ "extensions": { UI: settings } });
    // Twice, because lists are cached: extension case 6.
    for _ in 0..2 {
        for (capabilities, is_shown) in [
            (with(json!({ "mimeTypes": [MIME_TYPE] })), true),
            (with(json!({ "mimeTypes": ["text/html", MIME_TYPE] })), true),
            (with(json!({})), false),
            (with(json!({ "mimeTypes": ["text/html"] })), false),
            (with(json!({ "mimeTypes": MIME_TYPE })), false),
            (with(json!(null)), false),
            (json!({}), false),
        ] {
            let client = Client::new(&endpoint).capabilities(capabilities.clone());
            let list = testing::run(client.request("tools/list", json!({})));
            let expected = if is_shown { vec!["quote", "refresh"] } else { vec!["quote"] };
            assert_eq!(list.names(), expected, "{capabilities}");
            assert_eq!(list.result()["cacheScope"], "private", "E9");
            assert_eq!(testing::run(client.call("refresh", json!({}))).text(), "12 €", "{capabilities}");
            let client = Client::new(&always).capabilities(capabilities);
            assert_eq!(testing::run(client.request("tools/list", json!({}))).names(), ["quote", "refresh"]);
        }
        for revision in Revision::ALL.into_iter().filter(|revision| *revision != Revision::V2026_07_28) {
            let client = Client::new(&endpoint).revision(revision);
            assert_eq!(
                testing::run(client.request("tools/list", json!({}))).names(),
                ["quote", "refresh"],
                "{revision}"
            );
        }
    }
}

fn endpoint_of(app: App) -> Endpoint {
    Endpoint::of(parcels(app).build().expect("a server")).open_to_the_public()
}

/// A7: an app is listed, unless it says otherwise. It can be read in both cases.
#[test]
fn an_unlisted_app_can_be_read() {
    for (app, expected) in [(form(), vec!["ui://parcels/form"]), (form().unlisted(), vec![])] {
        let endpoint = endpoint_of(app);
        let client = Client::new(&endpoint);
        let list = testing::run(client.request("resources/list", json!({})));
        let uris: Vec<_> =
            list.result()["resources"].as_array().expect("a list").iter().map(|it| it["uri"].clone()).collect();
        assert_eq!(uris, expected);
        assert_eq!(member(&testing::run(client.read("ui://parcels/form")), "contents", 0)["text"], PAGE);
    }
}

/// A15: a client without apps gets the text of a tool with a user interface.
#[test]
fn the_result_of_a_tool_with_an_app_has_text() {
    let answer = testing::run(Client::new(&endpoint_of(form())).call("quote", json!({})));
    assert_eq!(answer.text(), "12 €");
}

/// A6: a tool cannot name an app that its callers cannot read.
#[test]
fn every_caller_of_a_tool_can_read_its_app() {
    let scoped = || form().scopes(["parcels:read"]);
    let visible = || form().visible_if(|_| true);
    for (build, words) in [
        (
            builder().tool(tool("quote").ui(&form())),
            "shows the app `ui://parcels/form`, which the server does not have",
        ),
        (builder().tool(tool("quote").ui(&scoped())).app(scoped()), "must require the scope `parcels:read`"),
        (builder().tool(tool("quote").ui(&visible())).app(visible()), "must have a `visible_if` if and only if"),
        (builder().tool(tool("quote").ui(&form()).visible_if(|_| true)).app(form()), "must have a `visible_if`"),
    ] {
        let problem = problem(build);
        assert!(problem.contains("tool \"quote\"") && problem.contains(words), "{problem}");
    }
    let other = edge_mcp::Resource::new("ui://parcels/form", || async { PAGE });
    assert!(
        problem(builder().tool(tool("quote").ui(&form())).resource(other)).contains("which the server does not have")
    );
    let both = ["parcels:write", "parcels:read"];
    assert_eq!(problem(builder().tool(tool("quote").ui(&scoped()).scopes(both)).app(scoped())), "");
    let quote = tool("quote").ui(&visible()).visible_if(|_| true);
    assert_eq!(problem(builder().tool(quote).app(visible())), "");
}

/// A1, A4, A21, extension case 12: a page or a URI that clients would reject is refused when the server is built.
#[test]
fn invalid_pages_are_refused() {
    let app = |page: &str| problem(builder().app(App::new("ui://parcels/form", page.to_owned())));
    let large = |bytes: usize| format!("{PAGE}{}", "x".repeat(bytes - PAGE.len()));
    assert!(app("<html>").contains("app \"ui://parcels/form\" must begin with `<!doctype html>`"));
    assert!(app("").contains("must begin with `<!doctype html>`"));
    assert!(app("ü<!doctype html>").contains("must begin with"));
    assert!(app("<!doctype html>\0").contains("must not contain NUL"));
    assert!(app(&large((4 << 20) + 1)).contains("has more than 4 MiB"));
    for page in [large(4 << 20), "\n <!doctype HTML>".to_owned()] {
        assert_eq!(app(&page), "");
    }
    for uri in [
        "https://parcels/form",
        "UI://x",
        "ui://",
        "ui:///form",
        "ui://a/../b",
        "ui://a/b?c",
        "ui://a/b#c",
        "ui://a/%41",
        "ui://ä",
        "ui://a/b c",
    ] {
        let problem = problem(builder().app(App::new(uri, PAGE)));
        assert!(problem.contains("must have a URI"), "{uri}: {problem}");
    }
    let long = format!("ui://a/{}", "x".repeat(506));
    assert!(problem(builder().app(App::new(long, PAGE))).contains("more than 512 bytes"));
    assert!(problem(builder().app(form()).app(form())).contains("is added twice"));
}

/// A21: a large page is allowed, with a warning.
#[test]
fn a_large_page_is_logged() {
    for (bytes, is_logged) in [(1 << 20, false), ((1 << 20) + 1, true)] {
        let page = format!("{PAGE}{}", "x".repeat(bytes - PAGE.len()));
        let endpoint = endpoint(move || builder().app(App::new(format!("ui://a/{bytes}"), page.clone())));
        let host = TestHost::new();
        testing::run(Client::new(&endpoint).host(&host).request("resources/list", json!({})));
        assert_eq!(host.log_text().contains(&format!("the app `ui://a/{bytes}` has more than 1 MiB")), is_logged);
    }
}

/// A12, extension case 7: only an origin can be in a list, because clients join them into a header.
#[test]
fn only_origins_are_allowed() {
    let connect = |origin: &str| problem(builder().app(form().connect(origin.to_owned())));
    for origin in [
        "https://a.com; script-src *",
        "https://a.com 'unsafe-eval'",
        "'unsafe-eval'",
        "*",
        "https://*",
        "https://a.*.com",
        "https://a.com/x",
        "https://a.com/",
        "https://münchen.de",
        "https://a.com,https://b.com",
        "https://a.com:0",
        "https://a.com:99999",
        "https://a.com:",
        "https://user@a.com",
        "https://-a.com",
        "https://a..com",
        "https://",
        "https://intranet",
        "http://a.com",
        "http://localhost:8787",
        "data:",
        "blob:",
        "HTTPS://a.com",
        "https://a.com\n",
    ] {
        let problem = connect(origin);
        assert!(problem.contains("among its connectDomains, which is not an origin"), "{origin:?}: {problem}");
    }
    for origin in ["https://a.com", "https://*.a.com", "https://a.com:8443", "wss://a.com", "https://xn--mnchen-3ya.de"]
    {
        assert_eq!(connect(origin), "", "{origin}");
    }
    for app in [form().resources("wss://a.com"), form().frames("wss://a.com"), form().base_uri("wss://a.com")] {
        assert!(problem(builder().app(app)).contains("is not an origin"), "only requests use wss:");
    }
    let local =
        |port: &str| problem(builder().app(form().for_development().connect(format!("http://localhost:{port}"))));
    assert_eq!(local("8787"), "");
    assert!(local("8787/x").contains("is not an origin") && local("").contains("is not an origin"));
}

/// A page that depends on the caller is private to the caller. B.6: it needs the scopes of the app.
#[test]
fn a_page_can_depend_on_its_caller() {
    let page = |cx: Context| async move { Ok::<_, edge_mcp::HandlerError>(format!("{PAGE}{}", cx.caller()?.subject)) };
    let app = move || App::of("ui://parcels/mine", page).scopes(["parcels:read"]);
    let tokens = r#"[{"token": "ada", "subject": "ada", "scopes": ["parcels:read"]}, {"token": "bob", "subject": "bob", "scopes": []}]"#;
    let endpoint =
        endpoint(move || builder().app(app())).auth(StaticTokens::from_json("T", Some(tokens)).expect("tokens"));
    let read = |token: &str| testing::run(Client::new(&endpoint).token(token).read("ui://parcels/mine"));
    let answer = read("ada");
    assert_eq!(member(&answer, "contents", 0)["text"], format!("{PAGE}ada"));
    assert_eq!((&answer.result()["cacheScope"], read("bob").status()), (&json!("private"), 403));
}

type MakeApp = fn() -> App;

/// A3, A4: a page of a handler is checked when it is read. The caller gets no part of it.
#[test]
fn an_invalid_page_of_a_handler_is_an_error() {
    let pages: [(MakeApp, &str); 4] = [
        (|| App::of("ui://a/b", || async { "secret" }), "it must begin with `<!doctype html>`"),
        (|| App::of("ui://a/b", || async { vec![7_u8] }), "it must be a text"),
        (|| App::of("ui://a/b", || async { Vec::<edge_mcp::ResourceContents>::new() }), "it must be one text"),
        (|| App::of("ui://a/b", || async { "<!doctype html>secret\0" }), "it must not contain NUL"),
    ];
    for (app, cause) in pages {
        let endpoint = endpoint(move || builder().app(app()));
        let host = TestHost::new();
        let answer = testing::run(Client::new(&endpoint).host(&host).read("ui://a/b"));
        assert_eq!(answer.error(), Some((-32603, "The page of this app cannot be shown.")));
        assert!(host.log_text().contains(cause) && !host.log_text().contains("secret"), "{}", host.log_text());
    }
}
