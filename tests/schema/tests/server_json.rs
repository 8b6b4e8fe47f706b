//! Checks `server.json` against the MCP registry's schema of 2025-12-11. `scripts/setup --schema-suite` fetches the schema.

// A test may panic.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;

use edge_json::{Document, JsonLimits};
use edge_json_schema::{CheckSteps, Options, Validator};
use edge_mcp::McpServer;
use edge_mcp::McpServerBuilder;
use edge_mcp::content::{Icon, Theme};
use edge_mcp::registry::{Argument, Command, Input, Package, Remote, Repository};
use serde_json::{Value, json};

const SCHEMA: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/json-schema-test-suite/mcp-registry/server.schema.json");

fn validator() -> Validator {
    let text =
        fs::read(SCHEMA).unwrap_or_else(|error| panic!("{SCHEMA}: {error}; scripts/setup --schema-suite fetches it"));
    Validator::new(serde_json::from_slice(&text).expect("JSON")).expect("a schema")
}

fn problems(validator: &Validator, document: &Value) -> Vec<String> {
    let text = document.to_string();
    let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
    let options = Options { checks_formats: true, ..Options::default() };
    validator.check(document.root(), options, &CheckSteps::default())
}

fn document(server: McpServerBuilder, own_url: Option<&str>, is_guarded: bool) -> Value {
    let server = server.build().expect("a valid server");
    let document = server.server_json(own_url).expect("a name");
    serde_json::to_value(if is_guarded { document.guarded() } else { document }).expect("JSON")
}

/// Returns a server with all settings that the document can contain.
fn full() -> McpServerBuilder {
    let command = Command::new("npx")
        .argument(Argument::new("folder", "Where the documents are").required().repeatable())
        .argument(Argument::new("port", "Where to listen").short_flag("-p").long_flag("--port").default_value("8080"))
        .argument(Argument::new("level", "How much is logged").long_flag("--log").choices(["info", "error"]).editable())
        .subcommand(Command::new("serve").description("Serves").argument(Argument::new("name", "Its name")));
    let digest = "fe333e598595000ae021bd27117db32ec69af6987f507ba7a63c90638ff633ce";
    McpServer::builder("weather", "1.0.2")
        .id("weather")
        .title("Weather")
        .description("The weather in a city.")
        .website_url("https://example.com/weather?lang=en#top")
        .icon(Icon::new("https://example.com/i.png").mime_type("image/png").size("48x48").theme(Theme::Dark))
        .icon(Icon::new("data:,"))
        .registry_name("io.github.ada/weather")
        .repository(Repository::new("https://github.com/ada/servers", "github").id("R_1").subfolder("servers/weather"))
        .release_date("2026-07-28")
        .is_latest(false)
        .canonical_package("npm")
        .package(
            Package::new("npm", "@ada/weather", "1.0.2")
                .command(command)
                .environment_variable(Input::new("KEY", "The key").required().secret())
                .environment_variable(Input::new("UNIT", "The unit").default_value("celsius")),
        )
        .package(Package::new("docker", "ghcr.io/ada/weather", "1.0.2").streamable_http("http://localhost:8080/mcp"))
        .package(Package::new("mcpb", "https://github.com/ada/weather/a.mcpb", "1.0.2").sha256(digest))
        .remote(Remote::streamable("https://weather.example.com/mcp").header(Input::new("X-Key", "The key").secret()))
        .remote(Remote::sse("https://weather.example.com/sse"))
}

#[test]
fn documents_are_valid() {
    let validator = validator();
    let minimal = || McpServer::builder("s", "1");
    let long = "word ".repeat(40);
    for (case, document) in [
        ("no settings", document(minimal(), Some("http://localhost:8787/mcp"), false)),
        ("guarded", document(minimal(), Some("https://kb.example.com/mcp"), true)),
        ("a name without a URL", document(minimal().registry_name("com.example/kb"), None, false)),
        ("a name without ASCII letters", document(McpServer::builder("知識", "1"), Some("https://a.example"), false)),
        ("an IP address", document(minimal(), Some("http://192.0.2.7:8787/mcp"), false)),
        (
            "long texts",
            document(minimal().title(long.clone()).description(long.clone()), Some("https://a.example"), false),
        ),
        ("one long word", document(minimal().description("w".repeat(101)), Some("https://a.example"), false)),
        ("multibyte characters", document(minimal().description("é".repeat(100)), Some("https://a.example"), false)),
        ("blank texts", document(minimal().title(" ").description("\n"), Some("https://a.example"), false)),
        (
            "a website with http",
            document(minimal().website_url("http://example.com"), Some("https://a.example"), false),
        ),
        ("an invalid website", document(minimal().website_url("https:// x"), Some("https://a.example"), false)),
        (
            "an unsupported icon type",
            document(
                minimal().icon(Icon::new("https://a.example/i").mime_type("image/gif")),
                Some("https://a.example"),
                false,
            ),
        ),
        (
            "an invalid icon size",
            document(minimal().icon(Icon::new("https://a.example/i").size("big")), Some("https://a.example"), false),
        ),
        ("all settings", document(full(), Some("https://weather.example.com/mcp"), true)),
    ] {
        assert_eq!(problems(&validator, &document), [""; 0], "{case}: {document:#}");
    }
}

/// The schema rejects invalid documents, so the test above can fail.
#[test]
fn invalid_documents_are_rejected() {
    let validator = validator();
    let valid = document(full(), None, false);
    assert_eq!(problems(&validator, &valid), [""; 0]);
    for (pointer, wrong) in [
        ("/name", json!("weather")),
        ("/name", json!("io.github.ada/weather/2")),
        ("/version", json!("1".repeat(256))),
        ("/title", json!("t".repeat(101))),
        ("/description", json!("")),
        ("/description", json!("d".repeat(101))),
        ("/websiteUrl", json!("no url")),
        ("/icons/0/mimeType", json!("image/gif")),
        ("/icons/0/sizes/0", json!("big")),
        ("/repository", json!({ "url": "https://github.com/ada/servers" })),
        ("/packages/0/version", json!("latest")),
        ("/packages/0/transport", json!({ "type": "stdin" })),
        ("/packages/0/transport", Value::Null),
        ("/packages/0/packageArguments/0/type", json!("flag")),
        ("/packages/0/environmentVariables/0", json!({ "description": "no name" })),
        ("/packages/2/fileSha256", json!("FE33")),
        ("/remotes/0/type", json!("streamable")),
        ("/remotes/0/url", Value::Null),
        ("/remotes/0/headers", json!([{ "isRequired": "yes" }])),
    ] {
        let mut document = valid.clone();
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is missing")) = wrong.clone();
        assert_ne!(problems(&validator, &document), [""; 0], "{pointer}: {wrong}");
    }
}
