//! The path of a request through the endpoint.
//!
//! The order of the checks is: path, origin, HTTP method, media types and announced length; authentication; body; JSON; kind of message and
//! revision; server; scopes; JSON-RPC method. Checks run cheapest first. No work is done for a request that will be rejected.
//!
//! The engine compiles a function at its first call, and every request runs the main function. So rare branches are boxed futures in
//! separate functions.

use std::cell::Cell;
use std::rc::Rc;
use std::slice;

use edge_json::Document;
use futures::FutureExt;
use http::{Response, StatusCode};

use super::auth_failure::misconfigured;
use super::bounded_request::BoundedRequest;
use super::endpoint::Endpoint;
use super::era::{Classified, VersionedRequest, classify};
use super::guard::Media;
use super::http_error::{HttpError, status_of};
use super::in_flight::Reservation;
use super::json_answer::{Answered, accepted, respond, respond_to_batch};
use super::listen;
use super::log_line::LogLine;
use super::reply::Reply;
use super::sse_task::{self, Channel, Job};
use super::stream::Body;
use super::{body, cors, crash, guard, other_methods, request_headers};
use crate::auth::Principal;
use crate::call::client_extensions::{CapabilitySource, ClientDetails};
use crate::call::context::Context;
use crate::call::failure;
use crate::call::of_request::OfRequest;
use crate::call::request_info::RequestInfo;
use crate::call::rounds::Rounds;
use crate::call::trace::Trace;
use crate::host::{self, Host, Request as _, path_of, warning};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::{Request, RequestId};
use crate::protocol::meta::RequestedNotifications;
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Revision};
use crate::rpc::{self, Call, Prepared, Resolved};
use crate::server::builder::McpServer;

/// A request in the pipeline, without its body.
pub(super) struct Received<'h> {
    pub head: Rc<BoundedRequest>,
    pub url: String,
    pub host: &'h Rc<dyn Host>,
    /// The time at which the request arrived, in milliseconds.
    pub started: u64,
    /// Whether the client accepts event streams only.
    pub is_stream_only: Cell<bool>,
}

/// The reply to an HTTP request, and the code that writes the log line of the request.
enum LoggedBy {
    /// The pipeline writes the line.
    Pipeline(Reply),
    /// The task that produces the reply writes the line.
    Task(Reply),
}

/// The state of a JSON-RPC request after its parameters are read.
enum Begun<'d> {
    Answered(Reply),
    Running(Running, Request<'d>),
}

/// A call that no longer needs the body and the document of its request.
struct Running {
    prepared: Prepared,
    /// The channel for notifications, if the client asked for them.
    channel: Option<Channel>,
    /// The number of bytes of the request that the call keeps.
    kept: usize,
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
        let head = Rc::new(BoundedRequest::new(request.clone(), self.limits.header, host.clone()));
        let mut line = LogLine::new(head.clone(), started);
        let received = Received { url: head.url(), head, host, started, is_stream_only: Cell::new(false) };
        let origin = received.head.standard_header("origin");
        let is_allowed = |origin: &str| self.origins.allows(origin) || self.access.is_own_origin(origin);
        let allowed_origin = origin.as_ref().ok().and_then(Option::as_deref).filter(|origin| is_allowed(origin));
        if let Some(origin) = allowed_origin {
            cors::keep_for_crash(origin, host);
        }
        let allowed_origin = allowed_origin.map(str::to_owned);
        let answer = match origin {
            Ok(origin) => {
                let passes = origin.is_none() || allowed_origin.is_some();
                self.answer(&received, &*request, passes, &mut line).await
            }
            Err(too_long) => Err(too_long),
        };
        let (mut reply, is_logged) = match answer {
            Ok(LoggedBy::Pipeline(reply)) => (reply, false),
            Ok(LoggedBy::Task(reply)) => (reply, true),
            Err(error) => {
                line.error(Some(error.error.code));
                (error.into_reply(), false)
            }
        };
        if received.is_stream_only.get() {
            reply = reply.into_stream();
        }
        if let Some(origin) = allowed_origin {
            reply = cors::with_headers(&origin, reply);
        }
        if !is_logged {
            line.write(*self.log, reply.status().as_u16(), host);
        }
        reply
    }

    /// Answers a request to any path, or returns the error that rejects it.
    async fn answer(
        &self,
        received: &Received<'_>,
        body: &impl host::Request,
        origin_passes: bool,
        line: &mut LogLine,
    ) -> Result<LoggedBy, Box<HttpError>> {
        let Received { head, url, host, .. } = received;
        let path = path_of(url);
        let is_other_path = path != self.path && path.strip_suffix('/').is_none_or(|path| path != self.path);
        #[cfg(feature = "page")]
        let is_other_path = is_other_path || self.landing_page(head, path)?.is_some();
        if is_other_path {
            let response = self.answer_other_path(received, body, origin_passes).boxed_local().await?;
            return Ok(LoggedBy::Pipeline(response.into()));
        }
        if !origin_passes {
            return Err(foreign_origin());
        }
        let method = head.method();
        if method != "POST" {
            let has_page = cfg!(feature = "page") && *self.has_page;
            return other_methods::answer(head, &method, has_page).map(|response| LoggedBy::Pipeline(response.into()));
        }
        let Media { announced, is_stream_only } = guard::check(head, self.limits.body)?;
        received.is_stream_only.set(is_stream_only);
        let principal = self.access.authenticate(head, url, &self.path, host, line).await?;
        let (body, reservation) = body::read(body, announced, &self.limits, received.started, host).await?;
        self.answer_message(received, principal, body, reservation, line).await
    }

    /// Answers the JSON-RPC message or batch in `body`.
    async fn answer_message(
        &self,
        received: &Received<'_>,
        principal: Option<Principal>,
        body: Vec<u8>,
        mut reservation: Reservation,
        line: &mut LogLine,
    ) -> Result<LoggedBy, Box<HttpError>> {
        let document = Document::parse(&body, self.limits.json).map_err(|error| body::not_json(&body, &error))?;
        let classified = classify(document.root(), &received.head, &self.limits)?;
        match classified {
            Classified::NoRequest(era) => {
                line.era(era);
                Ok(LoggedBy::Pipeline(accepted()))
            }
            Classified::Batch(requests, revision) => {
                line.batch();
                line.era(revision.era());
                self.access
                    .count_batch(principal.as_ref(), &received.head, requests.len(), received.host)
                    .boxed_local()
                    .await?;
                let info = self.request_info(received.head.clone(), principal, ClientDetails::default());
                let calls = self.begin_batch(&requests, revision, &info, received, line)?;
                reservation.set(requests.iter().map(|request| request.id.as_json().len()).sum());
                drop(requests);
                drop(document);
                drop(body);
                let reply = respond_to_batch(calls, &self.limits, line).boxed_local().await;
                Ok(LoggedBy::Pipeline(reply))
            }
            Classified::Request(request) => {
                let (mut running, request) = match self.begin(*request, principal, received, line)? {
                    Begun::Answered(reply) => return Ok(LoggedBy::Pipeline(reply)),
                    Begun::Running(running, request) => (running, request),
                };
                // A call with a channel runs in a task. Some futures keep the waker of their first poll, so only this task may poll them.
                if running.channel.is_none() {
                    running.prepared.start().await;
                }
                running.prepared.detach(&request);
                drop(request);
                // A call that waits must not keep the body and the document in memory.
                drop(document);
                drop(body);
                reservation.set(running.kept);
                self.finish(running, reservation, received, line).await
            }
        }
    }

    /// Builds the server, checks scopes and headers, and reads the parameters.
    #[inline(never)]
    fn begin<'d>(
        &self,
        request: VersionedRequest<'d>,
        principal: Option<Principal>,
        received: &Received<'_>,
        line: &mut LogLine,
    ) -> Result<Begun<'d>, Box<HttpError>> {
        let VersionedRequest { request, revision, capabilities } = request;
        let Received { head, url, host, .. } = received;
        let meta: Option<Box<str>> = request.meta.map(|meta| meta.text().into());
        let kept = request.id.as_json().len().saturating_add(meta.as_deref().map_or(0, str::len));
        let trace = Trace::of(request.meta, self.telemetry.as_ref(), host);
        line.request(&request, trace.as_deref().and_then(Trace::id));
        line.era(revision.era());
        crash::keep(host, [&request.id], false, line);
        let info = self.request_info(head.clone(), principal, ClientDetails::new(meta, declared(&request, revision)));
        let server = self.build(&info, Some(&request.id), host)?;
        let resolved = Resolved::new(&request, &server, revision);
        self.authorize(slice::from_ref(&resolved), info.checked_caller(), url)
            .map_err(|error| error.with_id(Some(request.id.clone())))?;
        line.target(&resolved);
        if resolved.method == Some(Method::Listen) && !resolved.listens_to_tasks() && !self.json_only {
            let refused = |error| HttpError::rpc(StatusCode::OK, Some(request.id.clone()), error);
            return listen::answer(&request, &server).map(|response| Begun::Answered(response.into())).map_err(refused);
        }
        check_headers(head, &resolved, &request, revision.era())
            .map_err(|error| error.with_id(Some(request.id.clone())))?;
        let requested = self.requested_notifications(&request, resolved.notifies(), &server, revision, head)?;
        let has_channel = !requested.is_empty() || (resolved.listens_to_tasks() && !self.json_only);
        let notifications = has_channel
            .then(|| sse_task::open(host, requested, server.definitions.info.name.clone(), self.limits.output));
        let (of_context, channel) = notifications.unzip();
        let rounds = Rounds::new(capabilities, self.limits.state);
        let of_request = OfRequest::new(info, request.id.clone(), revision, (*host).clone(), rounds);
        let cx = Context::new(OfRequest { trace, live: of_context, ..of_request }, Some(Rc::new(server.clone())));
        let (keys, response_limit) = (self.state_keys.clone(), self.limits.output);
        let call = Call { server, cx, method: resolved.method, keys, response_limit };
        let prepared = rpc::prepare(call, &request, resolved.target);
        Ok(Begun::Running(Running { prepared, channel, kept }, request))
    }

    /// Runs a call to its end. Only a call with a channel can be answered by a stream.
    async fn finish(
        &self,
        Running { prepared, channel, .. }: Running,
        reservation: Reservation,
        received: &Received<'_>,
        line: &mut LogLine,
    ) -> Result<LoggedBy, Box<HttpError>> {
        if let Some(channel) = channel {
            let job = Job {
                prepared,
                line: std::mem::take(line),
                policy: *self.log,
                reservation,
                waiting_answers: self.limits.waiting_answers(),
            };
            return Ok(LoggedBy::Task(sse_task::answer(job, channel, received.host).boxed_local().await));
        }
        let Answered { status, message, error, .. } = respond(prepared, None).await;
        drop(reservation);
        line.error(error);
        Ok(LoggedBy::Pipeline(Reply::Json(status, message)))
    }

    /// Checks the scopes of all requests of a batch, and reads their parameters.
    #[inline(never)]
    fn begin_batch(
        &self,
        requests: &[Request<'_>],
        revision: Revision,
        info: &RequestInfo,
        received: &Received<'_>,
        line: &mut LogLine,
    ) -> Result<Vec<Prepared>, Box<HttpError>> {
        let Received { url, host, .. } = received;
        crash::keep(host, requests.iter().map(|request| &request.id), true, line);
        let server = self.build(info, None, host)?;
        let resolved: Vec<_> = requests.iter().map(|request| Resolved::new(request, &server, revision)).collect();
        // All requests of a batch share one status, so the scopes of all are checked before any of them runs.
        self.authorize(&resolved, info.checked_caller(), url)?;
        for (resolved, request) in resolved.iter().zip(requests) {
            line.target(resolved);
            check_headers(&received.head, resolved, request, revision.era())?;
        }
        // The responses of a batch share one limit.
        let response_limit = self.limits.output.checked_div(requests.len()).unwrap_or_default();
        let prepare = |(request, resolved): (&Request<'_>, Resolved)| {
            let rounds = Rounds::new(ClientCapabilities::default(), self.limits.state);
            let meta = request.meta.map(|meta| meta.text().into());
            let info = info.of_message(ClientDetails::new(meta, declared(request, revision)));
            let of_request = OfRequest::new(info, request.id.clone(), revision, (*host).clone(), rounds);
            let trace = Trace::of(request.meta, self.telemetry.as_ref(), host);
            let cx = Context::new(OfRequest { trace, ..of_request }, Some(Rc::new(server.clone())));
            let (server, method) = (server.clone(), resolved.method);
            let call = Call { server, cx, method, keys: self.state_keys.clone(), response_limit };
            rpc::prepare(call, request, resolved.target)
        };
        Ok(requests.iter().zip(resolved).map(prepare).collect())
    }

    /// Returns the notifications that the client asked for. Returns an empty set if the method does not send notifications, or if the
    /// client does not accept a stream.
    #[inline(never)]
    fn requested_notifications(
        &self,
        request: &Request<'_>,
        notifies: bool,
        server: &McpServer,
        revision: Revision,
        head: &BoundedRequest,
    ) -> Result<RequestedNotifications, Box<HttpError>> {
        let nothing = RequestedNotifications::default();
        if !notifies {
            return Ok(nothing);
        }
        let mut requested = RequestedNotifications::of(request.meta)
            .map_err(|error| HttpError::rpc(status_of(revision.era(), error.code), Some(request.id.clone()), error))?;
        requested.log_level = match revision.era() {
            Era::Modern => requested.log_level.filter(|_| server.definitions.logging.is_some()),
            Era::Legacy => server.definitions.logging,
        };
        if requested.is_empty() || self.json_only {
            return Ok(nothing);
        }
        let accept = head.standard_header("accept")?;
        let accepts_streams = accept.is_some_and(|accept| guard::names(&accept, "text/event-stream"));
        Ok(if accepts_streams { requested } else { nothing })
    }

    /// Checks that `caller` has the scopes of all requests.
    #[inline(never)]
    pub(super) fn authorize(
        &self,
        requests: &[Resolved],
        caller: Option<&Principal>,
        url: &str,
    ) -> Result<(), Box<HttpError>> {
        let mut needed = Vec::new();
        for request in requests {
            for scope in request.scopes() {
                if !needed.contains(scope) {
                    needed.push(scope.clone());
                }
            }
        }
        self.access.authorize(caller, &needed, url, &self.path)
    }

    /// Calls the server function. The server hides the items that this caller must not see.
    ///
    /// # Errors
    /// 503 if the server function fails, or if a tool needs a state key or durable tasks that the endpoint does not have. The cause is in the log.
    pub(super) fn build(
        &self,
        info: &RequestInfo,
        id: Option<&RequestId>,
        host: &Rc<dyn Host>,
    ) -> Result<McpServer, Box<HttpError>> {
        let server = self.server_for(info);
        if let Ok(server) = &server {
            for problem in &server.definitions.warnings {
                warning::once(host, "definition", problem);
            }
        }
        let server = server.map_err(|error| {
            failure::log(host, "server", &error.to_string());
            let error = RpcError::new(ErrorCode::Internal, "This server has an invalid definition. Its log says why.");
            HttpError::rpc(StatusCode::SERVICE_UNAVAILABLE, id.cloned(), error)
        })?;
        let definitions = &server.definitions;
        let problem = match &**self.state_keys {
            Err(problem) if definitions.requires_approval() => Some(format!("a tool requires approval, and {problem}")),
            Err(problem) if definitions.has_tasks() && self.has_task_objects() => {
                Some(format!("a tool has durable tasks, and {problem}"))
            }
            Err(problem) if definitions.passed_tasks.is_some() => {
                Some(format!("the server passes tasks on, and {problem}"))
            }
            _ if definitions.requires_tasks() && !self.has_task_objects() => {
                Some("a tool can only answer with a durable task, and the binding MCP_TASKS is missing".to_owned())
            }
            _ => None,
        };
        match problem {
            Some(problem) => Err(misconfigured(host, &problem, true).with_id(id.cloned())),
            None => Ok(server.with_task_service(self.has_task_objects())),
        }
    }
}

/// Checks the headers that repeat the arguments of a tool, or the target of a method of an extension.
fn check_headers(
    head: &BoundedRequest,
    resolved: &Resolved,
    request: &Request<'_>,
    era: Era,
) -> Result<(), Box<HttpError>> {
    if let Some(tool) = resolved.tool() {
        request_headers::check_params(head, tool, request, era)?;
    }
    match resolved.extension_method().and_then(|method| method.target.as_deref()) {
        Some(param) => request_headers::check_name(head, param, request, era),
        None => Ok(()),
    }
}

/// Returns the place in which the client of a request declares its capabilities.
fn declared(request: &Request<'_>, revision: Revision) -> CapabilitySource {
    match request.known_method {
        _ if revision.era() == Era::Modern => CapabilitySource::InMeta,
        Some(Method::Initialize) => {
            let capabilities = request.param("capabilities");
            capabilities
                .map_or(CapabilitySource::Nowhere, |capabilities| CapabilitySource::Here(capabilities.text().into()))
        }
        _ => CapabilitySource::Nowhere,
    }
}

/// Returns the 403 for a request of a web page that may not call the endpoint.
#[cold]
pub(super) fn foreign_origin() -> Box<HttpError> {
    HttpError::http(
        StatusCode::FORBIDDEN,
        "Pages of this origin may not call this server. Its configuration can allow them.",
    )
}
