//! The one loop that sends a request again: with another token, revision, session or headers, for the rest of an interrupted answer, or after
//! a pause. The table of [`reactions`](super::reactions) decides.

use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use http::HeaderValue;

use super::channel::Channel;
use super::negotiation::{Known, Sent};
use super::outgoing::{HeaderParams, Outgoing};
use super::post::Exchange;
use super::reactions::{Action, Form, Lesson, Reaction, RequestKind};
use crate::client::error::{ClientError, Executed, Failed, Failure};
use crate::client::tokens::token_source::Rejection;
use crate::client::wire::absent::without_nulls;
use crate::client::wire::response::{RoundResult, ServerResponse, unsupported};
use crate::limits::UPSTREAM_TOTAL_SECONDS;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

/// The pause before a request is sent again after an outage.
const PAUSE: Duration = Duration::from_millis(250);

/// Returns what is known about the server, after the requests that must come before an attempt.
pub(super) type Ready<'r> = dyn Fn() -> LocalBoxFuture<'r, Result<Known, ClientError>> + 'r;

/// The final answer to a request.
#[derive(Debug)]
pub(in crate::client) struct Accepted {
    pub answer: ServerResponse,
    /// Whether the server executed the request, if the answer is an error.
    executed: Executed,
}

impl Accepted {
    /// Returns the result of a request in the form of the era of the server.
    pub(in crate::client) fn into_round_result(self, era: Era, outgoing: &Outgoing) -> Result<RoundResult, Failed> {
        let result = match era {
            Era::Modern => self.answer.into_round_result(&outgoing.result_types, outgoing.may_be_task()),
            Era::Legacy => self.answer.into_legacy_result(),
        };
        let RoundResult { kind, result } = result.map_err(|failed| failed.executed_as(self.executed))?;
        let result = if outgoing.is_of_protocol() { without_nulls(result, era) } else { result };
        Ok(RoundResult { kind, result })
    }
}

/// Sends a request until the table accepts an answer, or a failure is final. The number of repetitions is limited.
///
/// `sent` has the knowledge about the server that the answers lead to. Except for `server/discover`, an era that ends takes its session with
/// it.
pub(super) async fn send(
    channel: &Rc<Channel>,
    outgoing: &mut Outgoing,
    sent: &mut Sent,
    ready: &Ready<'_>,
) -> Result<Accepted, ClientError> {
    let accepted = attempts(channel, outgoing, sent, ready).await;
    outgoing.is_in_flight.set(false);
    accepted.map_err(|error| {
        let executed = error.executed().or(sent.executed);
        error.executed_as(executed)
    })
}

async fn attempts(
    channel: &Rc<Channel>,
    outgoing: &mut Outgoing,
    sent: &mut Sent,
    ready: &Ready<'_>,
) -> Result<Accepted, ClientError> {
    let method = outgoing.method.clone();
    let failed = |failed| channel.failed(method.clone(), failed);
    let until = outgoing.deadline.unwrap_or_else(|| deadline(channel, outgoing.timeout));
    let mut interrupted: Option<Exchange<'_>> = None;
    loop {
        let posted = match interrupted.take() {
            Some(mut exchange) => Some((exchange.resume().await, exchange)),
            None => post(channel, outgoing, sent, ready, until).await?,
        };
        let Some((answer, exchange)) = posted else {
            if outgoing.repeats() {
                continue;
            }
            return Err(failed(contradiction()));
        };
        let form = Form::of(&answer, exchange.is_resumable());
        let is_replaced = match is_replaced(channel, &answer, exchange.credential()).await {
            Ok(is_replaced) => is_replaced,
            Err(failure) => {
                exchange.end(&answer);
                return Err(failed(failure));
            }
        };
        let is_transient = match &answer {
            Ok(ServerResponse::Http { failed, .. }) | Err(failed) => failed.failure().is_transient(),
            Ok(ServerResponse::Rpc { .. }) => false,
        };
        let Reaction { action, executed } = loop {
            let reaction = sent.react(form);
            // An action is taken once, so another row applies if this one is not possible.
            let is_possible = match reaction.action {
                Action::NewToken => is_replaced,
                Action::NewHeaders => outgoing.new_headers.is_some(),
                Action::Pause => is_transient && time_left(channel, PAUSE, until).is_ok_and(|left| left == PAUSE),
                _ => true,
            };
            if is_possible && (!reaction.action.repeats() || outgoing.repeats()) {
                break reaction;
            }
        };
        if action == Action::Resume {
            interrupted = Some(exchange);
            continue;
        }
        exchange.end(&answer);
        outgoing.is_in_flight.set(false);
        learn(channel, sent, action, form);
        match (action, answer) {
            (Action::Pause, _) => channel.host().sleep(PAUSE).await,
            (_, Err(failure)) => return Err(failed(failure)),
            (Action::NewToken, Ok(_)) => {}
            // The server may have rejected the request itself, and not its form. Then the rejection is the answer.
            (Action::Again(Lesson::Legacy | Lesson::Doubt), Ok(answer)) if sent.kind() != RequestKind::Discover => {
                match ready().await {
                    Ok(known) if known.era() == Era::Legacy => {}
                    Ok(_) => return Ok(Accepted { answer, executed }),
                    Err(error) if error.failure().is_rejection() => return Ok(Accepted { answer, executed }),
                    Err(error) => return Err(error.executed_as(Executed::No)),
                }
            }
            (Action::Accept(Lesson::Doubt | Lesson::Session), Ok(answer)) => {
                // The call is not sent again, so the next call needs the knowledge. A failure to get it is not that of this call.
                drop(ready().await);
                return Ok(Accepted { answer, executed });
            }
            // The first knowledge is the aim of `server/discover`.
            (Action::Again(lesson), Ok(_)) if sent.kind() != RequestKind::Discover || lesson == Lesson::Nothing => {}
            (Action::NewHeaders, Ok(answer)) => match new_headers(outgoing).await {
                Some(headers) => outgoing.header_params = headers?,
                None => return Ok(Accepted { answer, executed }),
            },
            (Action::Unsupported, Ok(answer)) => {
                return Err(failed(unsupported(answer.supported()).executed_as(executed)));
            }
            (Action::Contradiction, Ok(_)) => return Err(failed(contradiction().executed_as(executed))),
            (_, Ok(answer)) => return Ok(Accepted { answer, executed }),
        }
    }
}

/// Posts a request and reads its answer. Returns `None` if the session of the request ended before it was posted.
async fn post<'c>(
    channel: &'c Rc<Channel>,
    outgoing: &Outgoing,
    sent: &mut Sent,
    ready: &Ready<'_>,
    until: u64,
) -> Result<Option<(Result<ServerResponse, Failed>, Exchange<'c>)>, ClientError> {
    let failed = |failed| channel.failed(outgoing.method.clone(), failed);
    // Before this attempt is sent, its failures are not those of the request.
    let unsent = |error: ClientError| error.executed_as(Executed::No);
    sent.known = ready().await.map_err(unsent)?;
    if outgoing.is_of_task() && sent.known.era() == Era::Legacy {
        return Err(unsent(failed(
            Failure::Undeclared("tasks, which only servers of revision 2026-07-28 have").into(),
        )));
    }
    let time = time_left(channel, outgoing.timeout, until).map_err(|late| unsent(failed(late)))?;
    let credential = channel.credential().await.map_err(failed)?;
    // The state of the connection may change while a request waits, for example for its token.
    let is_of_session = sent.known.era() == Era::Legacy && outgoing.method != Method::Initialize.name();
    if is_of_session && channel.needs_session(channel.known()) {
        return Ok(None);
    }
    sent.has_session = sent.known.era() == Era::Legacy && channel.has_session();
    let (mut exchange, opening) = Exchange::new(channel, outgoing, sent.known, time, credential).map_err(failed)?;
    outgoing.is_in_flight.set(true);
    Ok(Some((exchange.read(opening).await, exchange)))
}

/// Keeps the knowledge that an action leads to: for all connections if a result proves it, otherwise for this one. The session of a server
/// ends with its era. `server/discover` is sent without a session, so it ends none.
fn learn(channel: &Channel, sent: &mut Sent, action: Action, form: Form) {
    let lesson = match action {
        Action::Accept(lesson) | Action::Again(lesson) => lesson,
        Action::NewHeaders => Lesson::Modern,
        _ => Lesson::Nothing,
    };
    let Some(known) = sent.known.after(lesson) else { return };
    if sent.kind() != RequestKind::Discover {
        channel.end_session();
    }
    match form {
        Form::Result { .. } => channel.learn(known),
        _ => channel.assume(Some(known)),
    }
    sent.known = known;
}

/// Returns whether there is another token than the one that an answer rejects. A source forgets a rejected token, also if the request is not
/// sent again.
async fn is_replaced(
    channel: &Channel,
    answer: &Result<ServerResponse, Failed>,
    credential: Option<&HeaderValue>,
) -> Result<bool, Failed> {
    match answer {
        Ok(ServerResponse::Http { status: 401, challenge, .. }) => {
            let rejection = Rejection { token: credential, challenge: challenge.as_ref(), lacks_scope: false };
            channel.refresh(rejection).await
        }
        Ok(ServerResponse::Http { status: 403, challenge: Some(challenge), .. }) if challenge.lacks_scope() => {
            // The answer is the final one, unless a person must sign in, which is a failure.
            let rejection = Rejection { token: credential, challenge: Some(challenge), lacks_scope: true };
            channel.refresh(rejection).await.map(|_| false)
        }
        _ => Ok(false),
    }
}

/// Returns the headers that a new definition of the tool requires, if there is one.
async fn new_headers(outgoing: &Outgoing) -> Option<Result<HeaderParams, ClientError>> {
    outgoing.new_headers.clone()?().await
}

/// Returns the time at which a request that begins now ends, with all its repetitions.
pub(in crate::client) fn deadline(channel: &Channel, timeout: Duration) -> u64 {
    let total = timeout.max(Duration::from_secs(UPSTREAM_TOTAL_SECONDS));
    channel.host().now_ms().saturating_add(u64::try_from(total.as_millis()).unwrap_or(u64::MAX))
}

fn time_left(channel: &Channel, timeout: Duration, deadline: u64) -> Result<Duration, Failed> {
    let left = Duration::from_millis(deadline.saturating_sub(channel.host().now_ms()));
    if left.is_zero() { Err(Failure::Timeout(timeout).into()) } else { Ok(timeout.min(left)) }
}

fn contradiction() -> Failed {
    Failure::Malformed("contradicts the earlier answers of the server").into()
}
