//! Fuzzes the introspection response of an authorization server. The endpoint accepts a token only if the response is unambiguous.
#![no_main]

use std::rc::Rc;

use edge_mcp::host::Fetched;
use edge_mcp::parsers::parse_answer;
use edge_mcp::testing::TestHost;
use edge_mcp::auth::{Introspection, ProtectedResource};
use edge_mcp::Endpoint;
use edge_mcp_fuzz::requests::plain;
use edge_mcp_fuzz::specimen::{ask_on, server};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const RESOURCE: &str = "https://kb.example.com/mcp";

thread_local! {
    static ENDPOINT: Rc<Endpoint> = Rc::new(
        Endpoint::new(server)
            .auth(Introspection::new("https://auth.example.com/introspect").expect("a URL").without_cache())
            .resource(ProtectedResource::at(RESOURCE).expect("a URL"))
            .without_rate_limit(),
    );
}

fuzz_target!(|input: &[u8]| {
    // Valid claims, in which the fuzzer adds or replaces members.
    let mut valid = json!({ "active": true, "sub": "ada", "aud": RESOURCE, "exp": 1_800_000_300 });
    let changes = serde_json::from_slice::<Value>(input).ok();
    if let Some(Value::Object(changes)) = changes {
        valid.as_object_mut().expect("an object").extend(changes);
    }
    for body in [input.to_vec(), valid.to_string().into_bytes()] {
        let claims = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        assert!(parse_answer(&body).is_err() || claims["active"] == true, "{claims}");
        let host = TestHost::new().fetch(move |_, _| std::future::ready(Ok(Fetched::new(200, body.clone()))));
        let asked = plain("tools/list", &json!({}));
        let answer = ENDPOINT.with(|endpoint| ask_on(&host, endpoint, asked));
        assert!(matches!(answer.status(), 200 | 401 | 503), "{} for {claims}", answer.status());
        if answer.status() == 200 {
            assert!(claims["active"] == true && is_for_us(&claims["aud"]), "{claims} must be rejected");
            let times = ["exp", "nbf", "iat"].map(|name| &claims[name]);
            assert!(times.iter().all(|time| time.is_null() || time.is_number()), "{claims} must be rejected");
            assert!(
                claims["exp"].is_null() || claims["exp"].as_f64() > Some(1_799_999_940.0),
                "{claims} must be rejected"
            );
        }
    }
});

fn is_for_us(audience: &Value) -> bool {
    let names =
        |one: &Value| one.as_str().is_some_and(|one| one.to_ascii_lowercase().starts_with("https://kb.example.com"));
    names(audience) || audience.as_array().is_some_and(|several| several.iter().any(names))
}
