//! The one loop that sends a request again: with another token, revision, session or headers, for the rest of an interrupted answer, or after
//! a pause. The table of [`reactions`](super::reactions) decides.

use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use http::HeaderValue;

use super::negotiation::{History, Knowledge};
use super::post::RequestExchange;
use super::reactions::{Action, AnswerForm, Lesson, Reaction, RequestKind};
use super::remote_request::{HeaderParams, RemoteRequest};
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Delivery, Failure};
use crate::client::tokens::token_source::Rejection;
use crate::client::wire::response::{RpcResult, ServerResponse, unsupported};
use crate::limits::UPSTREAM_TOTAL_SECONDS;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

/// The pause before a request is sent again after an outage.
const PAUSE: Duration = Duration::from_millis(250);

const CONTRADICTION: Failure = Failure::Malformed("contradicts the earlier answers of the server");

/// Returns what is known about the server, after the requests that must come before an attempt.
pub(super) type Ready<'r> = dyn Fn() -> LocalBoxFuture<'r, Result<Knowledge, ClientError>> + 'r;

impl Conversation {
    /// Sends a request until the table accepts an answer, or a failure is final. The number of repetitions is limited.
    ///
    /// `history` has the knowledge about the server that the answers lead to. Except for `server/discover`, an era that ends takes its session
    /// with it.
    pub(super) async fn attempts(
        self: &Rc<Self>,
        request: &RemoteRequest,
        history: &mut History,
        ready: &Ready<'_>,
    ) -> Result<RpcResult, ClientError> {
        let result = self.accepted(request, history, ready).await;
        request.attempts.is_in_flight.set(false);
        result.map_err(|error| {
            let delivery = error.delivery().or(history.delivery);
            error.delivered_as(delivery)
        })
    }

    async fn accepted(
        self: &Rc<Self>,
        request: &RemoteRequest,
        history: &mut History,
        ready: &Ready<'_>,
    ) -> Result<RpcResult, ClientError> {
        let attempts = &request.attempts;
        let until = request.deadline.unwrap_or_else(|| self.deadline(request.timeout));
        let mut interrupted: Option<RequestExchange<'_>> = None;
        loop {
            let exchange = match interrupted.take() {
                Some(exchange) => Some(exchange),
                None => self.attempt(request, history, ready, until).await?,
            };
            let Some(mut exchange) = exchange else {
                if attempts.repeat() {
                    continue;
                }
                return Err(CONTRADICTION.into());
            };
            let answer = exchange.read().await;
            let form = AnswerForm::of(&answer, exchange.is_resumable());
            let is_replaced = match self.is_replaced(&answer, exchange.credential.as_ref()).await {
                Ok(is_replaced) => is_replaced,
                Err(error) => {
                    exchange.end(&answer);
                    return Err(error);
                }
            };
            let is_transient = match &answer {
                Ok(ServerResponse::Http { error, .. }) | Err(error) => error.failure().is_transient(),
                Ok(ServerResponse::Rpc { .. }) => false,
            };
            let Reaction { action, delivery } = loop {
                let reaction = history.react(form);
                // An action is taken once, so another row applies if this one is not possible.
                let is_possible = match reaction.action {
                    Action::NewToken => is_replaced,
                    Action::NewHeaders => request.new_headers.is_some(),
                    Action::Pause => is_transient && self.time_left(PAUSE, until).is_ok_and(|left| left == PAUSE),
                    _ => true,
                };
                if is_possible && (!reaction.action.repeats() || attempts.repeat()) {
                    break reaction;
                }
            };
            if action == Action::Resume {
                interrupted = Some(exchange);
                continue;
            }
            exchange.end(&answer);
            attempts.is_in_flight.set(false);
            self.keep_lesson(history, action, form);
            let answer = match (action, answer) {
                (Action::Pause, _) => {
                    self.cx.host().sleep(PAUSE).await;
                    continue;
                }
                (_, Err(error)) => return Err(error),
                (Action::NewToken, Ok(_)) => continue,
                // The server may have rejected the request itself, and not its form. Then the rejection is the answer.
                (Action::Again(Lesson::Legacy | Lesson::Doubt), Ok(answer))
                    if history.kind != RequestKind::Discover =>
                {
                    match ready().await {
                        Ok(known) if known.era() == Era::Legacy => continue,
                        Ok(_) => answer,
                        Err(error) if error.failure().is_rejection() => answer,
                        Err(error) => return Err(error.delivered_as(Delivery::NotExecuted)),
                    }
                }
                (Action::Accept(Lesson::Doubt | Lesson::Session), Ok(answer)) => {
                    // The call is not sent again, so the next call needs the knowledge. A failure to get it is not that of this call.
                    drop(ready().await);
                    answer
                }
                // The first knowledge is the aim of `server/discover`.
                (Action::Again(lesson), Ok(_))
                    if history.kind != RequestKind::Discover || lesson == Lesson::Nothing =>
                {
                    continue;
                }
                (Action::NewHeaders, Ok(answer)) => match new_headers(request).await {
                    Some(headers) => {
                        attempts.header_params.replace(headers?);
                        continue;
                    }
                    None => answer,
                },
                (Action::Unsupported, Ok(answer)) => {
                    return Err(unsupported(answer.supported()).delivered_as(delivery));
                }
                (Action::Contradiction, Ok(_)) => return Err(ClientError::from(CONTRADICTION).delivered_as(delivery)),
                (_, Ok(answer)) => answer,
            };
            return answer.into_result().map_err(|error| error.delivered_as(delivery));
        }
    }

    /// Posts a request. Returns `None` if the session of the request ended before it was posted.
    async fn attempt<'c>(
        self: &'c Rc<Self>,
        request: &RemoteRequest,
        history: &mut History,
        ready: &Ready<'_>,
        until: u64,
    ) -> Result<Option<RequestExchange<'c>>, ClientError> {
        // Before this attempt is sent, its failures are not those of the request.
        let unsent = |error: ClientError| error.delivered_as(Delivery::NotExecuted);
        history.known = ready().await.map_err(unsent)?;
        if request.is_of_task() && history.known.era() == Era::Legacy {
            return Err(Failure::Undeclared("tasks, which only servers of revision 2026-07-28 have").into());
        }
        let time = self.time_left(request.timeout, until).map_err(unsent)?;
        let credential = self.authorization().await?;
        // The state of the conversation may change while a request waits, for example for its token.
        let is_of_session = history.known.era() == Era::Legacy && request.method != Method::Initialize.name();
        if is_of_session && self.needs_session(self.known()) {
            return Ok(None);
        }
        history.has_session = history.known.era() == Era::Legacy && self.has_session();
        let exchange = RequestExchange::new(self, request, history.known, time, credential)?;
        request.attempts.is_in_flight.set(true);
        Ok(Some(exchange))
    }

    /// Keeps the knowledge that an action leads to: for all conversations if a result proves it, otherwise for this one. The session of a server
    /// ends with its era. `server/discover` is sent without a session, so it ends none.
    fn keep_lesson(&self, history: &mut History, action: Action, form: AnswerForm) {
        let lesson = match action {
            Action::Accept(lesson) | Action::Again(lesson) => lesson,
            Action::NewHeaders => Lesson::Modern,
            _ => Lesson::Nothing,
        };
        let Some(known) = history.known.after(lesson) else { return };
        if history.kind != RequestKind::Discover {
            self.session.take();
        }
        match form {
            AnswerForm::Result { .. } => self.learn(known),
            _ => self.assumed.set(Some(known)),
        }
        history.known = known;
    }

    /// Returns whether there is another token than the one that an answer rejects. A source forgets a rejected token, also if the request is not
    /// sent again.
    async fn is_replaced(
        &self,
        answer: &Result<ServerResponse, ClientError>,
        credential: Option<&HeaderValue>,
    ) -> Result<bool, ClientError> {
        match answer {
            Ok(ServerResponse::Http { status: 401, challenge, .. }) => {
                let rejection = Rejection { token: credential, challenge: challenge.as_ref(), lacks_scope: false };
                self.refresh(rejection).await
            }
            Ok(ServerResponse::Http { status: 403, challenge: Some(challenge), .. }) if challenge.lacks_scope() => {
                // The answer is the final one, unless a person must sign in, which is a failure.
                let rejection = Rejection { token: credential, challenge: Some(challenge), lacks_scope: true };
                self.refresh(rejection).await.map(|_| false)
            }
            _ => Ok(false),
        }
    }

    /// Returns the time at which a request that begins now ends, with all its repetitions.
    pub(in crate::client) fn deadline(&self, timeout: Duration) -> u64 {
        self.after(timeout.max(Duration::from_secs(UPSTREAM_TOTAL_SECONDS)))
    }

    /// Returns the time after `time`, in milliseconds since 1970.
    pub(in crate::client) fn after(&self, time: Duration) -> u64 {
        self.cx.host().now_ms().saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    fn time_left(&self, timeout: Duration, deadline: u64) -> Result<Duration, ClientError> {
        let left = Duration::from_millis(deadline.saturating_sub(self.cx.host().now_ms()));
        if left.is_zero() { Err(Failure::Timeout(timeout).into()) } else { Ok(timeout.min(left)) }
    }
}

/// Returns the headers that a new definition of the tool requires, if there is one.
async fn new_headers(request: &RemoteRequest) -> Option<Result<HeaderParams, ClientError>> {
    request.new_headers.clone()?().await
}
