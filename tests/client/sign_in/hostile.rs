//! Hostile servers, and the search for secrets in everything that a program sends and shows.

use std::time::Duration;

use base64::Engine;
use edge_mcp::auth::{PresentedToken, Principal, TokenRefusal};
use edge_mcp::client::SignIn;
use edge_mcp::testing::{self, Client};
use edge_mcp::{Context, HandlerError, McpServer, Tool};
use serde_json::{Value, json};

use super::asking::CALLER;
use super::authorization_server::{
    AUTHORIZE, ISSUER, REGISTER, RESOURCE_METADATA, REVOKE, Reply, SERVER_METADATA, TOKEN,
};
use super::browser::{Browser, run};
use super::program::{Program, own_client};
use super::tracker::{insufficient, unauthorized};

/// C68, C69, C70, C71, the hostile cases 46 and 48: metadata of hostile servers ends the sign-in before the browser is sent anywhere.
#[test]
fn hostile_metadata_ends_the_sign_in() {
    let (resource, server) = (RESOURCE_METADATA, SERVER_METADATA);
    let endpoint = |url: &str| json!({ "authorization_endpoint": url });
    let changed: Vec<(&str, Value, &str)> = vec![
        (resource, json!({ "resource": "https://evil.example/mcp" }), "describes another resource"),
        (resource, json!({ "resource": "https://tracker.example/mc" }), "describes another resource"),
        (resource, json!({ "authorization_servers": [] }), "names no authorization server"),
        (resource, json!({ "authorization_servers": ["https://169.254.169.254"] }), "has an IP address"),
        (resource, json!({ "authorization_servers": ["https://2130706433"] }), "has an IP address"),
        (resource, json!({ "authorization_servers": ["https://[::ffff:7f00:1]"] }), "has an IP address"),
        (resource, json!({ "authorization_servers": ["https://auth"] }), "private network"),
        (server, json!({ "issuer": "https://auth.example/" }), "has another issuer"),
        (server, json!({ "issuer": "https://AUTH.example" }), "has another issuer"),
        (server, json!({ "code_challenge_methods_supported": null }), "does not support PKCE"),
        (server, json!({ "code_challenge_methods_supported": ["plain"] }), "does not support PKCE"),
        (server, json!({ "code_challenge_methods_supported": "S256" }), "is not valid"),
        (server, json!({ "authorization_endpoint": null }), "has no authorization endpoint"),
        (server, endpoint("javascript:alert(1)"), "the URL `authorization_endpoint`"),
        (server, endpoint("data:text/html,EVIL"), "the URL `authorization_endpoint`"),
        (server, endpoint("http://auth.example/authorize"), "must be an https: URL"),
        (server, endpoint("evil://auth.example/authorize"), "the URL `authorization_endpoint`"),
        (server, endpoint("https://user@auth.example/"), "the URL `authorization_endpoint`"),
        (server, endpoint("https://auth.example/\r\nSet-Cookie: a=b"), "the URL `authorization_endpoint`"),
        (server, endpoint(&format!("https://auth.example/{}", "x".repeat(2048))), "is too long"),
        (server, json!({ "token_endpoint": "https://localhost/token" }), "private network"),
        (server, json!({ "revocation_endpoint": "http://auth.example/revoke" }), "the URL `revocation_endpoint`"),
        (server, json!({ "registration_endpoint": "file:///etc/passwd" }), "the URL `registration_endpoint`"),
    ];
    for (url, members, expected) in changed {
        let program = Program::with(SignIn::dynamic_registration);
        program.authorization.change(url, &members);
        let page = Browser::default().begin(&program, "?server=tracker", "ada");
        assert!(program.host.log_text().contains("the sign-in to tracker failed"), "{}", program.host.log_text());
        assert!(page.refusal().contains(expected), "{members}: {page:?}");
        assert!(page.cookies().is_empty() && !page.text.contains("EVIL") && !page.text.contains("evil"), "{page:?}");
        assert!(program.sent(REGISTER).is_empty() && program.store.rows().is_empty());
    }
    for (url, reply, expected) in [
        (resource, Reply::text(200, &" ".repeat(1 << 20)), "cannot be reached"),
        (resource, Reply::text(500, ""), "cannot be reached"),
        (server, Reply::text(200, "<p>EVIL</p>"), "is not valid"),
        (server, Reply::text(503, ""), "cannot be reached"),
        (server, Reply::silence(), "cannot be reached"),
    ] {
        let program = Program::new();
        program.authorization.reply(url, reply);
        let page = Browser::default().begin(&program, "?server=tracker", "ada");
        assert!(page.refusal().contains(expected) && !page.text.contains("EVIL"), "{page:?}");
    }
    // The operator knows that this server supports PKCE.
    for (issuer, status) in [(ISSUER, 302), ("https://other.example", 400)] {
        let program = Program::with(|sign_in| sign_in.trust_pkce(issuer));
        program.authorization.change(server, &json!({ "code_challenge_methods_supported": null }));
        assert_eq!(Browser::default().begin(&program, "?server=tracker", "ada").status, status);
    }
}

/// C71, the hostile case 46: the metadata that a challenge names is on the host of the server, also if the link of a call carries its URL.
#[test]
fn the_metadata_of_a_challenge_is_on_the_same_host() {
    for url in [
        "https://evil.example/x",
        "http://tracker.example/x",
        "https://169.254.169.254/x",
        "https://user@tracker.example/x",
        "",
    ] {
        let program = Program::new();
        program.tracker.answer(unauthorized(&format!(r#"Bearer resource_metadata="{url}""#)));
        let link = program.link("ada");
        let page = Browser::default().begin(&program, &link, "ada");
        assert!(page.refusal().contains("the URL `resource_metadata` in its challenge or metadata"), "{url}: {page:?}");
        assert!(program.host.requests().is_empty());
    }
}

/// Everything that a program has sent, logged and shown.
struct Traffic(Vec<(&'static str, String)>);

impl Traffic {
    /// Asserts that a secret is only in these places.
    fn assert_only(&self, secret: &str, places: &[&str]) {
        for (place, text) in &self.0 {
            assert!(!text.contains(secret) || places.contains(place), "{secret} is in {place}: {text}");
        }
        for place in places {
            let is_there = self.0.iter().any(|(known, text)| known == place && text.contains(secret));
            assert!(is_there, "{secret} is not in {place}");
        }
    }
}

/// Splits a request into its URL, its `Authorization` header, its other headers, and its body.
fn parts(request: &http::Request<String>, names: [&'static str; 4]) -> Vec<(&'static str, String)> {
    let mut headers = request.headers().clone();
    let authorization = headers.remove("authorization").map(|value| value.to_str().expect("ASCII").to_owned());
    let texts =
        [request.uri().to_string(), authorization.unwrap_or_default(), format!("{headers:?}"), request.body().clone()];
    names.into_iter().zip(texts).collect()
}

/// C60, C61, C66: secrets are only where they belong. The token of the caller is nowhere, and no secret is in a URL, a log line, an error or a
/// page, over a sign-in, refreshes, failures of each kind, a step-up, a revocation, and a call that echoes the token.
#[test]
fn secrets_are_only_where_they_belong() {
    let program = Program::with(|sign_in| sign_in.client(own_client(ISSUER, "own").secret("SECRET-client")));
    let client = program.client.clone();
    let endpoint = testing::endpoint(move |_| {
        let client = client.clone();
        let find = move |cx: Context| {
            let client = client.clone();
            async move {
                let tracker = client.connect(&cx).server("tracker")?;
                Ok::<_, HandlerError>(tracker.call("track", json!({})).ask_caller(&cx).await?.text())
            }
        };
        McpServer::builder("desk", "1.0.0").tool(Tool::new("find", "Finds an issue.", find)).build()
    });
    let ada = async |presented: PresentedToken<'_>| {
        if presented.token() == CALLER { Ok(Principal::new("ada")) } else { Err(TokenRefusal::Expired) }
    };
    let endpoint = endpoint.auth(ada);
    let caller = Client::new(&endpoint).host(&program.host).token(CALLER).decline("tracker.sign-in.1");
    let mut shown = Vec::new();
    let mut show = |place: &'static str, text: String| shown.push((place, text));
    let call = || {
        let answer = testing::run(caller.call("find", json!({})));
        format!("{:?} {:?}", answer.headers(), String::from_utf8_lossy(answer.body()))
    };
    show("answer", call());
    let mut browser = Browser::default();
    let begun = browser.begin(&program, "?server=tracker", "ada");
    let state = begun.parameter("state").expect("a state");
    show("first page", format!("{begun:?}"));
    // A failed exchange, and a sign-in.
    program.authorization.reply(TOKEN, Reply::error("invalid_grant"));
    show("page", format!("{:?}", browser.finish(&program, &format!("?code=SECRET-code&state={state}"), "ada")));
    show("page", format!("{:?}", browser.finish(&program, &format!("?code=SECRET-code&state={state}"), "ada")));
    program.sign_in_as("ada");
    show("answer", call());
    // A server that echoes its token, a step-up, and a rejection.
    let echo = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -1, "message": "no" } });
    program.tracker.answer(crate::peer::Answer::new(502, "text/html", format!("SECRET-access-1 {echo}")));
    show("answer", call());
    program.tracker.answer(insufficient("more"));
    show("answer", call());
    program.tracker.answer(unauthorized("Bearer"));
    show("answer", call());
    // Refreshes that fail in each way, and an access that has ended.
    for reply in [
        Reply::text(503, "SECRET-refresh-2"),
        Reply::silence(),
        Reply::error("invalid_client"),
        Reply::error("invalid_grant"),
    ] {
        program.host.advance(Duration::from_hours(2));
        program.authorization.reply(TOKEN, reply);
        show("answer", call());
    }
    program.sign_in_as("ada");
    program.authorization.reply(REVOKE, Reply::text(503, "SECRET-refresh-3"));
    let cx = Browser::default().context(&program.host, "", "", &[]);
    let person = Principal::new("ada");
    run(&program.host, program.sign_in.forget(&program.client, "tracker", &cx, &person)).expect("it is forgotten");
    program.store.fail_after(0);
    show("answer", call());
    show("log", program.host.log_text());
    show("store", format!("{:?}", program.store.rows()));
    for request in program.tracker.requests() {
        shown.extend(parts(&request, ["tracker URL", "tracker token", "tracker header", "tracker body"]));
    }
    for request in program.host.requests() {
        shown.extend(parts(&request, ["network URL", "client authentication", "network header", "form"]));
    }
    let traffic = Traffic(shown);
    traffic.assert_only(CALLER, &[]);
    traffic.assert_only("SECRET-access-1", &["tracker token"]);
    traffic.assert_only("SECRET-refresh", &["form"]);
    traffic.assert_only("SECRET-code", &["form"]);
    traffic.assert_only("SECRET-client", &[]);
    let basic = base64::engine::general_purpose::STANDARD.encode("own:SECRET-client");
    traffic.assert_only(&basic, &["client authentication"]);
    traffic.assert_only("SECRET-DESCRIPTION", &[]);
    // The verifier is a random text of the host: no request but the form has it, and no URL of the browser.
    let verifier = form_urlencoded::parse(program.sent(TOKEN)[0].as_bytes())
        .find(|(name, _)| name == "code_verifier")
        .map(|(_, value)| value.into_owned());
    traffic.assert_only(&verifier.expect("a verifier"), &["form"]);
    assert!(begun.location().starts_with(AUTHORIZE));
}
