//! Fuzzes `requestState`. The endpoint accepts only a state that it issued for the same call. Otherwise the error is -32602. The HTTP
//! status is always 200.
//!
//! The first byte selects the meaning of the rest: a state, changes to a valid state, the input responses that accompany a valid state, or
//! the arguments of two calls on two lines. A state that was issued for one of these calls is not valid for the other.
#![no_main]

use edge_mcp_fuzz::ask;
use edge_mcp_fuzz::requests::{answers, plain};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let states = edge_mcp_fuzz::with_known(|known| known.states.clone());
    let (method, params, state) = &states[usize::from(first / 4) % states.len()];
    match first % 4 {
        0 => {
            let text = String::from_utf8_lossy(rest);
            assert_eq!(is_accepted(method, params, &text, &answers()), text == *state, "{text}");
        }
        1 => {
            let mut bytes = state.clone().into_bytes();
            for change in rest.chunks_exact(3) {
                let at = usize::from(u16::from_be_bytes([change[0], change[1]])) % bytes.len();
                bytes[at] = change[2];
            }
            // One or two bytes may remain. The state is shortened by this number of bytes.
            bytes.truncate(bytes.len() - rest.len() % 3);
            let text = String::from_utf8_lossy(&bytes);
            assert_eq!(is_accepted(method, params, &text, &answers()), text == *state, "{text}");
        }
        2 => {
            let Ok(answers) = serde_json::from_slice::<Value>(rest) else { return };
            is_accepted(method, params, state, &answers);
        }
        _ => {
            let text = String::from_utf8_lossy(rest);
            let Some((one, other)) = text.split_once('\n') else { return };
            let [Ok(one), Ok(other)] = [one, other].map(serde_json::from_str::<Value>) else { return };
            let [one, other] = [one, other].map(|arguments| json!({ "name": "keep", "arguments": arguments }));
            let (_, seen) = ask(plain("tools/call", &one));
            let Some(state) = seen.responses[0]["result"]["requestState"].as_str() else { return };
            let is_accepted = is_accepted("tools/call", &other, state, &answers());
            assert!(is_accepted || one != other, "the state of {one} must be accepted");
            assert!(!is_accepted || is_same(&one, &other), "the state of {one} must be rejected for {other}");
        }
    }
});

/// Returns whether the endpoint accepts the state and the input responses of the call.
fn is_accepted(method: &str, params: &Value, state: &str, answers: &Value) -> bool {
    let mut params = params.clone();
    params["requestState"] = json!(state);
    params["inputResponses"] = answers.clone();
    let (status, seen) = ask(plain(method, &params));
    let response = &seen.responses[0];
    assert_eq!(status, 200, "{response}");
    match response["error"]["code"].as_i64() {
        None => response["result"]["isError"] != true,
        Some(-32_602) => false,
        Some(_) => panic!("{response}"),
    }
}

/// Returns whether two values are equal, regardless of the notation of numbers.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i128(), other.as_i128()) {
            (Some(one), Some(other)) => one == other,
            _ => one.as_f64() == other.as_f64(),
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| is_same(one, other)))
        }
        (one, other) => one == other,
    }
}
