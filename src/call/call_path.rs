//! Call paths: where a piece of work stands within a call.
//!
//! A handler that asks its client runs again from its beginning in the next round. A place is the same in each round, so that the
//! work at it finds the results and answers of earlier rounds. It names the nested tool calls and the steps that lead to the work,
//! outermost first, each by a digest of its name and its input. Equal ones under the same parent are counted. Different inputs
//! share no counter, so the order in which `join!` polls its futures does not matter.

use std::cell::RefCell;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::exchange::Exchange;
use crate::json::canonical;

/// Digits of a digest that a question's key shows.
const SHOWN: usize = 8;

/// The path of the innermost running step of a call, or of the call itself. All contexts of the call share it.
pub(crate) struct Place(RefCell<Rc<CallPath>>);

impl Place {
    pub(crate) fn new(call: CallPath) -> Self {
        Self(RefCell::new(Rc::new(call)))
    }

    pub(crate) fn path(&self) -> Rc<CallPath> {
        self.0.borrow().clone()
    }

    /// Enters a step, and returns the path around it.
    pub(crate) fn enter(&self, path: Rc<CallPath>) -> Rc<CallPath> {
        self.0.replace(path)
    }
}

/// Where a piece of work stands. The default is the outermost call.
#[derive(Default)]
pub(crate) struct CallPath {
    /// The place of the innermost nested call; empty in the outermost call.
    call: String,
    /// The place of the innermost nested call or step. Each segment ends with `/`, so a place begins with the places around it.
    place: String,
    /// The start of the keys of this call's questions, such as `delete-3f2a9c01/`; empty in the outermost call.
    prefix: String,
}

impl CallPath {
    /// The path of a nested call of `tool`.
    pub(crate) fn of_call(&self, tool: &str, arguments: &str, exchange: &Exchange) -> Self {
        let (digest, ordinal) = self.next("call", tool, arguments, exchange);
        let place = format!("{}{digest}{ordinal}/", self.place);
        let shown = digest.get(..SHOWN).unwrap_or_default();
        Self { call: place.clone(), place, prefix: format!("{}{tool}-{shown}{ordinal}/", self.prefix) }
    }

    /// The path of a step within the same call.
    pub(crate) fn of_step(&self, step: &str, input: &str, exchange: &Exchange) -> Self {
        let (digest, ordinal) = self.next("step", step, input, exchange);
        let place = format!("{}{digest}{ordinal}/", self.place);
        Self { call: self.call.clone(), place, prefix: self.prefix.clone() }
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// The key under which the client sees the question `key` of this call; `None` for one that could be taken for a nested call's.
    pub(crate) fn question_key(&self, key: &str) -> Option<String> {
        (!looks_nested(key)).then(|| format!("{}{key}", self.prefix))
    }

    /// The idempotency key of the work at this place, in the call with this id.
    pub(crate) fn idempotency_key(&self, call_id: &str) -> String {
        digest(&self.place, "idempotency", call_id, "null")
    }

    /// What an answer is bound to: the call that asks, and the question's method and parameters.
    pub(crate) fn question(&self, question: &serde_json::Value) -> String {
        digest(&self.call, "question", "", &question.to_string())
    }

    /// The digest of a call or step, and its ordinal where it is not the first of its kind.
    fn next(&self, kind: &str, name: &str, input: &str, exchange: &Exchange) -> (String, String) {
        let digest = digest(&self.place, kind, name, input);
        let nth = exchange.count(&digest);
        let ordinal = if nth > 1 { format!(".{nth}") } else { String::new() };
        (digest, ordinal)
    }
}

/// 128 bits of a SHA-256, in hexadecimal. `input` is JSON, of which only the canonical form counts.
fn digest(place: &str, kind: &str, name: &str, input: &str) -> String {
    // The name comes last, since it alone may contain a NUL.
    let text = format!("{place}\0{kind}\0{}\0{name}", canonical::of_text(input));
    let digest = Sha256::digest(text);
    let half = digest.first_chunk().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(half))
}

/// Whether `key` starts as the keys of nested calls do: with a name, a digest, perhaps an ordinal, and a slash.
fn looks_nested(key: &str) -> bool {
    let Some((call, _)) = key.split_once('/') else { return false };
    let is_ordinal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let call = call.rsplit_once('.').filter(|(_, ordinal)| is_ordinal(ordinal)).map_or(call, |(call, _)| call);
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    call.rsplit_once('-').is_some_and(|(_, digest)| digest.len() == SHOWN && digest.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::looks_nested;

    #[test]
    fn only_keys_of_the_nested_form_are_refused() {
        for key in ["delete-3f2a9c01/confirm", "delete-3f2a9c01.2/confirm", "a.b-00000000/x/y", "-3f2a9c01/"] {
            assert!(looks_nested(key), "{key}");
        }
        for key in
            ["confirm", "a/b", "delete-3f2a9c01", "delete-3f2a9c0/confirm", "delete-3F2A9C01/x", "x/a-3f2a9c01/y"]
        {
            assert!(!looks_nested(key), "{key}");
        }
    }
}
