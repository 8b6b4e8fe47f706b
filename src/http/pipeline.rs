//! The path of a request through the endpoint.
//!
//! The order of the checks is: path, origin, HTTP method, media types and announced length; authentication; body; JSON; kind of message and
//! revision; server; scopes; JSON-RPC method. Checks run cheapest first. No work is done for a request that will be rejected.
//!
//! The engine compiles a function at its first call, and every request runs the main function. So rare branches are boxed futures in
//! separate functions.

use std::rc::Rc;

use edge_json::Document;
use futures::FutureExt;
use http::{Response, StatusCode};

use super::auth_failure::AuthFailure;
use super::batch::answer_batch;
use super::endpoint::Endpoint;
use super::era::{Messages, classify};
use super::guard::Announcement;
use super::http_error::{HttpError, status_of};
use super::log_line::LogLine;
use super::reply::Reply;
use super::sse_task::{self, Job};
use super::stream::Body;
use super::{body, cors, guard, other_methods};
use crate::call::trace::Trace;
use crate::engine::head::BoundedRequest;
use crate::engine::memory::Reservation;
use crate::engine::message::{Caller, Message};
use crate::engine::refusal::Refusal;
use crate::engine::running::{Answer, Running};
use crate::host::{self, Host, Request as _, path_of};
use crate::protocol::message::RequestId;
use crate::protocol::revision::Era;

/// The request that a reply belongs to, without its body.
pub(super) struct Head<'h> {
    pub request: Rc<BoundedRequest>,
    pub url: String,
    pub host: &'h Rc<dyn Host>,
    /// The time at which the request arrived, in milliseconds.
    pub started: u64,
}

impl Endpoint {
    /// Answers one request.
    pub async fn handle(&self, request: impl host::Request + 'static, host: &Rc<dyn Host>) -> Response<Body> {
        self.reply(request, host).await.into_response()
    }

    /// Answers one request with a [`Reply`], which the host converts to a response.
    pub(crate) async fn reply(&self, request: impl host::Request + 'static, host: &Rc<dyn Host>) -> Reply {
        let started = host.now_ms();
        let request = Rc::new(request);
        let bounded = Rc::new(BoundedRequest::new(request.clone(), self.engine.limits.header, host.clone()));
        let mut line = LogLine::new(bounded.clone(), started);
        let head = Head { url: bounded.url(), request: bounded, host, started };
        let origin = head.request.standard_header("origin");
        let is_allowed = |origin: &str| self.origins.allows(origin) || self.access.is_own_origin(origin);
        let allowed_origin = origin.as_ref().ok().and_then(Option::as_deref).filter(|origin| is_allowed(origin));
        if let Some(origin) = allowed_origin {
            cors::keep_for_crash(origin, host);
        }
        let allowed_origin = allowed_origin.map(str::to_owned);
        let answer = match origin {
            Ok(origin) => {
                let passes = origin.is_none() || allowed_origin.is_some();
                self.answer(&head, &*request, passes, &mut line).await
            }
            Err(too_long) => Err(too_long.into()),
        };
        let mut reply = answer.unwrap_or_else(|error| rejected(*error, &mut line));
        if let Some(origin) = allowed_origin {
            reply = cors::with_headers(&origin, reply);
        }
        line.write(*self.log, reply.status().as_u16(), host);
        reply
    }

    /// Answers a request to any path, or returns the error that rejects it.
    async fn answer(
        &self,
        head: &Head<'_>,
        body: &impl host::Request,
        origin_passes: bool,
        line: &mut LogLine,
    ) -> Result<Reply, Box<HttpError>> {
        let Head { request, url, host, started } = head;
        let path = path_of(url);
        let is_other_path = path != self.path && path.strip_suffix('/').is_none_or(|path| path != self.path);
        #[cfg(feature = "page")]
        let is_other_path = is_other_path || self.landing_page(request, path)?.is_some();
        if is_other_path {
            return Ok(self.answer_other_path(head, body, origin_passes).boxed_local().await?.into());
        }
        if !origin_passes {
            return Err(foreign_origin());
        }
        let method = request.method();
        if method != "POST" {
            let has_page = cfg!(feature = "page") && *self.has_page;
            return other_methods::answer(request, &method, has_page).map(Reply::from);
        }
        let Announcement { announced, accepts_stream, is_stream_only } =
            guard::check(request, self.engine.limits.body)?;
        let principal = self.access.authenticate(request, url, &self.path, host, line).await?;
        let (body, reservation) = body::read(body, announced, &self.engine.limits, *started, host).await?;
        let (request, host) = (request.clone(), (*host).clone());
        let caller = Caller { head: request, principal, host, accepts_stream, attempt: None };
        let reply = self.answer_message(head, caller, body, reservation, line).await;
        if !is_stream_only {
            return reply;
        }
        Ok(reply.unwrap_or_else(|error| rejected(*error, line)).into_stream())
    }

    /// Answers the JSON-RPC message or batch in `body`.
    async fn answer_message(
        &self,
        head: &Head<'_>,
        caller: Caller,
        body: Vec<u8>,
        mut reservation: Reservation,
        line: &mut LogLine,
    ) -> Result<Reply, Box<HttpError>> {
        let limits = &self.engine.limits;
        let document = Document::parse(&body, limits.json).map_err(|error| body::not_json(&body, &error))?;
        match classify(document.root(), &head.request, limits)? {
            Messages::NoRequest(era) => {
                line.era(era);
                Ok(Reply::accepted())
            }
            Messages::Batch(messages) => {
                line.batch();
                line.era(Era::Legacy);
                let count =
                    self.access.count_batch(caller.principal.as_ref(), &head.request, messages.len(), head.host);
                count.boxed_local().await?;
                line.keep_for_crash(messages.iter().map(|message| &message.request.id), true, head.host);
                let begun = self.engine.begin_batch(&messages, caller);
                let calls = begun.map_err(|refusal| self.refused(refusal, Era::Legacy, None, &head.url))?;
                for call in &calls {
                    line.tool(call.tool.as_deref());
                }
                reservation.set(messages.iter().map(|message| message.request.id.as_json().len()).sum());
                drop(messages);
                drop(document);
                drop(body);
                Ok(answer_batch(calls, limits, line).boxed_local().await)
            }
            Messages::Request(message) => {
                let mut running = self.begin(&message, head, caller, line)?;
                // A call with notifications runs in a task. Some futures keep the waker of their first poll, so only this task may poll them.
                if running.receiver.is_none() {
                    running.first_poll().await;
                }
                running.detach(&message.request);
                reservation.set(kept_bytes(&message));
                // A call that waits must not keep the body and the document in memory.
                drop(message);
                drop(document);
                drop(body);
                Ok(self.finish(running, reservation, head.host, line).await)
            }
        }
    }

    /// Begins the call of a message, and its log line.
    #[inline(never)]
    fn begin(
        &self,
        message: &Message<'_>,
        head: &Head<'_>,
        caller: Caller,
        line: &mut LogLine,
    ) -> Result<Running, Box<HttpError>> {
        let (request, era) = (&message.request, message.revision.era());
        let trace = self.engine.trace(request, head.host);
        line.request(request, trace.as_deref().and_then(Trace::id));
        line.era(era);
        line.keep_for_crash([&request.id], false, head.host);
        let begun = self.engine.begin(message, caller, trace);
        let running = begun.map_err(|refusal| self.refused(refusal, era, Some(&request.id), &head.url))?;
        line.tool(running.tool.as_deref());
        Ok(running)
    }

    /// Runs a call to its end. Only a call with notifications can be answered by a stream.
    async fn finish(
        &self,
        mut running: Running,
        reservation: Reservation,
        host: &Rc<dyn Host>,
        line: &mut LogLine,
    ) -> Reply {
        if let Some(receiver) = running.receiver.take() {
            let (line, waiting_answers) = (std::mem::take(line), self.engine.limits.waiting_answers());
            let job = Job { running, line, policy: *self.log, reservation, waiting_answers };
            return sse_task::answer(job, receiver, host).boxed_local().await;
        }
        let era = running.cx().revision().era();
        let Answer { message, error, .. } = running.finish(None).await;
        drop(reservation);
        line.error(error);
        Reply::Json(status_of(era, error), message)
    }

    /// Returns the error for a message that reaches no method.
    #[cold]
    #[inline(never)]
    pub(super) fn refused(&self, refusal: Refusal, era: Era, id: Option<&RequestId>, url: &str) -> Box<HttpError> {
        let error: Box<HttpError> = match refusal {
            Refusal::Header(error) => error.into(),
            Refusal::Meta(error) => HttpError::rpc(status_of(era, Some(error.code)), None, error),
            Refusal::Unavailable(error) => HttpError::rpc(StatusCode::SERVICE_UNAVAILABLE, None, error),
            Refusal::Scopes(needed) => {
                self.access.failed(AuthFailure::InsufficientScope(needed.join(" ")), url, &self.path)
            }
        };
        error.with_id(id.cloned())
    }
}

/// Returns the reply to a request that is rejected, and adds the error to its log line.
fn rejected(error: HttpError, line: &mut LogLine) -> Reply {
    line.error(Some(error.error.code));
    error.into_reply()
}

/// Returns the number of bytes of a request that its call keeps.
fn kept_bytes(Message { request, .. }: &Message<'_>) -> usize {
    request.id.as_json().len().saturating_add(request.meta.map_or(0, |meta| meta.text().len()))
}

/// Returns the 403 for a request of a web page that may not call the endpoint.
#[cold]
pub(super) fn foreign_origin() -> Box<HttpError> {
    HttpError::http(
        StatusCode::FORBIDDEN,
        "Pages of this origin may not call this server. Its configuration can allow them.",
    )
}
