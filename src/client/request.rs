//! One JSON-RPC request to a server, with negotiation and retries.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::connection::Link;
use super::error::{ClientError, Executed, Failed, Failure};
use super::message::Params;
use super::negotiation::Sent;
use super::observer::Listeners;
use super::reactions::{Action, Kind, Reaction};
use super::response::{Reply, unsupported};
use crate::limits::{UPSTREAM_ATTEMPTS, UPSTREAM_TOTAL_SECONDS};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

/// The pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(250);

/// A request to a server.
#[derive(Clone)]
pub(super) struct Outgoing {
    pub method: Method,
    pub params: Params,
    /// The name or the URI that the header `Mcp-Name` repeats.
    pub target: Option<String>,
    /// The arguments of a call as JSON text, and the headers that repeat some of them.
    pub arguments: Rc<str>,
    pub header_params: Vec<(String, String)>,
    /// Whether the request may be sent again if it is not known whether the server executed it.
    pub is_repeatable: bool,
    pub timeout: Duration,
    /// The time at which the request ends with all its repetitions, in milliseconds since 1970.
    pub deadline: Option<u64>,
    /// The capabilities to declare. `None` means the questions that the program answers.
    pub capabilities: Option<ClientCapabilities>,
    pub listeners: Listeners,
    /// The number of bytes of all answers to the request.
    pub received: Rc<Cell<usize>>,
    /// Whether the request was sent, and its answer has not arrived. Clones share it.
    pub is_in_flight: Rc<Cell<bool>>,
}

impl Outgoing {
    pub(super) fn new(method: Method, params: Params, timeout: Duration) -> Self {
        Self {
            method,
            params,
            target: None,
            arguments: Rc::default(),
            header_params: Vec::new(),
            is_repeatable: method != Method::CallTool,
            timeout,
            deadline: None,
            capabilities: None,
            listeners: Listeners::default(),
            received: Rc::default(),
            is_in_flight: Rc::default(),
        }
    }
}

impl Link {
    /// Sends a request whose result cannot be a question, and returns the result.
    pub(super) async fn request(&self, outgoing: &Outgoing) -> Result<Box<RawValue>, ClientError> {
        let Reply { asks, result } = self.exchange(outgoing).await?;
        if asks {
            let failure = Failure::Malformed("asks for input, which only tools, resources and prompts can do");
            return Err(self.failed(outgoing.method, failure.into()));
        }
        Ok(result)
    }

    /// Sends a request and returns its result, which may be a question.
    pub(super) async fn exchange(&self, outgoing: &Outgoing) -> Result<Reply, ClientError> {
        let kind = if outgoing.is_repeatable { Kind::Repeatable } else { Kind::Effectful };
        let mut sent = Sent::new(self.known(), kind, self.is_pinned());
        let reply = self.attempts(outgoing, &mut sent).await;
        reply.map_err(|error| {
            let executed = error.executed().or(sent.executed);
            error.executed_as(executed)
        })
    }

    /// Sends a request until there is a reply, or a failure after which it is not sent again.
    async fn attempts(&self, outgoing: &Outgoing, sent: &mut Sent) -> Result<Reply, ClientError> {
        let failed = |failed| self.failed(outgoing.method, failed);
        let deadline = outgoing.deadline.unwrap_or_else(|| self.deadline(outgoing.timeout));
        let mut has_failed = false;
        for _ in 0..UPSTREAM_ATTEMPTS {
            // Before this attempt is sent, its failures are not those of the request.
            let unsent = |error: ClientError| error.executed_as(Executed::No);
            sent.known = self.negotiated(outgoing.method).await.map_err(unsent)?;
            if let Some((level, _)) = &outgoing.listeners.log {
                self.set_log_level(*level, sent.known).await;
            }
            let time = self.time_left(outgoing.timeout, deadline).map_err(|late| unsent(failed(late)))?;
            outgoing.is_in_flight.set(true);
            let attempted = self.attempt(outgoing, sent, time).await;
            outgoing.is_in_flight.set(false);
            let failure = match attempted {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => continue,
                Err(failure) => failure,
            };
            let is_sent_again =
                outgoing.is_repeatable && failure.failure().is_transient() && !has_failed && self.is_before(deadline);
            if !is_sent_again {
                return Err(failed(failure));
            }
            sent.executed = failure.executed().or(sent.executed);
            has_failed = true;
            self.host().sleep(PAUSE).await;
        }
        Err(failed(contradiction()))
    }

    /// Sends a request once. Returns `None` if the answer requires that it is sent again.
    async fn attempt(&self, outgoing: &Outgoing, sent: &mut Sent, time: Duration) -> Result<Option<Reply>, Failed> {
        let (answer, Reaction { action, executed }) = self.post(outgoing, sent, time).await?;
        if let Action::Accept(lesson) | Action::Again(lesson) = action
            && let Some(known) = sent.known.after(lesson)
        {
            self.end_session();
            self.learn(known);
        }
        let reply = match (action, sent.known.era()) {
            (Action::Again(_), _) => return Ok(None),
            (Action::Unsupported, _) => Err(unsupported(answer.supported())),
            (Action::Contradiction, _) => Err(contradiction()),
            (Action::Accept(_) | Action::NewToken, Era::Modern) => answer.into_reply(),
            (Action::Accept(_) | Action::NewToken, Era::Legacy) => {
                answer.into_result().map(|result| Reply { asks: false, result: result.json })
            }
        };
        reply.map(Some).map_err(|failed| failed.executed_as(executed))
    }

    /// Returns the time at which a request that begins now ends, with all its repetitions.
    pub(super) fn deadline(&self, timeout: Duration) -> u64 {
        let total = timeout.max(Duration::from_secs(UPSTREAM_TOTAL_SECONDS));
        self.host().now_ms().saturating_add(u64::try_from(total.as_millis()).unwrap_or(u64::MAX))
    }

    /// Returns whether there is time to send a request again.
    fn is_before(&self, deadline: u64) -> bool {
        self.time_left(PAUSE, deadline).is_ok_and(|left| left == PAUSE)
    }

    fn time_left(&self, timeout: Duration, deadline: u64) -> Result<Duration, Failed> {
        let left = Duration::from_millis(deadline.saturating_sub(self.host().now_ms()));
        if left.is_zero() { Err(Failure::Timeout(timeout).into()) } else { Ok(timeout.min(left)) }
    }

    pub(super) fn failed(&self, method: Method, failed: Failed) -> ClientError {
        let (failure, cause, executed) = failed.into_parts();
        let error = ClientError::new(&self.server().name, method.name(), failure).executed_as(executed);
        match cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    }
}

fn contradiction() -> Failed {
    Failure::Malformed("contradicts the earlier answers of the server").into()
}
