//! The negotiation of the revision: from the answer of a server to the next request of the client.
//!
//! A server belongs to one era. A legacy server rejects a modern request, or answers it in the legacy form.

use http::HeaderValue;

use super::reactions::{Action, AnswerForm, Lesson, Reaction, RequestKind, ServerStage, reaction};
use crate::client::error::Delivery;
use crate::protocol::log_level::LogLevel;
use crate::protocol::revision::{Era, Revision};

const MODERN: Knowledge = Knowledge::Modern(Revision::V2026_07_28);
const LEGACY: Knowledge = Knowledge::WithSession(Revision::NEWEST_LEGACY);

/// The knowledge about a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Knowledge {
    /// Nothing is known. A modern request is the first probe.
    Nothing,
    /// The server answered a modern request in the legacy form, or rejected it. `server/discover` is the next probe.
    Unsettled,
    /// The server is modern.
    Modern(Revision),
    /// The server is legacy, and `initialize` starts a session. The revision is the one to request.
    WithSession(Revision),
    /// The server is legacy, and `initialize` starts no session.
    WithoutSession(Revision),
}

impl Knowledge {
    /// Returns the knowledge about a server whose revision the program sets.
    pub(in crate::client) fn of(revision: Revision) -> Self {
        match revision.era() {
            Era::Modern => Self::Modern(revision),
            // Whether the server has sessions is only known after `initialize`.
            Era::Legacy => Self::WithSession(revision),
        }
    }

    pub(in crate::client) fn era(self) -> Era {
        match self {
            Self::Nothing | Self::Unsettled | Self::Modern(_) => Era::Modern,
            Self::WithSession(_) | Self::WithoutSession(_) => Era::Legacy,
        }
    }

    pub(super) fn revision(self) -> Revision {
        match self {
            Self::Nothing | Self::Unsettled => Revision::V2026_07_28,
            Self::Modern(revision) | Self::WithSession(revision) | Self::WithoutSession(revision) => revision,
        }
    }

    /// Returns the revision that `initialize` requests.
    pub(super) fn legacy(self) -> Revision {
        match self {
            Self::WithSession(revision) | Self::WithoutSession(revision) => revision,
            _ => Revision::NEWEST_LEGACY,
        }
    }

    /// Returns the knowledge after a lesson, or `None` if it does not change.
    pub(super) fn after(self, lesson: Lesson) -> Option<Self> {
        match (lesson, self) {
            (Lesson::Nothing, _) => None,
            (Lesson::Modern, _) => Some(MODERN),
            (Lesson::Unsettled | Lesson::Doubt, _) => Some(Self::Unsettled),
            (Lesson::Session, Self::WithSession(revision) | Self::WithoutSession(revision)) => {
                Some(Self::WithSession(revision))
            }
            (Lesson::Legacy | Lesson::Session, _) => Some(LEGACY),
        }
    }

    fn stage(self, is_pinned: bool, has_session: bool) -> ServerStage {
        match self {
            Self::Nothing | Self::Unsettled => ServerStage::Unknown,
            Self::Modern(_) if is_pinned => ServerStage::Pinned,
            Self::Modern(_) => ServerStage::Modern,
            // Only the answer to a request with a session id can say that the session has ended.
            Self::WithSession(_) | Self::WithoutSession(_) if has_session => ServerStage::Session,
            Self::WithSession(_) | Self::WithoutSession(_) => ServerStage::Sessionless,
        }
    }
}

/// The result of `initialize`: the session of a legacy server, or its absence.
pub(in crate::client) struct Initialized {
    pub revision: Revision,
    /// The id of the session. `None` if the server has no sessions.
    pub id: Option<HeaderValue>,
    /// Whether the server sends log messages.
    pub logs: bool,
    /// The lowest level of log messages that the client has requested.
    pub log_level: Option<LogLevel>,
}

impl Initialized {
    /// Returns whether a request must lower the level of the log messages of the session, and records the level.
    pub(super) fn lowers_log_level(&mut self, level: LogLevel) -> bool {
        let is_lower = self.id.is_some() && self.logs && self.log_level.is_none_or(|known| level < known);
        if is_lower {
            self.log_level = Some(level);
        }
        is_lower
    }
}

/// A request, with the actions that its earlier answers have caused.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub known: Knowledge,
    /// Whether the request was posted with the id of a session.
    pub has_session: bool,
    pub kind: RequestKind,
    /// Whether the program sets the revision. If it does, no answer changes the era.
    is_pinned: bool,
    taken: Vec<Action>,
    /// Whether the server executed the request in an earlier attempt.
    pub delivery: Delivery,
}

impl History {
    pub(super) fn new(known: Knowledge, kind: RequestKind, is_pinned: bool) -> Self {
        Self { known, has_session: false, kind, is_pinned, taken: Vec::new(), delivery: Delivery::NotExecuted }
    }

    pub(super) fn react(&mut self, form: AnswerForm) -> Reaction {
        let reaction = reaction(self.known.stage(self.is_pinned, self.has_session), self.kind, form, &self.taken);
        if reaction.action.repeats() {
            self.taken.push(reaction.action);
        }
        // The rest of an answer belongs to the same attempt. The next attempt has its own answer.
        if reaction.action.repeats() && reaction.action != Action::Resume {
            self.taken.retain(|taken| *taken != Action::Resume);
            self.delivery = reaction.delivery.or(self.delivery);
        }
        reaction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::session::reactions::OfferedEras;

    const CONTRADICTION: Action = Action::Contradiction;
    const SESSIONLESS: Knowledge = Knowledge::WithoutSession(Revision::V2025_06_18);

    fn error(status: u16, code: i64) -> AnswerForm {
        AnswerForm::Error { status, code, offered: OfferedEras::default() }
    }

    fn http(status: u16) -> AnswerForm {
        AnswerForm::Http { status }
    }

    fn result(is_modern: bool) -> AnswerForm {
        AnswerForm::Result { is_modern }
    }

    fn offer(status: u16, names: &[&str]) -> AnswerForm {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        AnswerForm::Error { status, code: -32_022, offered: OfferedEras::of(&names) }
    }

    fn accept(lesson: Lesson) -> Action {
        Action::Accept(lesson)
    }

    fn again(lesson: Lesson) -> Action {
        Action::Again(lesson)
    }

    /// C36: the reactions to the first and the second answer of each form, and whether the server executed the request.
    #[test]
    fn each_answer_has_its_reaction() {
        use Delivery::{NotExecuted as No, Unknown};
        use Knowledge::Nothing;
        use RequestKind::{Discover, Effectful, Handshake, Repeatable};
        const SAME: Action = Action::Accept(Lesson::Nothing);
        for (known, kind, form, first, second, executed) in [
            (Nothing, Repeatable, result(true), accept(Lesson::Modern), accept(Lesson::Modern), Unknown),
            (Nothing, Repeatable, result(false), accept(Lesson::Unsettled), accept(Lesson::Unsettled), Unknown),
            (Knowledge::Unsettled, Discover, result(true), accept(Lesson::Modern), accept(Lesson::Modern), Unknown),
            (Nothing, Discover, result(false), accept(Lesson::Modern), accept(Lesson::Modern), Unknown),
            (Nothing, Repeatable, error(400, -32_020), Action::NewHeaders, accept(Lesson::Modern), No),
            (Nothing, Repeatable, error(400, -32_021), accept(Lesson::Modern), accept(Lesson::Modern), Unknown),
            (Nothing, Repeatable, error(404, -32_601), accept(Lesson::Modern), accept(Lesson::Modern), No),
            (Nothing, Discover, error(404, -32_601), again(Lesson::Legacy), SAME, Unknown),
            (Nothing, Discover, error(200, -32_601), again(Lesson::Legacy), SAME, Unknown),
            (Nothing, Discover, error(400, -32_000), again(Lesson::Legacy), SAME, Unknown),
            (Nothing, Repeatable, error(400, -32_000), again(Lesson::Doubt), SAME, Unknown),
            (Nothing, Repeatable, error(200, -32_602), again(Lesson::Doubt), SAME, Unknown),
            (Nothing, Repeatable, error(200, -32_603), SAME, SAME, Unknown),
            (Nothing, Repeatable, http(400), again(Lesson::Doubt), SAME, Unknown),
            (Nothing, Repeatable, http(405), again(Lesson::Doubt), SAME, Unknown),
            (Nothing, Repeatable, http(422), again(Lesson::Doubt), SAME, Unknown),
            (Nothing, Repeatable, http(418), SAME, SAME, Unknown),
            (Nothing, Discover, error(200, -32_603), again(Lesson::Legacy), SAME, Unknown),
            (Nothing, Discover, http(418), again(Lesson::Legacy), SAME, Unknown),
            (Nothing, Discover, http(403), SAME, SAME, No),
            (Nothing, Discover, http(503), SAME, SAME, Unknown),
            (Nothing, Discover, AnswerForm::Closed, Action::Pause, SAME, Unknown),
            (Nothing, Repeatable, http(503), SAME, SAME, Unknown),
            (MODERN, Repeatable, result(false), SAME, SAME, Unknown),
            (MODERN, Repeatable, error(200, -32_602), SAME, SAME, Unknown),
            (MODERN, Repeatable, error(404, -32_601), SAME, SAME, No),
            (MODERN, Repeatable, http(404), again(Lesson::Doubt), accept(Lesson::Doubt), Unknown),
            (MODERN, Repeatable, error(400, -32_603), SAME, SAME, Unknown),
            (MODERN, Effectful, http(404), accept(Lesson::Doubt), accept(Lesson::Doubt), Unknown),
            (MODERN, Effectful, error(400, -32_000), accept(Lesson::Doubt), accept(Lesson::Doubt), Unknown),
            (MODERN, Effectful, error(400, -32_602), accept(Lesson::Doubt), accept(Lesson::Doubt), Unknown),
            (MODERN, Effectful, error(400, -32_020), Action::NewHeaders, accept(Lesson::Modern), No),
            (MODERN, Effectful, error(200, -32_020), accept(Lesson::Modern), accept(Lesson::Modern), Unknown),
            (MODERN, Effectful, http(401), Action::NewToken, SAME, No),
            (MODERN, Discover, error(400, -32_020), accept(Lesson::Modern), accept(Lesson::Modern), No),
            (LEGACY, Handshake, http(401), Action::NewToken, SAME, No),
            (LEGACY, Handshake, http(404), SAME, SAME, Unknown),
            (LEGACY, Handshake, AnswerForm::Outage, SAME, SAME, Unknown),
            (LEGACY, Handshake, AnswerForm::Closed, Action::Pause, SAME, Unknown),
            (MODERN, Repeatable, AnswerForm::Closed, Action::Pause, SAME, Unknown),
            (MODERN, Effectful, AnswerForm::Closed, SAME, SAME, Unknown),
            (MODERN, Repeatable, http(429), Action::Pause, SAME, No),
            (LEGACY, Effectful, http(429), SAME, SAME, No),
            (MODERN, Repeatable, AnswerForm::Outage, Action::Pause, SAME, Unknown),
            (MODERN, Discover, AnswerForm::Outage, SAME, SAME, Unknown),
            (MODERN, Effectful, AnswerForm::Outage, SAME, SAME, Unknown),
            (LEGACY, Effectful, AnswerForm::Interrupted, Action::Resume, Action::Resume, Unknown),
            (LEGACY, Effectful, AnswerForm::Failure, SAME, SAME, Unknown),
            (MODERN, Effectful, http(307), SAME, SAME, No),
            (MODERN, Effectful, http(303), SAME, SAME, Unknown),
            (LEGACY, Effectful, http(404), again(Lesson::Session), CONTRADICTION, No),
            (LEGACY, Effectful, error(404, -32_001), again(Lesson::Session), CONTRADICTION, No),
            (LEGACY, Repeatable, http(400), again(Lesson::Session), SAME, Unknown),
            (LEGACY, Repeatable, error(400, -32_000), again(Lesson::Session), SAME, Unknown),
            (LEGACY, Effectful, http(400), SAME, SAME, Unknown),
            (LEGACY, Effectful, error(400, -32_000), SAME, SAME, Unknown),
            (LEGACY, Effectful, error(404, -32_002), SAME, SAME, Unknown),
            (LEGACY, Effectful, error(400, -32_602), SAME, SAME, Unknown),
            (LEGACY, Effectful, error(200, -32_601), SAME, SAME, Unknown),
            (SESSIONLESS, Repeatable, error(400, -32_000), again(Lesson::Session), accept(Lesson::Session), Unknown),
            (SESSIONLESS, Effectful, error(400, -32_000), accept(Lesson::Session), accept(Lesson::Session), Unknown),
            (SESSIONLESS, Effectful, http(404), accept(Lesson::Session), accept(Lesson::Session), Unknown),
            (SESSIONLESS, Effectful, error(200, -32_602), SAME, SAME, Unknown),
            (SESSIONLESS, Repeatable, error(400, -32_020), again(Lesson::Session), accept(Lesson::Session), Unknown),
            (SESSIONLESS, Effectful, error(400, -32_022), accept(Lesson::Session), accept(Lesson::Session), Unknown),
        ] {
            let mut sent = History::new(known, kind, false);
            sent.has_session = known == LEGACY;
            assert_eq!(sent.react(form), Reaction { action: first, delivery: executed }, "{known:?} {kind:?} {form:?}");
            assert_eq!(sent.react(form).action, second, "{known:?} {kind:?} {form:?}");
        }
    }

    /// C27, C52: an answer is resumed twice. After that, only a request that may be repeated is sent again, once.
    #[test]
    fn an_interrupted_answer_is_resumed_twice() {
        use Action::{Pause, Resume};
        let same = accept(Lesson::Nothing);
        for (kind, expected, executed) in [
            (RequestKind::Effectful, vec![Resume, Resume, same, same], Delivery::NotExecuted),
            (RequestKind::Handshake, vec![Resume, Resume, same, same], Delivery::NotExecuted),
            (RequestKind::Repeatable, vec![Resume, Resume, Pause, Resume, Resume, same], Delivery::Unknown),
        ] {
            let mut sent = History::new(LEGACY, kind, false);
            let taken: Vec<_> = expected.iter().map(|_| sent.react(AnswerForm::Interrupted).action).collect();
            // A resumption says nothing about earlier attempts.
            assert_eq!((taken, sent.delivery), (expected, executed), "{kind:?}");
        }
    }

    /// C40: a status says that a session has ended only if the request had a session id.
    #[test]
    fn a_request_without_a_session_id_is_of_no_session() {
        for known in [LEGACY, SESSIONLESS] {
            let mut sent = History::new(known, RequestKind::Effectful, false);
            let failed = Reaction { action: accept(Lesson::Session), delivery: Delivery::Unknown };
            assert_eq!(sent.react(http(404)), failed, "{known:?}");
            sent.has_session = true;
            let ended = Reaction { action: again(Lesson::Session), delivery: Delivery::NotExecuted };
            assert_eq!(sent.react(http(404)), ended, "{known:?}");
        }
    }

    /// C43: no answer changes the era of a server whose revision the program sets.
    #[test]
    fn a_set_revision_has_no_other_era() {
        for form in [http(400), http(404), error(400, -32_000), error(404, -32_601), result(false)] {
            let reaction = History::new(MODERN, RequestKind::Repeatable, true).react(form);
            assert_eq!(reaction.action, accept(Lesson::Nothing), "{form:?}");
        }
        let reaction = History::new(MODERN, RequestKind::Repeatable, true).react(offer(400, &["2025-11-25"]));
        assert_eq!(reaction.action, Action::Unsupported);
    }

    /// C38: a server may reject the very revision that it supports, once. With status 200, the error may come from the tool.
    #[test]
    fn a_rejected_revision_is_sent_once_more() {
        let (repeat, initialize) = (again(Lesson::Nothing), again(Lesson::Legacy));
        for (supported, first, second) in [
            (vec!["2026-07-28"], repeat, Action::Unsupported),
            (vec!["2099-01-01", "2026-07-28", "2025-11-25"], repeat, initialize),
            (vec!["2025-06-18"], initialize, Action::Unsupported),
            (vec!["2099-01-01"], Action::Unsupported, Action::Unsupported),
            (vec![], Action::Unsupported, Action::Unsupported),
        ] {
            for (status, kind, is_sent) in [
                (400, RequestKind::Discover, true),
                (200, RequestKind::Repeatable, true),
                (400, RequestKind::Effectful, true),
                (200, RequestKind::Effectful, false),
            ] {
                let mut sent = History::new(MODERN, kind, false);
                let form = offer(status, &supported);
                let found = [sent.react(form).action, sent.react(form).action];
                let expected = if is_sent { [first, second] } else { [accept(Lesson::Nothing); 2] };
                assert_eq!(found, expected, "{supported:?} {status} {kind:?}");
            }
        }
    }

    #[test]
    fn a_lesson_changes_the_knowledge() {
        let session = |known: Knowledge| known.after(Lesson::Session);
        assert_eq!(session(SESSIONLESS), Some(Knowledge::WithSession(Revision::V2025_06_18)));
        assert_eq!((session(LEGACY), LEGACY.after(Lesson::Nothing)), (Some(LEGACY), None));
        assert_eq!(
            (MODERN.after(Lesson::Doubt), MODERN.after(Lesson::Legacy)),
            (Some(Knowledge::Unsettled), Some(LEGACY))
        );
    }
}
