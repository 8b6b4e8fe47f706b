//! Call paths: the position of a step or nested call within a call.
//!
//! A handler that asks its client runs again from its beginning in the next round. Its steps and calls must then find
//! the results and answers of earlier rounds, so a position must be the same in each round. A position lists the nested
//! tool calls and steps that contain the work, outermost first. Each entry is a digest of the name and the input of the
//! call or step. The name of a call at another server contains the server, so servers do not share a counter.
//!
//! Equal steps or calls with the same parent are counted. Steps with different inputs have separate counters, so the
//! order in which `join!` polls its futures does not matter.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use edge_json::{canonical, write};
use sha2::{Digest, Sha256};

use super::rounds::Rounds;

/// The number of digits of a digest in the key of a question.
const SHOWN: usize = 8;
/// The maximum number of characters of a tool's name in the key of a question.
const SHOWN_NAME: usize = 64;

/// The path of the innermost running step, or of the call if no step is running. All contexts of the call share it.
pub(crate) struct CurrentPath(RefCell<Rc<CallPath>>);

impl CurrentPath {
    pub(crate) fn new(call: CallPath) -> Self {
        Self(RefCell::new(Rc::new(call)))
    }

    pub(crate) fn path(&self) -> Rc<CallPath> {
        self.0.borrow().clone()
    }

    /// Enters a step, and returns the previous path.
    pub(crate) fn enter(&self, path: Rc<CallPath>) -> Rc<CallPath> {
        self.0.replace(path)
    }
}

/// The tool of a nested call.
#[derive(Clone, Copy)]
pub(crate) struct Callee<'a> {
    /// The other server that has the tool. `None` means this server.
    pub server: Option<&'a str>,
    pub tool: &'a str,
}

impl<'a> Callee<'a> {
    pub(crate) fn own(tool: &'a str) -> Self {
        Self { server: None, tool }
    }

    /// Returns the kind and the name for a digest. Different callees have different ones, whatever characters their names have.
    fn identity(self) -> (&'static str, Cow<'a, str>) {
        match self.server {
            None => ("call", self.tool.into()),
            Some(server) => ("remote call", format!("{} {server} {}", server.len(), self.tool).into()),
        }
    }

    /// Returns the name of the tool for the key of a question, without the characters that separate the parts of a key.
    fn shown(self) -> String {
        let is_usual = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        self.tool.chars().filter(is_usual).take(SHOWN_NAME).collect()
    }
}

/// The beginning of the segment of an attempt. The other segments begin with a hexadecimal digit.
const ATTEMPT: char = '~';

/// The position of a step or nested call within a call. The default is the outermost call.
#[derive(Default)]
pub(crate) struct CallPath {
    /// The position of the innermost nested call. It is empty in the outermost call.
    call: String,
    /// The position of the innermost nested call or step. Each segment ends with `/`, so the position of a parent is a
    /// prefix.
    place: String,
    /// The prefix of question keys in this call, such as `delete-3f2a9c01/`. It is empty in the outermost call.
    prefix: String,
}

impl CallPath {
    /// Returns the path of a nested call.
    pub(crate) fn of_call(&self, callee: Callee<'_>, arguments: &str, rounds: &Rounds) -> Self {
        let (kind, name) = callee.identity();
        let (digest, ordinal) = self.next(kind, &name, arguments, rounds);
        let place = format!("{}{digest}{ordinal}/", self.place);
        let shown = digest.get(..SHOWN).unwrap_or_default();
        Self { call: place.clone(), place, prefix: format!("{}{}-{shown}{ordinal}/", self.prefix, callee.shown()) }
    }

    /// Returns the path of a step within the same call.
    pub(crate) fn of_step(&self, step: &str, input: &str, rounds: &Rounds) -> Self {
        self.within(self.next("step", step, input, rounds))
    }

    /// Returns the path of an attempt of the current step.
    pub(crate) fn of_attempt(&self, name: &str, input: &str, rounds: &Rounds) -> Self {
        let (digest, ordinal) = self.next("attempt", name, input, rounds);
        self.within((format!("{ATTEMPT}{digest}"), ordinal))
    }

    /// Returns the path of a sleep of `time_ms` milliseconds.
    pub(crate) fn of_sleep(&self, time_ms: u64, rounds: &Rounds) -> Self {
        self.within(self.next("sleep", "", &time_ms.to_string(), rounds))
    }

    fn within(&self, (digest, ordinal): (String, String)) -> Self {
        let place = format!("{}{digest}{ordinal}/", self.place);
        Self { call: self.call.clone(), place, prefix: self.prefix.clone() }
    }

    /// Returns the position of the innermost nested call or step.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns the key that the client sees for the question `key` of this call. Returns `None` if `key` has the form
    /// of a nested call's key.
    pub(crate) fn question_key(&self, key: &str) -> Option<String> {
        (!looks_nested(key)).then(|| format!("{}{key}", self.prefix))
    }

    /// Returns the idempotency key of the work at this position, in the call with this id. It is the same in all attempts of a step.
    pub(crate) fn idempotency_key(&self, call_id: &str) -> String {
        let segments = self.place.split_inclusive('/').filter(|segment| !segment.starts_with(ATTEMPT));
        digest(&segments.collect::<String>(), "idempotency", call_id, "null")
    }

    /// Returns the digest that binds an answer to its question. It covers the call that asks, and the question's method and
    /// parameters.
    pub(crate) fn question(&self, question: &serde_json::Value) -> String {
        digest(&self.call, "question", "", &write::text(question))
    }

    /// Returns the digest of a nested call or step, and the suffix with its ordinal. The suffix of the first one is
    /// empty.
    fn next(&self, kind: &str, name: &str, input: &str, rounds: &Rounds) -> (String, String) {
        let digest = digest(&self.place, kind, name, input);
        let nth = rounds.count(&digest);
        let ordinal = if nth > 1 { format!(".{nth}") } else { String::new() };
        (digest, ordinal)
    }
}

/// Returns the first 128 bits of a SHA-256 digest, in hexadecimal. `input` is JSON. Equal JSON values have equal digests.
fn digest(place: &str, kind: &str, name: &str, input: &str) -> String {
    // The name comes last because only the name may contain a NUL.
    let text = format!("{place}\0{kind}\0{}\0{name}", canonical::of_text(input));
    let digest = Sha256::digest(text);
    let half = digest.first_chunk().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(half))
}

/// Returns whether `key` starts like the key of a nested call: a name, a digest, an optional ordinal, and a slash.
fn looks_nested(key: &str) -> bool {
    let Some((call, _)) = key.split_once('/') else { return false };
    let is_ordinal = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let call = call.rsplit_once('.').filter(|(_, ordinal)| is_ordinal(ordinal)).map_or(call, |(call, _)| call);
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    call.rsplit_once('-').is_some_and(|(_, digest)| digest.len() == SHOWN && digest.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::{CallPath, Callee, looks_nested};
    use crate::call::rounds::Rounds;
    use crate::protocol::capabilities::ClientCapabilities;

    #[test]
    fn different_callees_have_different_places() {
        let remote = |server, tool| Callee { server: Some(server), tool };
        let callees = [
            Callee::own("book"),
            Callee::own("alpha_book"),
            Callee::own("alpha book"),
            Callee::own("5 alpha book"),
            remote("alpha", "book"),
            remote("beta", "book"),
            remote("alpha", "5 alpha book"),
            remote("a", "lpha book"),
            remote("alpha book", ""),
            remote("", "alpha book"),
            remote("alpha", "book\0"),
        ];
        let rounds = Rounds::new(ClientCapabilities::default(), 0);
        let places: Vec<_> =
            callees.map(|callee| CallPath::default().of_call(callee, "{}", &rounds).place().to_owned()).to_vec();
        for (nth, place) in places.iter().enumerate() {
            // A place that is used twice has an ordinal.
            assert!(!places[..nth].contains(place) && !place.contains('.'), "{nth}: {place}");
        }
        let nested = CallPath::default().of_call(remote("alpha", "a-3f2a9c01/b"), "{}", &rounds);
        let key = nested.question_key("sure").expect("a key");
        assert!(key.starts_with("a-3f2a9c01b-") && key.matches('/').count() == 1, "{key}");
    }

    #[test]
    fn keys_in_the_form_of_nested_calls_are_detected() {
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
