//! The negotiation of the revision: from the answer of a server to the next request of the client.
//!
//! Source: 2026-07-28, basic/versioning, "Backward Compatibility". A server belongs to one era. A legacy server rejects a modern request,
//! or answers it in the legacy form. Timeouts, network failures and statuses of 500 and above say nothing about the era, so they do not
//! reach this table.

use crate::protocol::error::ErrorCode;
use crate::protocol::revision::{Era, Revision};

/// The knowledge about a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing is known. A modern request is the first probe.
    Nothing,
    /// The server answered a modern request in the legacy form. `server/discover` is the next probe.
    Unsettled,
    /// The server is modern.
    Modern(Revision),
    /// The server is legacy, and `initialize` starts a session. The revision is the one to request.
    WithSession(Revision),
    /// The server is legacy, and `initialize` starts no session.
    WithoutSession(Revision),
}

impl Known {
    /// Returns the knowledge about a server whose revision the program sets.
    pub(super) fn of(revision: Revision) -> Self {
        match revision.era() {
            Era::Modern => Self::Modern(revision),
            // Whether the server has sessions is only known after `initialize`.
            Era::Legacy => Self::WithSession(revision),
        }
    }

    /// Returns the era of the next request.
    pub(super) fn era(self) -> Era {
        match self {
            Self::Nothing | Self::Unsettled | Self::Modern(_) => Era::Modern,
            Self::WithSession(_) | Self::WithoutSession(_) => Era::Legacy,
        }
    }
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form<'a> {
    /// A result. `is_modern` says whether it has a `resultType`.
    Result { is_modern: bool },
    /// A JSON-RPC error, with the revisions in its data.
    Error { status: u16, code: i64, supported: &'a [String] },
    /// A response that is not JSON-RPC.
    Http { status: u16 },
}

/// A request that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// The knowledge with which it was sent.
    pub known: Known,
    /// Whether the program sets the revision. If it does, no answer changes the era.
    pub is_pinned: bool,
    /// Whether it was `server/discover`.
    pub is_discover: bool,
    /// Whether the server rejected the revision of the same request before.
    pub is_second: bool,
}

/// The reaction to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// The answer is the answer of the request. It leads to this knowledge.
    Accept(Known),
    /// Send the same request once more.
    Repeat,
    /// The answer contradicts the knowledge, and proves that the server did not execute the request. Send the request again with this
    /// knowledge.
    Again(Known),
    /// Both sides have no common revision.
    Unsupported,
}

const UNSUPPORTED: i64 = ErrorCode::UnsupportedVersion.number() as i64;
const MISMATCH: i64 = ErrorCode::HeaderMismatch.number() as i64;
const CAPABILITY: i64 = ErrorCode::MissingCapability.number() as i64;
const NO_METHOD: i64 = ErrorCode::MethodNotFound.number() as i64;
/// The codes with which legacy servers reject a request without a session, or of an unknown revision, with status 200.
const LEGACY_CODES: [i64; 5] = [NO_METHOD, -32_600, -32_602, -32_000, -32_001];
const MODERN: Known = Known::Modern(Revision::V2026_07_28);
const LEGACY: Known = Known::WithSession(Revision::NEWEST_LEGACY);

/// Returns the reaction to an answer.
#[expect(clippy::match_same_arms, reason = "each arm is a row of the table")]
pub(super) fn react(Sent { known, is_pinned, is_discover, is_second }: Sent, form: Form<'_>) -> Reaction {
    use Form::{Error, Http, Result};
    use Known::{Modern, Nothing, Unsettled, WithSession, WithoutSession};
    use Reaction::{Accept, Again};
    match (known, form) {
        // Errors that only modern servers send.
        (Nothing | Unsettled | Modern(_), Error { code: MISMATCH | CAPABILITY, .. }) => Accept(MODERN),
        (Nothing | Unsettled | Modern(_), Error { code: UNSUPPORTED, supported, .. }) => {
            unsupported(supported, is_pinned, is_second)
        }

        (Nothing | Unsettled, Result { is_modern: true }) => Accept(MODERN),
        (Nothing | Unsettled, Result { is_modern: false }) if is_discover => Accept(MODERN),
        (Nothing | Unsettled, Result { is_modern: false }) => Accept(Unsettled),
        // Legacy servers answer an unknown method with status 200.
        (Nothing | Unsettled, Error { status: 404, code: NO_METHOD, .. }) if !is_discover => Accept(MODERN),
        (Nothing | Unsettled, Error { status: 400..=499, .. }) => Again(LEGACY),
        (Nothing | Unsettled, Http { status: 400 | 404 | 405 | 406 | 415 }) => Again(LEGACY),
        (Nothing | Unsettled, Error { code, .. }) if LEGACY_CODES.contains(&code) => Again(LEGACY),

        (Modern(_), _) if is_pinned => Accept(known),
        (Modern(_), Error { status: 404, code: NO_METHOD, .. }) => Accept(known),
        (Modern(_), Error { status: 400 | 404 | 405, .. } | Http { status: 400 | 404 | 405 }) => Again(Nothing),

        // The session has ended.
        (WithSession(_), Error { status: 404, .. } | Http { status: 404 }) => Again(known),
        // The server has sessions now.
        (WithoutSession(revision), Error { status: 400 | 404, .. } | Http { status: 400 | 404 }) => {
            Again(WithSession(revision))
        }
        _ => Accept(known),
    }
}

/// Returns the reaction to the error for an unsupported revision.
///
/// A server may name the very revision that was sent. Then the same request is sent once more.
fn unsupported(supported: &[String], is_pinned: bool, is_second: bool) -> Reaction {
    let has = |era| supported.iter().filter_map(|name| Revision::named(name)).any(|revision| revision.era() == era);
    if has(Era::Modern) && !is_second {
        Reaction::Repeat
    } else if has(Era::Legacy) && !is_pinned {
        Reaction::Again(LEGACY)
    } else {
        Reaction::Unsupported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaction(known: Known, is_discover: bool, form: Form<'_>) -> Reaction {
        react(Sent { known, is_pinned: false, is_discover, is_second: false }, form)
    }

    fn error(status: u16, code: i64) -> Form<'static> {
        Form::Error { status, code, supported: &[] }
    }

    /// C36: each row of the negotiation.
    #[test]
    fn each_answer_has_its_reaction() {
        use Known::{Nothing, Unsettled, WithoutSession};
        use Reaction::{Accept, Again};
        let sessionless = WithoutSession(Revision::V2025_06_18);
        for (known, is_discover, form, expected) in [
            (Nothing, false, Form::Result { is_modern: true }, Accept(MODERN)),
            (Nothing, false, Form::Result { is_modern: false }, Accept(Unsettled)),
            (Unsettled, true, Form::Result { is_modern: true }, Accept(MODERN)),
            (Nothing, false, error(400, MISMATCH), Accept(MODERN)),
            (Nothing, false, error(400, CAPABILITY), Accept(MODERN)),
            (Nothing, false, error(404, NO_METHOD), Accept(MODERN)),
            (Nothing, true, error(404, NO_METHOD), Again(LEGACY)),
            (Nothing, true, error(200, NO_METHOD), Again(LEGACY)),
            (Nothing, false, error(400, -32_000), Again(LEGACY)),
            (Nothing, false, error(200, -32_602), Again(LEGACY)),
            (Nothing, false, error(200, -32_603), Accept(Nothing)),
            (Nothing, false, Form::Http { status: 400 }, Again(LEGACY)),
            (Nothing, false, Form::Http { status: 405 }, Again(LEGACY)),
            (Nothing, false, Form::Http { status: 418 }, Accept(Nothing)),
            (MODERN, false, Form::Result { is_modern: false }, Accept(MODERN)),
            (MODERN, false, error(200, -32_602), Accept(MODERN)),
            (MODERN, false, error(404, NO_METHOD), Accept(MODERN)),
            (MODERN, false, Form::Http { status: 404 }, Again(Nothing)),
            (LEGACY, false, Form::Http { status: 404 }, Again(LEGACY)),
            (LEGACY, false, error(400, -32_602), Accept(LEGACY)),
            (sessionless, false, error(400, -32_000), Again(Known::WithSession(Revision::V2025_06_18))),
            (sessionless, false, error(200, -32_602), Accept(sessionless)),
        ] {
            assert_eq!(reaction(known, is_discover, form), expected, "{known:?} {form:?}");
        }
    }

    /// C38: a server may reject the very revision that it supports, once.
    #[test]
    fn a_rejected_revision_is_sent_once_more() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        for (supported, first, second) in [
            (names(&["2026-07-28"]), Reaction::Repeat, Reaction::Unsupported),
            (names(&["2099-01-01", "2026-07-28", "2025-11-25"]), Reaction::Repeat, Reaction::Again(LEGACY)),
            (names(&["2025-06-18"]), Reaction::Again(LEGACY), Reaction::Again(LEGACY)),
            (names(&["2099-01-01"]), Reaction::Unsupported, Reaction::Unsupported),
            (names(&[]), Reaction::Unsupported, Reaction::Unsupported),
        ] {
            let form = Form::Error { status: 400, code: UNSUPPORTED, supported: &supported };
            for (is_second, expected) in [(false, first), (true, second)] {
                let sent = Sent { known: Known::Nothing, is_pinned: false, is_discover: false, is_second };
                assert_eq!(react(sent, form), expected, "{supported:?} {is_second}");
            }
        }
    }
}
