//! `requestState`: what a client carries from one round of a call to the next, signed.
//!
//! It holds the answers of earlier rounds and what the handler keeps, until when it is good, and what it belongs to: the
//! caller, the method and all of its parameters. A client can read it, and can change nothing of it.
//!
//! Source: 2026-07-28, basic/patterns/mrtr, "Request State".

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::Call;
use crate::auth::StateKeys;
use crate::protocol::json::{Kind, Value};
use crate::server::exchange::Answers;

/// Seconds for which a state is good.
const LIFETIME: u64 = 600;
const VERSION: &str = "v1.";

/// What a state holds.
#[derive(Serialize, Deserialize)]
pub(super) struct RequestState {
    /// In seconds since 1970.
    expires: u64,
    /// What it belongs to, as a digest.
    belongs: String,
    pub answers: Answers,
    pub kept: Option<Box<RawValue>>,
}

/// The state of a call that ends with questions.
pub(super) fn seal(call: &Call<'_>, keys: &StateKeys) -> Result<String, serde_json::Error> {
    let exchange = call.cx.exchange();
    let state = RequestState {
        expires: now(call).saturating_add(LIFETIME),
        belongs: belonging(call),
        answers: exchange.answers().clone(),
        kept: exchange.state().clone(),
    };
    let mut token = VERSION.to_owned();
    URL_SAFE_NO_PAD.encode_string(serde_json::to_vec(&state)?, &mut token);
    let signature = keys.sign(token.as_bytes());
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}

/// The state that `token` is, if it is one of ours, of this call, and still good. Why it is not is nobody's business.
pub(super) fn open(call: &Call<'_>, keys: &StateKeys, token: &str) -> Option<RequestState> {
    let (signed, signature) = token.rsplit_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    if !keys.verify(signed.as_bytes(), &signature) {
        return None;
    }
    let state = URL_SAFE_NO_PAD.decode(signed.strip_prefix(VERSION)?).ok()?;
    let state: RequestState = serde_json::from_slice(&state).ok()?;
    (now(call) < state.expires && state.belongs == belonging(call)).then_some(state)
}

fn now(call: &Call<'_>) -> u64 {
    call.cx.host().clock.now_ms() / 1000
}

/// A digest of the caller, the method, and all parameters but those that change from round to round.
fn belonging(call: &Call<'_>) -> String {
    let caller = call.cx.auth().map(|caller| (&caller.subject, &caller.client_id));
    let mut text = format!("{caller:?}\0{}\0", call.request.method);
    let members = call.request.params.into_iter().flat_map(Value::members);
    let mut lasting: Vec<_> =
        members.filter(|(name, _)| !matches!(&**name, "_meta" | "inputResponses" | "requestState")).collect();
    lasting.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (name, value) in lasting {
        text.push_str(&format!("{name:?}:"));
        write_canonical(value, &mut text);
    }
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}

/// A value as text that does not depend on how a client happened to write it.
fn write_canonical(value: Value<'_>, text: &mut String) {
    match value.kind() {
        Kind::Object => {
            let mut members: Vec<_> = value.members().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            text.push('{');
            for (name, member) in members {
                text.push_str(&format!("{name:?}:"));
                write_canonical(member, text);
                text.push(',');
            }
            text.push('}');
        }
        Kind::Array => {
            text.push('[');
            for item in value.items() {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Kind::String => text.push_str(&format!("{:?}", value.as_str().unwrap_or_default())),
        // 1, 1.0 and 1e0 are one number, and a client may send it back as another of them.
        Kind::Number => match value.text().parse::<f64>() {
            Ok(number) if number.is_finite() => text.push_str(&number.to_string()),
            _ => text.push_str(value.text()),
        },
        Kind::Boolean | Kind::Null => text.push_str(value.text()),
    }
}
