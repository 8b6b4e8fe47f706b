//! Servers whose URL a user of the program chose.

use std::time::Duration;

use edge_mcp::client::{AuthorizationServer, ClientCredentials, McpClient, MemoryTokens, SignIn, TokenKeys, Upstream};
use edge_mcp::host::FetchError;
use edge_mcp::testing::{self, TestHost};
use futures::future::{pending, ready};
use serde_json::json;

use crate::calls::{client, context};

const URL: &str = "https://chosen.example.com/mcp";

/// C72: the URL is public, also in development.
#[test]
fn the_url_is_public() {
    for url in [
        "http://localhost:8787/mcp",
        "https://127.0.0.1/mcp",
        "https://169.254.169.254/mcp",
        "https://2130706433/mcp",
        "https://vault.internal/mcp",
        "https://intranet/mcp",
        "https://chosen.example.com:8443/mcp",
    ] {
        assert!(Upstream::untrusted(url).is_err(), "{url}");
    }
    assert!(Upstream::untrusted(URL).is_ok());
}

/// C72: the server gets no secret of the program, but a person can sign in to it.
#[test]
fn the_server_gets_no_secret() {
    let issuer = AuthorizationServer::issuer("https://auth.example.com").expect("a URL");
    let credentials = ClientCredentials::basic(issuer, "desk", "SECRET-4711").expect("credentials");
    let chosen = || Upstream::untrusted(URL).expect("a URL");
    let key = TokenKeys::from_text("MCP_TOKEN_KEY", Some("0123456789abcdef0123456789abcdef")).expect("a key");
    let sign_in =
        SignIn::new("Desk", "https://desk.example.com/sign-in", key, MemoryTokens::new()).expect("the settings");
    for (upstream, is_built) in [
        (chosen(), true),
        (chosen().sign_in(&sign_in), true),
        (chosen().bearer("SECRET-4711").expect("a token"), false),
        (chosen().header("x-key", "SECRET-4711").expect("a header"), false),
        (chosen().client_credentials(credentials), false),
        (chosen().bearer_with(|_| ready(Ok(Some("SECRET-4711".to_owned())))), false),
        (chosen().sign_in(&sign_in).header("x-key", "SECRET-4711").expect("a header"), false),
        (chosen().forward_header("x-tenant").expect("a header"), false),
        (chosen().forward_meta("example.com/tenant").expect("a member"), false),
        (chosen().forward_meta("baggage").expect("a member"), false),
    ] {
        let built = McpClient::builder("desk", "1.0.0").server("chosen", upstream).build();
        assert_eq!(built.is_ok(), is_built);
        let problem = built.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(is_built || problem.contains("\"chosen\" is untrusted"), "{problem}");
        assert!(!problem.contains("SECRET"), "{problem}");
    }
}

/// C72: the error does not say why the server cannot be reached, and the log does.
#[test]
fn the_error_does_not_say_why_a_server_cannot_be_reached() {
    let mut sentences = Vec::new();
    let hosts = [
        TestHost::new().fetch(|_, _| ready(Err(FetchError::Failed("DNS-4711".to_owned())))),
        TestHost::new().fetch(|_, _| ready(Err(FetchError::Failed("TLS-4711".to_owned())))),
        TestHost::new().fetch(|_, _| ready(Err(FetchError::TooSlow))),
        TestHost::new().fetch(|_, _| pending()),
    ];
    for host in hosts {
        let upstream = Upstream::untrusted(URL).expect("a URL").timeout(Duration::from_secs(5));
        let connection = client(upstream).connect(&context(&host));
        let call = connection.server("parcels").expect("a server").call("track", json!({}));
        let outcome = testing::run(host.run(async move { call.await.map(|result| result.text()) }));
        let error = outcome.expect("the call ends").expect_err("no answer");
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(!error.to_string().contains("4711"), "{error}");
        assert!(cause.contains("at parcels"), "{cause}");
        sentences.push(error.to_string());
    }
    sentences.dedup();
    assert_eq!(sentences.len(), 1, "{sentences:?}");
}
