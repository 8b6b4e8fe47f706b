//! The reactions to the answers of a server, as a table: which answers are accepted, which requests are sent again, and whether the server
//! executed a request.
//!
//! Sources: 2026-07-28, basic/versioning, "Backward Compatibility", and basic, "Error Codes"; 2025-11-25, basic/transports, "Session
//! Management"; RFC 9110, 15.4 and 15.5.

use std::ops::RangeInclusive;

use crate::client::error::{ClientError, Delivery};
use crate::client::wire::response::ServerResponse;
use crate::limits::UPSTREAM_RESUMPTIONS;
use crate::protocol::error::ErrorCode;
use crate::protocol::revision::{Era, Revision};

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// `server/discover`.
    Discover,
    /// `initialize` or `logging/setLevel`, which prepare another request.
    Handshake,
    /// A request whose repetition has no further effect.
    Repeatable,
    /// A call whose repetition may have effects. It is never the first request to a server.
    Effectful,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// A result. `is_modern` says whether it has a `resultType`.
    Result { is_modern: bool },
    /// A JSON-RPC error.
    Error { status: u16, code: i64, offered: OfferedEras },
    /// A response whose status alone counts, or that is not JSON-RPC.
    Http { status: u16 },
    /// An answer whose stream was interrupted at a known position.
    Interrupted,
    /// The connection was closed before the answer was complete.
    Closed,
    /// No answer in time, or an answer that the server is not available. A second attempt may succeed.
    Outage,
    /// Another failure.
    Failure,
}

impl AnswerForm {
    /// Returns the form of an answer, whose stream may have been interrupted at a known position.
    pub(super) fn of(answer: &Result<ServerResponse, ClientError>, is_resumable: bool) -> Self {
        match answer {
            Ok(ServerResponse::Rpc { outcome: Ok(result), .. }) => Self::Result { is_modern: result.kind.is_some() },
            Ok(answer @ ServerResponse::Rpc { status, outcome: Err(error), .. }) => {
                Self::Error { status: *status, code: error.code, offered: OfferedEras::of(&answer.supported()) }
            }
            Ok(ServerResponse::Http { status, error, .. })
                if *status != RATE_LIMIT && error.failure().is_transient() =>
            {
                Self::Outage
            }
            Ok(ServerResponse::Http { status, .. }) => Self::Http { status: *status },
            Err(error) if error.is_interruption() && is_resumable => Self::Interrupted,
            Err(error) if error.failure().is_closed_connection() => Self::Closed,
            Err(error) if error.failure().is_transient() => Self::Outage,
            Err(_) => Self::Failure,
        }
    }
}

/// The eras of the known revisions that an error names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OfferedEras {
    pub modern: bool,
    pub legacy: bool,
}

impl OfferedEras {
    pub(super) fn of(names: &[String]) -> Self {
        let has = |era| names.iter().filter_map(|name| Revision::named(name)).any(|revision| revision.era() == era);
        Self { modern: has(Era::Modern), legacy: has(Era::Legacy) }
    }
}

/// The reaction to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reaction {
    pub action: Action,
    /// Whether the server executed the request.
    pub delivery: Delivery,
}

/// The action that an answer causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The answer is the answer of the request.
    Accept(Lesson),
    /// Send the request again.
    Again(Lesson),
    /// Send the request again with another token.
    NewToken,
    /// Send the request again with the headers that a new list of the tools requires.
    NewHeaders,
    /// Send the request again after a pause.
    Pause,
    /// Request the rest of the answer.
    Resume,
    /// The call fails, because both sides have no common revision.
    Unsupported,
    /// The call fails, because the answer contradicts the one before.
    Contradiction,
}

impl Action {
    /// Returns how often a request can cause this action.
    fn most(self) -> usize {
        match self {
            Self::Accept(_) | Self::Unsupported | Self::Contradiction => usize::MAX,
            Self::Again(_) | Self::NewToken | Self::NewHeaders | Self::Pause => 1,
            Self::Resume => UPSTREAM_RESUMPTIONS,
        }
    }

    /// Returns whether the request or its rest is sent again.
    pub(super) fn repeats(self) -> bool {
        self.most() < usize::MAX
    }
}

/// The knowledge that an answer leads to. A result proves it. An error does not, so only this connection then assumes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lesson {
    /// The knowledge does not change.
    Nothing,
    /// The server is modern.
    Modern,
    /// The server may be modern or legacy.
    Unsettled,
    /// The server is legacy.
    Legacy,
    /// The next request begins a session.
    Session,
    /// The server may not be modern any more. `server/discover` shows it.
    Doubt,
}

/// The knowledge about a server that a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerStage {
    Unknown,
    Modern,
    /// Modern, because the program sets the revision.
    Pinned,
    Session,
    Sessionless,
}

/// A set of forms.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Result {
        is_modern: bool,
    },
    /// A JSON-RPC error with one of these statuses and codes.
    Error(Statuses, &'static [i64]),
    /// A JSON-RPC error with one of these statuses, and any code.
    AnyError(Statuses),
    /// The error for an unsupported revision, which names a revision of the era.
    Offer(Statuses, Era),
    Http(Statuses),
    Interrupted,
    Closed,
    Outage,
}

type Statuses = &'static [RangeInclusive<u16>];

impl Pattern {
    fn has(self, form: AnswerForm) -> bool {
        let is_in = |statuses: Statuses, status: u16| statuses.iter().any(|range| range.contains(&status));
        match (self, form) {
            (Self::Result { is_modern }, AnswerForm::Result { is_modern: found }) => is_modern == found,
            (Self::Error(statuses, codes), AnswerForm::Error { status, code, .. }) => {
                is_in(statuses, status) && codes.contains(&code)
            }
            (Self::AnyError(statuses), AnswerForm::Error { status, .. })
            | (Self::Http(statuses), AnswerForm::Http { status }) => is_in(statuses, status),
            (Self::Offer(statuses, era), AnswerForm::Error { status, code, offered }) => {
                let is_offered = if era == Era::Modern { offered.modern } else { offered.legacy };
                is_in(statuses, status) && code == UNSUPPORTED && is_offered
            }
            // An answer that was interrupted again and again is an outage.
            (Self::Interrupted, AnswerForm::Interrupted)
            | (Self::Closed, AnswerForm::Closed)
            | (Self::Outage, AnswerForm::Outage | AnswerForm::Closed | AnswerForm::Interrupted) => true,
            _ => false,
        }
    }
}

struct ReactionRow {
    stages: &'static [ServerStage],
    kinds: &'static [RequestKind],
    form: Pattern,
    action: Action,
    delivery: Delivery,
}

const fn row(
    stages: &'static [ServerStage],
    kinds: &'static [RequestKind],
    form: Pattern,
    action: Action,
    delivery: Delivery,
) -> ReactionRow {
    ReactionRow { stages, kinds, form, action, delivery }
}

const UNSUPPORTED: i64 = ErrorCode::UnsupportedVersion.number() as i64;
const MISMATCH: i64 = ErrorCode::HeaderMismatch.number() as i64;
const CAPABILITY: i64 = ErrorCode::MissingCapability.number() as i64;
const NO_METHOD: i64 = ErrorCode::MethodNotFound.number() as i64;
const PARAMS: i64 = ErrorCode::InvalidParams.number() as i64;
const REQUEST: i64 = ErrorCode::InvalidRequest.number() as i64;
/// The codes with which legacy servers reject a request without a session, of an ended session, or of an unknown revision.
const OF_SESSION: &[i64] = &[REQUEST, -32_000, -32_001];
/// The codes with which modern servers reject a legacy request.
const OF_MODERN: &[i64] = &[MISMATCH, UNSUPPORTED];
/// Legacy servers also use these codes to reject a modern request.
const OF_LEGACY: &[i64] = &[NO_METHOD, PARAMS, REQUEST, -32_000, -32_001];

/// The status of a rate limit.
const RATE_LIMIT: u16 = 429;

const ANY: Statuses = &[100..=599];
const S400: Statuses = &[400..=400];
const S404: Statuses = &[404..=404];
/// The statuses with which servers reject the form of a request. `rmcp` answers a request without a session with status 422.
const OF_FORM: Statuses = &[400..=400, 404..=406, 415..=415, 422..=422];

/// The answers without a row.
const OTHER: Reaction = Reaction { action: Action::Accept(Lesson::Nothing), delivery: Delivery::Unknown };

/// The reactions. The first row that applies counts. A row does not apply if the request has caused its action as often as it can.
///
/// A call that may have effects is sent again only if the answer proves that the server did not execute it: an error that the
/// specification defines for a check before the method, with the status that the specification defines for it. With status 200, a tool
/// may pass such an error on from another server.
static TABLE: &[ReactionRow] = {
    use Action::{Accept, Again, Contradiction, NewHeaders, NewToken, Pause, Resume, Unsupported};
    use Delivery::{NotExecuted, Unknown};
    use Pattern::{AnyError, Closed, Error, Http, Interrupted, Offer, Outage, Result};
    use RequestKind::{Discover, Effectful, Handshake, Repeatable};
    use ServerStage::{Modern, Pinned, Session, Sessionless};

    const ALL: &[ServerStage] = &[ServerStage::Unknown, Modern, Pinned, Session, Sessionless];
    const UNKNOWN: &[ServerStage] = &[ServerStage::Unknown];
    const MODERN: &[ServerStage] = &[ServerStage::Unknown, Modern, Pinned];
    const UNPINNED: &[ServerStage] = &[ServerStage::Unknown, Modern];
    const LEGACY: &[ServerStage] = &[Session, Sessionless];
    const EVERY: &[RequestKind] = &[Discover, Handshake, Repeatable, Effectful];
    const EACH: &[RequestKind] = &[Discover, Repeatable, Effectful];
    const CALLS: &[RequestKind] = &[Repeatable, Effectful];
    const HARMLESS: &[RequestKind] = &[Discover, Repeatable];
    const S401: Statuses = &[401..=401];
    const LIMITED: Statuses = &[RATE_LIMIT..=RATE_LIMIT];
    const REFUSED: Statuses = &[401..=401, 403..=403, RATE_LIMIT..=RATE_LIMIT];
    const S4XX: Statuses = &[400..=499];
    const S400_404: Statuses = &[400..=400, 404..=404];
    &[
        // Authorization and rate limits come before the method.
        row(ALL, EVERY, Http(S401), NewToken, NotExecuted),
        row(ALL, &[Repeatable], Http(LIMITED), Pause, NotExecuted),
        row(ALL, EACH, Http(REFUSED), Accept(Lesson::Nothing), NotExecuted),
        // The server may have executed a request whose answer did not arrive. The rest of an answer has no effects.
        row(LEGACY, EVERY, Interrupted, Resume, Unknown),
        row(ALL, &[Repeatable], Outage, Pause, Unknown),
        // A server may close a connection that it has kept open. The requests before another request have no effects.
        row(ALL, &[Discover, Handshake], Closed, Pause, Unknown),
        // These redirects ask for the same request at another URL. After others, the server may have executed the request.
        row(ALL, EACH, Http(&[307..=308]), Accept(Lesson::Nothing), NotExecuted),
        // Errors that only modern servers send. A tool may need a capability after it has begun.
        row(MODERN, EACH, Offer(S400, Era::Modern), Again(Lesson::Nothing), NotExecuted),
        row(UNPINNED, EACH, Offer(S400, Era::Legacy), Again(Lesson::Legacy), NotExecuted),
        row(MODERN, EACH, Error(S400, &[UNSUPPORTED]), Unsupported, NotExecuted),
        row(MODERN, HARMLESS, Offer(ANY, Era::Modern), Again(Lesson::Nothing), Unknown),
        row(UNPINNED, HARMLESS, Offer(ANY, Era::Legacy), Again(Lesson::Legacy), Unknown),
        row(MODERN, HARMLESS, Error(ANY, &[UNSUPPORTED]), Unsupported, Unknown),
        row(MODERN, CALLS, Error(S400, &[MISMATCH]), NewHeaders, NotExecuted),
        row(MODERN, EACH, Error(S400, &[MISMATCH]), Accept(Lesson::Modern), NotExecuted),
        row(MODERN, EACH, Error(ANY, &[MISMATCH, CAPABILITY]), Accept(Lesson::Modern), Unknown),
        // The first answer of a server. Legacy servers answer an unknown method with status 200. A server of both eras may reject the request
        // of one caller, so only `server/discover` shows that a server is legacy.
        row(UNKNOWN, EACH, Result { is_modern: true }, Accept(Lesson::Modern), Unknown),
        row(UNKNOWN, &[Discover], Result { is_modern: false }, Accept(Lesson::Modern), Unknown),
        row(UNKNOWN, &[Repeatable], Result { is_modern: false }, Accept(Lesson::Unsettled), Unknown),
        row(UNKNOWN, &[Repeatable], Error(S404, &[NO_METHOD]), Accept(Lesson::Modern), NotExecuted),
        row(UNKNOWN, &[Repeatable], AnyError(S4XX), Again(Lesson::Doubt), Unknown),
        row(UNKNOWN, &[Repeatable], Http(OF_FORM), Again(Lesson::Doubt), Unknown),
        row(UNKNOWN, &[Repeatable], Error(ANY, OF_LEGACY), Again(Lesson::Doubt), Unknown),
        // `server/discover` has nothing of a caller that a server could reject.
        row(UNKNOWN, &[Discover], AnyError(ANY), Again(Lesson::Legacy), Unknown),
        row(UNKNOWN, &[Discover], Http(S4XX), Again(Lesson::Legacy), Unknown),
        // The method does not exist.
        row(MODERN, EACH, Error(S404, &[NO_METHOD]), Accept(Lesson::Nothing), NotExecuted),
        row(LEGACY, HARMLESS, Error(ANY, &[NO_METHOD]), Accept(Lesson::Nothing), NotExecuted),
        // A modern server seems to be legacy now. The answer to a call may also come from a proxy or from the tool.
        row(&[Modern], HARMLESS, Error(OF_FORM, OF_LEGACY), Again(Lesson::Doubt), Unknown),
        row(&[Modern], HARMLESS, Http(OF_FORM), Again(Lesson::Doubt), Unknown),
        row(&[Modern], EACH, Error(OF_FORM, OF_LEGACY), Accept(Lesson::Doubt), Unknown),
        row(&[Modern], EACH, Http(OF_FORM), Accept(Lesson::Doubt), Unknown),
        // The session has ended: a server must answer each request of such a session with status 404. If the new session has ended too,
        // the status has another meaning.
        row(&[Session], EACH, Http(S404), Again(Lesson::Session), NotExecuted),
        row(&[Session], EACH, Error(S404, OF_SESSION), Again(Lesson::Session), NotExecuted),
        row(&[Session], EACH, Http(S404), Contradiction, Unknown),
        row(&[Session], EACH, Error(S404, OF_SESSION), Contradiction, Unknown),
        // Servers of the official TypeScript examples and of the Python SDK 1.8 answer with status 400, which also has other meanings.
        row(&[Session], &[Repeatable], Error(S400, OF_SESSION), Again(Lesson::Session), Unknown),
        row(&[Session], &[Repeatable], Http(S400), Again(Lesson::Session), Unknown),
        // A server without sessions seems to have sessions now, or to be modern, which the answer to `initialize` shows. Status 400 also
        // has other meanings, so it proves nothing.
        row(&[Sessionless], HARMLESS, Error(S400_404, OF_SESSION), Again(Lesson::Session), Unknown),
        row(&[Sessionless], HARMLESS, Http(S400_404), Again(Lesson::Session), Unknown),
        row(&[Sessionless], HARMLESS, Error(S400, OF_MODERN), Again(Lesson::Session), Unknown),
        row(&[Sessionless], EACH, Error(S400_404, OF_SESSION), Accept(Lesson::Session), Unknown),
        row(&[Sessionless], EACH, Http(S400_404), Accept(Lesson::Session), Unknown),
        row(&[Sessionless], EACH, Error(S400, OF_MODERN), Accept(Lesson::Session), Unknown),
    ]
};

/// Returns the reaction to an answer to a request that has already caused the actions `taken`.
pub(super) fn reaction(stage: ServerStage, kind: RequestKind, form: AnswerForm, taken: &[Action]) -> Reaction {
    let is_left = |action: Action| taken.iter().filter(|taken| **taken == action).count() < action.most();
    let applies = |row: &&ReactionRow| {
        row.stages.contains(&stage) && row.kinds.contains(&kind) && row.form.has(form) && is_left(row.action)
    };
    TABLE.iter().find(applies).map_or(OTHER, |row| Reaction { action: row.action, delivery: row.delivery })
}
