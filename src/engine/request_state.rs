//! `requestState`: the encrypted state that a client sends back in the next round of a call.
//!
//! It contains the digests of the questions that are sent with it, the answers and step results of earlier rounds, and its expiry time.
//! It is bound to one server, caller, method and set of parameters, and to the headers and members of `_meta` that the program passes on
//! to other servers. A client cannot read or change it.
//!
//! Source: 2026-07-28, basic/patterns/mrtr, "Request State".

use std::collections::BTreeMap;
use std::error::Error;

use edge_json::{Document, JsonLimits, Value, canonical, write};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::auth::encryption_keys::NONCE;
use crate::auth::{Principal, StateKeys};
use crate::base64::URL_SAFE;
use crate::call::context::Context;
use crate::call::forwarded::forwarded;
use crate::call::rounds::{Answered, Earlier};
use crate::call::step_memory::StepResult;
use crate::protocol::message::Request;

/// The version of the format.
const PREFIX: &str = "v2.";

/// The content of a state.
#[derive(Serialize)]
struct RequestState {
    /// The random id of the call.
    id: String,
    /// Seconds since 1970-01-01T00:00:00Z.
    expires: u64,
    /// The digest of the call that the state is bound to.
    belongs: String,
    /// The digests of the questions that are sent with the state, by their keys.
    asked: Asked,
    answers: Vec<Answered>,
    steps: Vec<StepResult>,
}

/// The digests of questions by their keys.
pub(super) type Asked = BTreeMap<String, String>;

/// Creates the state of a call that ends with questions. `digest` is the result of [`request_digest`].
pub(super) fn seal(cx: &Context, keys: &StateKeys, digest: String) -> Result<String, Box<dyn Error>> {
    let (rounds, host) = (cx.rounds(), cx.host());
    let questions = rounds.questions();
    // `collect` would sort the items first. No other code needs this sort, so it would only make the wasm module larger.
    let mut asked = Asked::new();
    asked.extend(questions.iter().map(|(key, question)| (key.clone(), question.digest.clone())));
    let state = RequestState {
        id: rounds.call_id(host)?,
        expires: now(cx).saturating_add(keys.seconds()),
        belongs: digest,
        asked,
        answers: rounds.answers().clone(),
        steps: rounds.steps().finished().to_vec(),
    };
    let mut nonce = [0; NONCE];
    host.fill_random(&mut nonce)?;
    let sealed = keys.encrypt(nonce, &write::to_vec(&state)?).ok_or("the state cannot be encrypted")?;
    Ok(format!("{PREFIX}{}", URL_SAFE.encode(sealed)))
}

/// Decrypts the state `token`. Returns the digests of the questions that were sent with it, and the state of earlier rounds. Returns
/// `None` if the token was encrypted with other keys, belongs to another call, or has expired. The client does not get the reason.
pub(super) fn open(cx: &Context, request: &Request<'_>, keys: &StateKeys, token: &str) -> Option<(Asked, Earlier)> {
    if token.len() > cx.rounds().state_limit() {
        return None;
    }
    // The decoder accepts only the canonical form of base64.
    let sealed = URL_SAFE.decode(token.strip_prefix(PREFIX)?)?;
    let opened = keys.decrypt(&sealed)?;
    let document = Document::parse(&opened, JsonLimits::MOST).ok()?;
    let state = document.root();
    let expires: u64 = state.get("expires")?.text().parse().ok()?;
    if now(cx) >= expires || state.string("belongs")? != request_digest(cx, request) {
        return None;
    }
    let mut asked = Asked::new();
    for (key, digest) in state.get("asked")?.members() {
        asked.insert(key.into_owned(), digest.as_str()?.into_owned());
    }
    let (mut answers, mut steps) = (Vec::new(), Vec::new());
    for answer in state.get("answers")?.items() {
        answers.push(Answered::read(answer)?);
    }
    for step in state.get("steps")?.items() {
        steps.push(StepResult::read(step)?);
    }
    Some((asked, Earlier { id: state.string("id")?, answers, steps }))
}

fn now(cx: &Context) -> u64 {
    cx.host().now_ms() / 1000
}

/// Returns a digest of the caller, the server, the method, the parameters, and the parts of the request that the program passes on to other
/// servers. The digest covers the name of the server and the configured URL of its endpoint. It does not cover parameters that differ between
/// rounds.
pub(super) fn request_digest(cx: &Context, request: &Request<'_>) -> String {
    let caller = cx.request().caller().map(Principal::identity);
    let server = (cx.tools().map(|tools| tools.name()), cx.resource());
    let mut text = format!("{caller:?}\0{server:?}\0{}\0{}\0", request.method, forwarded(cx));
    if let Some(params) = request.params {
        canonical::write_members(params, is_same_in_all_rounds, &mut text);
    }
    URL_SAFE.encode(Sha256::digest(text))
}

/// Returns whether all rounds of a call have the same value of this parameter.
fn is_same_in_all_rounds(name: &str, value: Value<'_>) -> bool {
    match name {
        "_meta" | "inputResponses" | "requestState" => false,
        // Empty arguments and missing arguments are equivalent.
        "arguments" => value.members().next().is_some(),
        _ => true,
    }
}
