//! `requestState`: what a client carries from one round of a call to the next, signed.
//!
//! It holds the answers of earlier rounds and what the handler keeps, until when it is good, and what it belongs to: the
//! caller, the method and all of its parameters. A client can read it, unless it is private, and can change nothing of it.
//!
//! Source: 2026-07-28, basic/patterns/mrtr, "Request State".

use std::error::Error;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::Call;
use crate::auth::StateKeys;
use crate::auth::state_keys::NONCE;
use crate::protocol::json::deserialize::read_text;
use crate::protocol::json::{Value, canonical, write};
use crate::protocol::message::Request;
use crate::server::Context;
use crate::server::exchange::Answers;
use crate::server::workflow::FinishedSteps;

/// Signed, and open to read.
const SIGNED: &str = "v1.";
/// Encrypted, which no one else can have done.
const PRIVATE: &str = "p1.";

/// What a state holds.
#[derive(Serialize, Deserialize)]
pub(super) struct RequestState {
    /// In seconds since 1970.
    expires: u64,
    /// What it belongs to, as a digest.
    belongs: String,
    pub answers: Answers,
    pub kept: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "FinishedSteps::is_empty")]
    pub steps: FinishedSteps,
}

/// The state of a call that ends with questions, whose request has this digest: see [`belonging`].
pub(super) fn seal(call: &Call, keys: &StateKeys, digest: String) -> Result<String, Box<dyn Error>> {
    let exchange = call.cx.exchange();
    let state = RequestState {
        expires: now(call).saturating_add(keys.seconds()),
        belongs: digest,
        answers: exchange.answers().clone(),
        kept: exchange.state().clone(),
        steps: exchange.steps().clone(),
    };
    let state = write::to_vec(&state)?;
    if exchange.is_private() {
        let mut nonce = [0; NONCE];
        call.cx.host().randomness.fill(&mut nonce)?;
        let sealed = keys.encrypt(nonce, &state).ok_or("the state cannot be encrypted")?;
        return Ok(format!("{PRIVATE}{}", URL_SAFE_NO_PAD.encode(sealed)));
    }
    let mut token = SIGNED.to_owned();
    URL_SAFE_NO_PAD.encode_string(state, &mut token);
    let signature = keys.sign(token.as_bytes());
    token.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut token);
    Ok(token)
}

/// The state that `token` is, if it is one of ours, of this call, and still good; and whether it is private. Why it is not is
/// nobody's business.
pub(super) fn open(call: &Call, request: &Request<'_>, keys: &StateKeys, token: &str) -> Option<(RequestState, bool)> {
    let private = token.strip_prefix(PRIVATE);
    let state = private.map_or_else(|| verified(keys, token), |sealed| keys.decrypt(&decoded(sealed)?))?;
    let state: RequestState = read_text(&state)?;
    let is_good = now(call) < state.expires && state.belongs == belonging(&call.cx, request);
    is_good.then_some((state, private.is_some()))
}

fn verified(keys: &StateKeys, token: &str) -> Option<Vec<u8>> {
    let (signed, signature) = token.rsplit_once('.')?;
    if keys.verify(signed.as_bytes(), &decoded(signature)?) { decoded(signed.strip_prefix(SIGNED)?) } else { None }
}

/// Base64 in its one canonical form.
fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn now(call: &Call) -> u64 {
    call.cx.host().clock.now_ms() / 1000
}

/// A digest of the caller, the method, and all parameters but those that change from round to round.
pub(super) fn belonging(cx: &Context, request: &Request<'_>) -> String {
    let caller = cx.auth().map(|caller| (&caller.issuer, &caller.subject, &caller.client_id));
    let mut text = format!("{caller:?}\0{}\0", request.method);
    let members = request.params.into_iter().flat_map(Value::members);
    let mut lasting: Vec<_> =
        members.filter(|(name, _)| !matches!(&**name, "_meta" | "inputResponses" | "requestState")).collect();
    // Arguments that are empty may be left out.
    lasting.retain(|(name, value)| name != "arguments" || value.members().next().is_some());
    canonical::write_members(lasting, &mut text);
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}
