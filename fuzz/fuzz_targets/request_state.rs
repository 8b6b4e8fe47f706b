//! `requestState`: whatever a client makes of it, the answer is -32602 or what the handler says; never another status, and
//! never a state that was not given out for that call.
//!
//! The first byte says what the rest is: a state, changes to a good one, the answers that come with it, or two lots of
//! arguments on two lines: a state that was given for the one is not good for the other.
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
            assert_eq!(is_taken(method, params, &text, &answers()), text == *state, "{text}");
        }
        1 => {
            let mut bytes = state.clone().into_bytes();
            for change in rest.chunks_exact(3) {
                let at = usize::from(u16::from_be_bytes([change[0], change[1]])) % bytes.len();
                bytes[at] = change[2];
            }
            // Fewer than three bytes are left: so many are cut off.
            bytes.truncate(bytes.len() - rest.len() % 3);
            let text = String::from_utf8_lossy(&bytes);
            assert_eq!(is_taken(method, params, &text, &answers()), text == *state, "{text}");
        }
        2 => {
            let Ok(answers) = serde_json::from_slice::<Value>(rest) else { return };
            is_taken(method, params, state, &answers);
        }
        _ => {
            let text = String::from_utf8_lossy(rest);
            let Some((one, other)) = text.split_once('\n') else { return };
            let [Ok(one), Ok(other)] = [one, other].map(serde_json::from_str::<Value>) else { return };
            let [one, other] = [one, other].map(|arguments| json!({ "name": "keep", "arguments": arguments }));
            let (_, seen) = ask(plain("tools/call", &one));
            let Some(state) = seen.responses[0]["result"]["requestState"].as_str() else { return };
            let is_taken = is_taken("tools/call", &other, state, &answers());
            assert!(is_taken || one != other, "{one} is refused");
            assert!(!is_taken || is_same(&one, &other), "{one} passes for {other}");
        }
    }
});

/// Whether the call is answered, and not refused for what it carries.
fn is_taken(method: &str, params: &Value, state: &str, answers: &Value) -> bool {
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

/// Whether two values are one value, however their numbers are written.
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
