//! Descriptions of a server: for its own program, and at `/server.json`.

use std::cell::Cell;
use std::time::Duration;

use edge_mcp::agents::{Agent, AgentReply, Workflow};
use edge_mcp::auth::ProtectedResource;
use edge_mcp::content::Icon;
use edge_mcp::host::RateLimit;
use edge_mcp::registry::{Argument, Command, Input, Package, Remote, Repository, ServerJson};
use edge_mcp::{
    BuildError, ConfigError, Context, Endpoint, HandlerError, Json, McpServer, McpServerBuilder, RequestInfo,
    StaticTokens, Tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Ask, Internal, SECRET, post};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const TOKENS: &str = r#"[{"token":"good","subject":"ada","scopes":[]}]"#;

fn minimal() -> McpServerBuilder {
    McpServer::builder("My Lab Server!", "1.0.2")
}

fn full() -> McpServerBuilder {
    let command = Command::new("npx")
        .argument(Argument::new("folder", "The documents").required().repeatable().editable())
        .argument(Argument::new("port", "The port").long_flag("--port").short_flag("-p").default_value("80"))
        .argument(Argument::new("level", "The level").short_flag("-l").choices(["info", "error"]));
    minimal()
        .id("Lab")
        .title("Lab")
        .description("A lab.")
        .website_url("https://example.com/lab")
        .icon(Icon::new("https://example.com/i.png"))
        .icon(Icon::new("data:,"))
        .registry_name("io.github.ada/lab")
        .repository(Repository::new("https://github.com/ada/lab", "github").id("R_1").subfolder("a/b"))
        .release_date("2026-07-28T00:00:00Z")
        .is_latest(false)
        .canonical_package("npm")
        .package(
            Package::new("npm", "@ada/lab", "1.0.3")
                .command(command)
                .environment_variable(Input::new("KEY", "The key").required().secret())
                .environment_variable(Input::new("UNIT", "The unit").default_value("kg")),
        )
        .package(Package::new("docker", "ghcr.io/ada/lab", "1.0.4").streamable_http("http://localhost:80/mcp"))
        .remote(Remote::streamable("https://lab.example.com/mcp").header(Input::new("X-Key", "The key")))
        .remote(Remote::sse("https://lab.example.com/sse"))
}

fn json<T: Serialize>(value: T) -> Value {
    serde_json::to_value(value).expect("JSON")
}

/// The info and the detail of a server have only the configured values, under the names of the registry's first drafts.
#[test]
fn server_info_and_detail_have_the_configured_values() {
    let server = minimal().build().expect("a valid server");
    let version = json!({ "version": "1.0.2", "is_latest": true });
    let info = json!({ "id": "my-lab-server", "name": "My Lab Server!", "version_detail": version });
    assert_eq!((server.server_info(), server.server_detail()), (info.clone(), info));

    let server = full().build().expect("a valid server");
    let mut expected = json!({
        "id": "lab",
        "name": "My Lab Server!",
        "description": "A lab.",
        "repository": { "url": "https://github.com/ada/lab", "source": "github", "id": "R_1", "subfolder": "a/b" },
        "version_detail": { "version": "1.0.2", "release_date": "2026-07-28T00:00:00Z", "is_latest": false },
    });
    assert_eq!(server.server_info(), expected);
    expected["package_canonical"] = json!("npm");
    expected["packages"] = json!([
        {
            "registry_name": "npm",
            "name": "@ada/lab",
            "version": "1.0.3",
            "command": {
                "name": "npx",
                "positional_arguments": [{
                    "name": "folder", "description": "The documents", "position": 0,
                    "is_required": true, "is_repeatable": true, "is_editable": true,
                }],
                "named_arguments": [
                    {
                        "name": "port", "description": "The port", "is_required": false, "default_value": "80",
                        "short_flag": "-p", "long_flag": "--port",
                    },
                    {
                        "name": "level", "description": "The level", "is_required": false, "choices": ["info", "error"],
                        "short_flag": "-l",
                    },
                ],
            },
            "environment_variables": [
                { "name": "KEY", "description": "The key", "required": true },
                { "name": "UNIT", "description": "The unit", "default_value": "kg" },
            ],
        },
        { "registry_name": "docker", "name": "ghcr.io/ada/lab", "version": "1.0.4" },
    ]);
    expected["remotes"] = json!([
        { "transport_type": "streamable", "url": "https://lab.example.com/mcp" },
        { "transport_type": "sse", "url": "https://lab.example.com/sse" },
    ]);
    assert_eq!(server.server_detail(), expected);
}

struct Clerk;

impl Agent for Clerk {
    fn key(&self) -> &'static str {
        "clerk"
    }

    fn name(&self) -> &'static str {
        "Clerk"
    }

    fn description(&self) -> &'static str {
        "Answers questions."
    }

    async fn generate(&self, _: String, _: Context) -> Result<AgentReply, HandlerError> {
        Ok(AgentReply::new("Yes."))
    }
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
struct Number {
    n: u8,
}

/// The tool list has all tools, including those that some callers cannot see. It shows which tools are agents or workflows.
#[test]
fn the_tool_list_has_all_tools() {
    let count = Workflow::new("count", "Counts.", |number: Number| async move { Json(number) });
    let server = minimal()
        .tool(Tool::new("say", "Says it.", |_: Number| async { "n" }).scopes(["say"]))
        .tool(Tool::new("hidden", "Is hidden.", || async {}).visible_if(|_| false))
        .agent(Clerk)
        .workflow(count)
        .build()
        .expect("a valid server");
    let tools: Vec<_> = server.tools().map(json).collect();
    let seen: Vec<_> = tools.iter().map(|tool| (tool["id"].as_str(), tool["toolType"].as_str())).collect();
    let expected = [("say", None), ("hidden", None), ("ask_clerk", Some("agent")), ("run_count", Some("workflow"))];
    assert_eq!(seen, expected.map(|(id, kind)| (Some(id), kind)));
    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "minimum": 0, "maximum": 255 } },
        "required": ["n"],
    });
    let said = tools[0].clone();
    assert_eq!((&said["id"], &said["name"], &said["description"]), (&json!("say"), &json!("say"), &json!("Says it.")));
    for member in ["type", "required"] {
        assert_eq!(said["inputSchema"][member], schema[member]);
    }
    assert!(said.get("outputSchema").is_none() && said.get("toolType").is_none(), "{said}");
    assert_eq!(tools[3]["outputSchema"]["required"], json!(["n"]));
    let names: Vec<_> = server.tools().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, expected.map(|(name, _)| name));
}

/// Values that a registry would reject are build errors that describe the problem.
#[test]
fn values_that_a_registry_would_reject_are_build_errors() {
    let named = |name: &'static str| minimal().registry_name(name);
    let package = |name: &'static str, version: &'static str| minimal().package(Package::new("npm", name, version));
    let argument =
        |argument| minimal().package(Package::new("npm", "a", "1").command(Command::new("a").argument(argument)));
    let nested = Command::new("a").subcommand(Command::new("b c"));
    let long = "1".repeat(256);
    let cases = vec![
        (minimal().id("!!!"), "an id without a letter a-z"),
        (named("weather"), "registry name"),
        (named("io.github.ada/weather/2"), "registry name"),
        (named("io.github.ada/"), "registry name"),
        (named("/weather"), "registry name"),
        (named(".github.ada/weather"), "registry name"),
        (named("io.github.ada/weather-"), "registry name"),
        (named("io.github_ada/weather"), "registry name"),
        (named("io.github.ada/wea ther"), "registry name"),
        (named("io.github.ada/é"), "registry name"),
        (minimal().registry_name(format!("io.github.ada/{}", "l".repeat(187))), "registry name"),
        (McpServer::builder("s", "1.x").registry_name("io.github.ada/weather"), "one version"),
        (McpServer::builder("s", long), "a version of more than 255"),
        (minimal().release_date(" "), "an empty release date"),
        (minimal().canonical_package(""), "an empty canonical package"),
        (minimal().repository(Repository::new("github.com/ada/lab", "github")), "repository whose URL must be"),
        (minimal().repository(Repository::new("http://github.com/ada/lab", "github")), "repository whose URL must be"),
        (minimal().repository(Repository::new("https://github.com/ada/lab", "")), "without a source"),
        (minimal().repository(Repository::new("https://a.example", "git").subfolder("/a")), "subfolder"),
        (minimal().repository(Repository::new("https://a.example", "git").subfolder("a/../b")), "subfolder"),
        (package("", "1"), "a registry or name that is empty"),
        (package("a b", "1"), "a registry or name that is empty, or has a space"),
        (package("a", ""), "one version"),
        (package("a", "latest"), "one version"),
        (package("a", "^1.2.3"), "one version"),
        (package("a", ">=1"), "one version"),
        (package("a", "1.x"), "one version"),
        (package("a", "1.2.*"), "one version"),
        (package("a", "1 - 2"), "one version"),
        (package("a", "1.2 || 1.3"), "one version"),
        (minimal().package(Package::new("mcpb", "https://a.example/a.mcpb", "1")), "a SHA-256"),
        (minimal().package(Package::new("npm", "a", "1").sha256("FE33")), "a SHA-256"),
        (minimal().package(Package::new("npm", "a", "1").streamable_http("http://a.example")), "listens at a URL that"),
        (
            minimal().package(Package::new("npm", "a", "1").environment_variable(Input::new("A B", ""))),
            "environment variable",
        ),
        (argument(Argument::new("", "")), "an argument or command"),
        (argument(Argument::new("a", "").long_flag("--a <b>")), "an argument or command"),
        (minimal().package(Package::new("npm", "a", "1").command(nested)), "an argument or command"),
        (minimal().remote(Remote::streamable("http://a.example/mcp")), "a remote whose URL must be an https: URL"),
        (minimal().remote(Remote::sse("https://a.example/{tenant}")), "a remote whose URL must be"),
        (
            minimal().remote(Remote::streamable("https://a.example").header(Input::new("a b", ""))),
            "not a valid header name",
        ),
    ];
    for (builder, says) in cases {
        let error = builder.build().err().map(|error: BuildError| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("the server \"") && error.contains(says), "{says}: {error}");
    }
    for version in ["1.0.2", "2025-06-18", "v1.0", "1.0.0-x.1-beta", "3"] {
        assert!(McpServer::builder("s", version).registry_name("io.github.ada/lab").build().is_ok(), "{version}");
    }
}

fn document(builder: McpServerBuilder, own_url: Option<&str>) -> Value {
    json(builder.build().expect("a valid server").server_json(own_url))
}

#[test]
fn server_json_has_the_names_of_the_registry() {
    let expected = json!({
        "$schema": SCHEMA,
        "name": "com.example.mcp/my-lab-server",
        "description": "My Lab Server!",
        "version": "1.0.2",
        "remotes": [{ "type": "streamable-http", "url": "https://mcp.example.com/mcp" }],
    });
    assert_eq!(document(minimal(), Some("https://mcp.example.com/mcp")), expected);
    let expected = json!({
        "$schema": SCHEMA,
        "name": "io.github.ada/lab",
        "title": "Lab",
        "description": "A lab.",
        "version": "1.0.2",
        "repository": { "url": "https://github.com/ada/lab", "source": "github", "id": "R_1", "subfolder": "a/b" },
        "websiteUrl": "https://example.com/lab",
        "icons": [{ "src": "https://example.com/i.png" }],
        "packages": [
            {
                "registryType": "npm",
                "identifier": "@ada/lab",
                "version": "1.0.3",
                "runtimeHint": "npx",
                "transport": { "type": "stdio" },
                "packageArguments": [
                    { "type": "named", "name": "--port", "description": "The port", "default": "80" },
                    { "type": "named", "name": "-l", "description": "The level", "choices": ["info", "error"] },
                    {
                        "type": "positional", "valueHint": "folder", "description": "The documents",
                        "isRequired": true, "isRepeated": true,
                    },
                ],
                "environmentVariables": [
                    { "name": "KEY", "description": "The key", "isRequired": true, "isSecret": true },
                    { "name": "UNIT", "description": "The unit", "default": "kg" },
                ],
            },
            {
                "registryType": "oci",
                "identifier": "ghcr.io/ada/lab:1.0.4",
                "transport": { "type": "streamable-http", "url": "http://localhost:80/mcp" },
            },
        ],
        "remotes": [
            {
                "type": "streamable-http", "url": "https://lab.example.com/mcp",
                "headers": [{ "name": "X-Key", "description": "The key" }],
            },
            { "type": "sse", "url": "https://lab.example.com/sse" },
        ],
    });
    // Configured remotes are not changed: neither the URL nor the authentication of the request is added to them.
    assert_eq!(document(full(), None), expected);
    let server = full().build().expect("a valid server");
    assert_eq!(json(server.server_json(Some("https://other.example")).map(ServerJson::guarded)), expected);
    let one = minimal().remote(Remote::streamable("https://a.example/mcp")).build().expect("a valid server");
    let document = json(one.server_json(Some("https://other.example")).map(ServerJson::guarded));
    assert_eq!(document["remotes"], json!([{ "type": "streamable-http", "url": "https://a.example/mcp" }]));
}

/// The default name is the reversed host of the URL. Without a valid host there is no document.
#[test]
fn the_default_name_is_the_reversed_host() {
    for (url, name) in [
        (Some("https://mcp.example.com/mcp"), Some("com.example.mcp/my-lab-server")),
        (Some("https://MCP.Example.com.:8443/"), Some("com.example.mcp/my-lab-server")),
        (Some("http://localhost:8787/mcp"), Some("localhost/my-lab-server")),
        (Some("http://127.0.0.1:8787/mcp"), Some("localhost/my-lab-server")),
        (Some("http://[::1]/mcp"), Some("localhost/my-lab-server")),
        (Some("http://192.0.2.7/mcp"), Some("192.0.2.7/my-lab-server")),
        (Some("http://[2001:db8::1]/mcp"), None),
        (Some("https://under_score.example"), None),
        (Some("/mcp"), None),
        (Some(""), None),
        (None, None),
    ] {
        assert_eq!(document(minimal(), url).get("name").and_then(Value::as_str), name, "{url:?}");
    }
    let host = format!("https://{}example", "long.".repeat(40));
    assert_eq!(document(minimal(), Some(&host)), Value::Null, "the name is too long for the registry");
    let named = document(minimal().remote(Remote::sse("https://a.example.com/sse")), None);
    assert_eq!(named["name"], "com.example.a/my-lab-server");
    assert_eq!(document(McpServer::builder("知識", "1"), Some("https://a.example"))["name"], "example.a/server");
}

/// Long texts are truncated at a word, if possible. A missing text has a default, and an unsuitable website or icon is omitted.
#[test]
fn texts_urls_and_icons_fit_the_registry() {
    let of = |builder: McpServerBuilder| document(builder, Some("https://a.example"));
    let hundred = "w".repeat(100);
    let words = format!("{}end", "four ".repeat(20));
    for (given, expected) in [
        (hundred.clone(), hundred.clone()),
        (format!("{hundred}w"), format!("{}…", "w".repeat(99))),
        ("é".repeat(100), "é".repeat(100)),
        ("é".repeat(101), format!("{}…", "é".repeat(99))),
        (words, format!("{}four…", "four ".repeat(19))),
        (format!("{} {}", "a".repeat(40), "b".repeat(100)), format!("{}…", "a".repeat(40))),
        (" padded\n".to_owned(), "padded".to_owned()),
    ] {
        assert!(expected.chars().count() <= 100);
        let document = of(minimal().title(given.clone()).description(given.clone()));
        assert_eq!((&document["title"], &document["description"]), (&json!(expected), &json!(expected)), "{given:?}");
    }
    assert_eq!(of(minimal().title("Lab"))["description"], "Lab");
    let blank = of(minimal().title(" ").description("\n"));
    assert_eq!((blank.get("title"), &blank["description"]), (None, &json!("My Lab Server!")));
    for (url, is_there) in [
        ("https://example.com/a?b#c", true),
        ("http://example.com", false),
        ("https://", false),
        ("https:///a", false),
        ("https://exa mple.com", false),
        ("example.com", false),
    ] {
        assert_eq!(of(minimal().website_url(url)).get("websiteUrl").is_some(), is_there, "{url}");
    }
    for (icon, is_there) in [
        (Icon::new("https://example.com/i.svg").mime_type("image/svg+xml").size("any").size("48x48"), true),
        (Icon::new("http://example.com/i.png"), false),
        (Icon::new("data:image/png;base64,AA"), false),
        (Icon::new(format!("https://example.com/{}", "i".repeat(255))), false),
        (Icon::new("https://example.com/i.gif").mime_type("image/gif"), false),
        (Icon::new("https://example.com/i.png").size("48"), false),
        (Icon::new("https://example.com/i.png").size("x48"), false),
    ] {
        assert_eq!(of(minimal().icon(icon.clone())).get("icons").is_some(), is_there, "{icon:?}");
    }
}

/// A command with one subcommand lists it with its arguments. A command with several subcommands does not list them.
#[test]
fn only_a_single_subcommand_is_listed() {
    let serve = || Command::new("serve").description("Serves").argument(Argument::new("name", "Its name"));
    let of = |command: Command| {
        document(minimal().package(Package::new("pypi", "lab", "1").command(command)), Some("https://a.example"))
            ["packages"][0]["packageArguments"]
            .take()
    };
    assert_eq!(
        of(Command::new("uvx").subcommand(serve())),
        json!([
            { "type": "positional", "value": "serve", "description": "Serves" },
            { "type": "positional", "valueHint": "name", "description": "Its name" },
        ])
    );
    assert_eq!(of(Command::new("uvx").subcommand(serve()).subcommand(Command::new("check"))), Value::Null);
}

fn get(url: &str) -> Ask {
    post("").verb("GET").at(url)
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    minimal().tool(Tool::new("say", "Says it.", || async {})).build()
}

fn guarded() -> Endpoint {
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(TOKENS)).expect("tokens");
    Endpoint::new(server).auth(tokens).without_rate_limit()
}

fn at(url: &str) -> ProtectedResource {
    ProtectedResource::at(url).expect("a URL")
}

/// The document needs no token, and every origin may read it. It has the configured URL, and does not contain the tools.
#[test]
fn server_json_is_public() {
    let endpoint = guarded().resource(at("https://kb.example.com/mcp"));
    let authorization = json!({
        "name": "Authorization", "description": "The access token: Bearer, a space, and the token",
        "isRequired": true, "isSecret": true,
    });
    let remote = json!({ "type": "streamable-http", "url": "https://kb.example.com/mcp", "headers": [authorization] });
    // The caller chooses the host of a request, so the document must not contain it.
    let ask = || get("https://evil.example/server.json?x=1").header("Origin", "https://anyone.example");
    let answer = ask().document(&endpoint);
    let document = answer.body.as_ref().expect("a document");
    assert_eq!((answer.status, &document["name"]), (200, &json!("com.example.kb/my-lab-server")));
    assert_eq!(document["remotes"], json!([remote]));
    assert!(!document.to_string().contains("say") && !document.to_string().contains("evil"), "{document}");
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "public, max-age=300"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    let head = ask().verb("HEAD").document(&endpoint);
    assert_eq!((head.status, &head.body, head.header("content-type")), (200, &None, answer.header("content-type")));
    let preflight = ask().verb("OPTIONS").document(&endpoint);
    assert_eq!((preflight.status, preflight.header("access-control-allow-methods")), (204, Some("GET, HEAD, OPTIONS")));
    for verb in ["POST", "PUT", "DELETE", "get"] {
        let rejected = ask().verb(verb).document(&endpoint);
        assert_eq!((rejected.status, rejected.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{verb}");
    }
    for path in ["/server.json/", "/Server.json", "/mcp/server.json"] {
        assert_eq!(get(path).document(&endpoint).status, 404, "{path}");
    }
}

/// Without a configured URL, the document has the URL of the request, and must not be cached. Without authentication, the remote has
/// no headers.
#[test]
fn the_default_url_is_that_of_the_request() {
    let local = Endpoint::new(server).without_auth().without_rate_limit();
    let public = Endpoint::new(server).open_to_the_public().without_rate_limit();
    for (endpoint, asked, own, name) in [
        (&local, "http://localhost:8787/server.json", "http://localhost:8787/mcp", "localhost/my-lab-server"),
        (&public, "https://a.example/server.json", "https://a.example/mcp", "example.a/my-lab-server"),
    ] {
        let answer = get(asked).document(endpoint);
        let document = answer.body.as_ref().expect("a document");
        assert_eq!(document["remotes"], json!([{ "type": "streamable-http", "url": own }]));
        assert_eq!((&document["name"], answer.header("cache-control")), (&json!(name), Some("no-store")));
    }
    let nameless = get("https://[2001:db8::1]/server.json").document(&public);
    let message = nameless.body.expect("an error")["error"]["message"].take();
    assert_eq!((nameless.status, message.as_str().is_some_and(|text| text.contains("`registry_name`"))), (404, true));
    let elsewhere = Endpoint::new(server).without_auth().without_rate_limit().path("/server.json");
    assert_eq!(
        get("http://localhost/server.json").document(&elsewhere).status,
        405,
        "the path belongs to the endpoint"
    );
}

/// If the server depends on the caller, the document is that of an unauthenticated caller, and must not be cached.
#[test]
fn server_json_is_that_of_an_unauthenticated_caller() {
    let endpoint = Endpoint::new(|request: &RequestInfo| {
        let title = request.caller().map_or("Unauthenticated".to_owned(), |caller| caller.subject.clone());
        minimal().title(title).build()
    })
    .auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(TOKENS)).expect("tokens"))
    .without_rate_limit()
    .resource(at("https://kb.example.com/mcp"));
    let answer = get("/server.json").bearer("good").document(&endpoint);
    assert_eq!(answer.body.as_ref().map(|body| &body["title"]), Some(&json!("Unauthenticated")));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

/// Returns a rate limit that allows this many requests of all callers together.
fn at_most(requests: u32) -> RateLimit {
    let left = Cell::new(requests);
    RateLimit::new(Duration::from_mins(1), move |_| {
        let is_within = left.get() > 0;
        left.set(left.get().saturating_sub(1));
        std::future::ready(Ok(is_within))
    })
}

/// An endpoint that rejects all requests does not serve the document. Requests for the document count for the rate limit.
#[test]
fn a_closed_endpoint_has_no_server_json() {
    let broken = Endpoint::new(|_| Err(BuildError::new("server", "s", Internal.to_string()))).open_to_the_public();
    let needs_url = Endpoint::new(server)
        .auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(TOKENS)).expect("tokens"))
        .resource(ProtectedResource::local().authorization_server("https://auth.example.com").expect("a URL"));
    let no_tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", None);
    let no_tokens = no_tokens.map(|tokens| Endpoint::new(server).auth(tokens)).into();
    for (endpoint, url, says) in [
        (Endpoint::new(server), "http://localhost/server.json", "no authentication"),
        (Endpoint::new(server).without_auth(), "https://a.example/server.json", "on the same machine"),
        (Endpoint::misconfigured(ConfigError::new("X", "is wrong")), "http://localhost/server.json", "X is wrong"),
        (no_tokens, "http://localhost/server.json", "MCP_STATIC_TOKENS"),
        (needs_url, "https://a.example/server.json", "MCP_RESOURCE"),
        (broken, "https://a.example/server.json", "Its log says why"),
    ] {
        let answer = get(url).document(&endpoint.without_rate_limit());
        let text = answer.body.map(|body| body.to_string()).unwrap_or_default();
        assert!(answer.status == 503 && text.contains(says) && !text.contains(SECRET), "{says}: {text}");
    }
    let counted = guarded().rate_limit(at_most(1));
    let statuses = [(); 2].map(|()| get("https://a.example/server.json").document(&counted).status);
    assert_eq!(statuses, [200, 429]);
}
