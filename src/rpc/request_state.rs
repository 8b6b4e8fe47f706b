//! `requestState`: what a client carries from one round of a call to the next, signed.
//!
//! It holds the questions that are sent with it, the answers and the results of steps of earlier rounds, what the handler keeps,
//! and when it expires. It belongs to one server, caller and method, and to all parameters of the call. A client can read it,
//! unless it is private, and can change nothing of it.
//!
//! Source: 2026-07-28, basic/patterns/mrtr, "Request State".

use std::collections::BTreeMap;
use std::error::Error;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::Call;
use crate::auth::StateKeys;
use crate::auth::state_keys::NONCE;
use crate::json::deserialize::read_text;
use crate::json::{Value, canonical, write};
use crate::limits::STATE_BYTES;
use crate::protocol::message::Request;
use crate::server::Context;
use crate::server::exchange::{Answered, Earlier};
use crate::server::steps::Finished;

/// Signed, and open to read.
const SIGNED: &str = "v1.";
/// Encrypted, which no one else can have done.
const PRIVATE: &str = "p1.";

/// What a state holds.
#[derive(Serialize, Deserialize)]
struct RequestState {
    /// In seconds since 1970.
    expires: u64,
    /// What it belongs to, as a digest.
    belongs: String,
    /// The digests of the questions that are sent with it, by their keys.
    asked: Asked,
    answers: Vec<Answered>,
    kept: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    steps: Vec<Finished>,
}

/// The digests of questions by their keys.
pub(super) type Asked = BTreeMap<String, String>;

/// The state of a call that ends with questions, whose request has this digest: see [`belonging`].
pub(super) fn seal(call: &Call, keys: &StateKeys, digest: String) -> Result<String, Box<dyn Error>> {
    let exchange = call.cx.exchange();
    let questions = exchange.questions();
    let state = RequestState {
        expires: now(call).saturating_add(keys.seconds()),
        belongs: digest,
        asked: questions.iter().map(|(key, question)| (key.clone(), question.digest.clone())).collect(),
        answers: exchange.answers().clone(),
        kept: exchange.state().clone(),
        steps: exchange.steps().finished().to_vec(),
    };
    let state = write::to_vec(&state)?;
    if exchange.is_private() {
        let mut nonce = [0; NONCE];
        call.cx.host().fill_random(&mut nonce)?;
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

/// What the state `token` brings, if it is one of ours, of this call, and has not expired: the questions that were sent with it, and
/// what earlier rounds have left. The caller is not told why it is refused.
pub(super) fn open(call: &Call, request: &Request<'_>, keys: &StateKeys, token: &str) -> Option<(Asked, Earlier)> {
    if token.len() > STATE_BYTES {
        return None;
    }
    let private = token.strip_prefix(PRIVATE);
    let state = private.map_or_else(|| verified(keys, token), |sealed| keys.decrypt(&decoded(sealed)?))?;
    let RequestState { expires, belongs, asked, answers, kept, steps } = read_text(&state)?;
    let is_good = now(call) < expires && belongs == belonging(&call.cx, request);
    is_good.then_some((asked, Earlier { answers, kept, steps, is_private: private.is_some() }))
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
    call.cx.host().now_ms() / 1000
}

/// A digest of the caller, the server (its name, and the URL that its endpoint is configured with), the method, and all parameters but
/// those that change from round to round.
pub(super) fn belonging(cx: &Context, request: &Request<'_>) -> String {
    let caller = cx.auth().map(|caller| (&caller.issuer, &caller.subject, &caller.client_id));
    let server = (cx.server().map(|server| &*server.info.name), cx.resource());
    let mut text = format!("{caller:?}\0{server:?}\0{}\0", request.method);
    let members = request.params.into_iter().flat_map(Value::members);
    let mut lasting: Vec<_> =
        members.filter(|(name, _)| !matches!(&**name, "_meta" | "inputResponses" | "requestState")).collect();
    // Arguments that are empty may be left out.
    lasting.retain(|(name, value)| name != "arguments" || value.members().next().is_some());
    canonical::write_members(lasting, &mut text);
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}
