//! The way of a request: each check in its place.
//!
//! Path, origin, method, media types, announced length; who calls; the body; JSON; what the message is and in which
//! revision; the server; the scopes of what is used; the method. Nothing is read before the check that could make it needless.
//!
//! What few requests need is in a box: an engine compiles a function when it is first called, and this one is called by all.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use http::{HeaderMap, Response, StatusCode};

use super::auth_failure::misconfigured;
use super::bounded_head::BoundedHead;
use super::endpoint::Endpoint;
use super::era::{Classified, Opened, classify};
use super::http_error::{HttpError, status_of};
use super::in_flight::Reservation;
use super::json_answer::{Answered, accepted, json_response, respond, respond_to_batch};
use super::limits::Limits;
use super::listen;
use super::log_line::LogLine;
use super::sse_task::{self, Job};
use super::stream::Body;
use super::{cors, crash, guard, landing, request_headers, server_json, well_known};
use crate::auth::Principal;
use crate::call::context::{Context, Parts};
use crate::call::failure;
use crate::call::request_info::RequestInfo;
use crate::host::{BodyError, Host, RequestBody, RequestHead, path_of, warning};
use crate::json::{Document, JsonError};
use crate::limits::BODY_SECONDS;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::{Request, RequestId, error_response};
use crate::protocol::meta::{self, Wishes};
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Revision};
use crate::rpc::{self, Call, CallLimits, Prepared, Resolved};
use crate::server::builder::McpServer;

impl Endpoint {
    /// Answers one request.
    pub async fn handle(&self, head: Rc<dyn RequestHead>, body: impl RequestBody, host: &Host) -> Response<Body> {
        let started = host.clock.now_ms();
        let head = Rc::new(BoundedHead::new(head, self.limits.header));
        let mut line = LogLine::new(head.request_id());
        let origin = head.header("origin");
        let passes = |origin: &str| self.origins.allows(origin) || self.access.is_own_origin(origin);
        let origin_passes = origin.as_deref().is_none_or(passes);
        if let Some(origin) = origin.as_deref().filter(|_| origin_passes) {
            let mut headers = HeaderMap::new();
            cors::allow(origin, &mut headers);
            host.tasks.keep_crash_headers(&headers);
        }
        let answer = self.answer(&head, body, host, origin_passes, &mut line, started).await;
        let answer = answer.map_err(|refusal| head.check().err().unwrap_or(refusal));
        let (mut response, is_logged) = match answer {
            Ok(Answer::Whole(response)) => (response, false),
            Ok(Answer::Live(response)) => (response, true),
            Err(refusal) => {
                line.error(Some(refusal.error.code));
                let mut response = json_response(refusal.status, error_response(refusal.id.as_ref(), &refusal.error));
                response.headers_mut().extend(refusal.headers);
                (response, false)
            }
        };
        if let Some(origin) = origin.filter(|_| origin_passes) {
            cors::allow(&origin, response.headers_mut());
        }
        if !is_logged {
            line.write(response.status().as_u16(), started, host);
        }
        response
    }

    async fn answer(
        &self,
        head: &Rc<BoundedHead>,
        body: impl RequestBody,
        host: &Host,
        origin_passes: bool,
        line: &mut LogLine,
        started: u64,
    ) -> Result<Answer, Box<HttpError>> {
        let url = head.url();
        let path = path_of(&url);
        let is_page = self.has_page && landing::is_asked_for(&**head, path);
        if path != self.path && !is_page {
            return self.beside(head, &url, host).boxed_local().await.map(Answer::Whole);
        }
        if !origin_passes {
            return Err(HttpError::http(
                StatusCode::FORBIDDEN,
                "Pages of this origin may not call this server. Its configuration can allow them.",
            ));
        }
        if is_page {
            return self.page(head, &url, host).boxed_local().await.map(Answer::Whole);
        }
        let method = head.method();
        if method == "OPTIONS" {
            return Ok(Answer::Whole(cors::preflight(&**head)));
        }
        let announced = guard::check(&**head, &method, self.limits.body)?;
        let principal = self.access.authenticate(&**head, &url, &self.path, host, line).await?;
        let (body, mut reservation) = self.read(body, announced, host).await?;
        let document = Document::parse(&body, self.limits.json).map_err(|error| not_json(&body, &error))?;
        let classified = classify(document.root(), &**head, &self.limits)?;
        head.check()?;
        let info = RequestInfo::new(head.clone(), principal);
        match classified {
            Classified::Nothing(era) => {
                line.era(era);
                Ok(Answer::Whole(accepted()))
            }
            Classified::Batch(requests, revision) => {
                line.batch();
                line.era(revision.era());
                crash::keep(host, requests.iter().map(|request| &request.id), true, line);
                let calls = self.prepare_batch(&requests, revision, &info, &url, host)?;
                reservation.set(requests.iter().map(|request| request.id.as_json().len()).sum());
                drop(requests);
                drop(document);
                drop(body);
                Ok(Answer::Whole(respond_to_batch(calls, self.limits.concurrent, line).boxed_local().await))
            }
            Classified::Request(opened) => {
                let Opened { request, revision, client, capabilities } = *opened;
                let meta = meta::text(request.params);
                let kept = request.id.as_json().len().saturating_add(meta.as_deref().map_or(0, str::len));
                let traceparent = meta::traceparent(request.params).map(|parent| parent.into_owned().into_boxed_str());
                line.request(&request, traceparent.as_deref());
                line.era(revision.era());
                crash::keep(host, [&request.id], false, line);
                let server = self.build(&info, Some(&request.id), host)?;
                let resolved = Resolved::new(&request, &server, revision);
                self.authorize([&resolved], info.caller(), &url)
                    .map_err(|refusal| refusal.with_id(Some(request.id.clone())))?;
                if resolved.method == Some(Method::Listen) && !self.json_only {
                    let refused = |error| HttpError::rpc(StatusCode::OK, Some(request.id.clone()), error);
                    return listen::answer(&request, &server).map(Answer::Whole).map_err(refused);
                }
                if let Some(tool) = resolved.tool().filter(|_| revision.era() == Era::Modern) {
                    let id = || Some(request.id.clone());
                    request_headers::params_agree(&**head, tool, &request)
                        .map_err(|error| HttpError::message(id(), error))?;
                }
                head.check()?;
                let wishes = self.wishes(&request, resolved.method, &server, revision, &**head)?;
                let opened = (!wishes.is_empty())
                    .then(|| sse_task::open(host, wishes, server.definitions.info.name.clone(), self.limits.output));
                let (notifying, channel) = opened.unzip();
                let resource = self.access.resource.url.as_ref().map(|url| url.as_str().into());
                let parts = Parts::new(info, request.id.clone(), revision, host.clone());
                let parts = Parts {
                    client,
                    capabilities,
                    meta,
                    traceparent,
                    resource,
                    state_limit: self.limits.state,
                    live: notifying,
                    ..parts
                };
                let cx = Context::new(parts, Some(Rc::new(server.clone())));
                let limits = CallLimits { response: self.limits.output, state: self.limits.state };
                let call = Call::new(resolved.method, server, cx, self.state_keys.clone(), limits);
                let mut prepared = rpc::prepare(call, &request, resolved.target);
                // A call with a channel is run by a task of its own, and no other must poll its handler.
                if channel.is_none() {
                    prepared.start().await;
                }
                prepared.detach(&request);
                // A call that waits holds neither its body nor the document.
                reservation.set(kept);
                drop(request);
                drop(document);
                drop(body);
                if let Some(channel) = channel {
                    let job = Job { prepared, line: std::mem::take(line), started, reservation };
                    return Ok(Answer::Live(sse_task::answer(job, channel, host).boxed_local().await));
                }
                let Answered { status, message, error } = respond(prepared).await;
                line.error(error);
                Ok(Answer::Whole(json_response(status, message)))
            }
        }
    }

    /// Answers a request to another path than the endpoint's: the metadata documents.
    async fn beside(&self, head: &Rc<BoundedHead>, url: &str, host: &Host) -> Result<Response<Body>, Box<HttpError>> {
        let path = path_of(url);
        let own_url = self.access.resource_url(url, &self.path);
        if let Some(answer) = well_known::answer(&self.access.resource, own_url.as_deref(), path, &head.method()) {
            return answer;
        }
        if path == server_json::PATH {
            return self.server_json(head, url, host).await;
        }
        let message = format!("Nothing is here; the server is at {}.", self.path);
        Err(HttpError::http(StatusCode::NOT_FOUND, message))
    }

    /// The page for people, of the server as nobody in particular finds it.
    async fn page(&self, head: &Rc<BoundedHead>, url: &str, host: &Host) -> Result<Response<Body>, Box<HttpError>> {
        self.access.admit_anyone(&**head, url, &self.path, host).await?;
        let server = self.build(&RequestInfo::new(head.clone(), None), None, host)?;
        let own_url = self.access.resource_url(url, &self.path);
        Ok(landing::answer(&server.definitions.info, &self.path, own_url.as_deref(), &head.method()))
    }

    /// The notifications that the client wants while its request is answered: those it has asked for, if it takes a stream.
    fn wishes(
        &self,
        request: &Request<'_>,
        method: Option<Method>,
        server: &McpServer,
        revision: Revision,
        head: &dyn RequestHead,
    ) -> Result<Wishes, Box<HttpError>> {
        let takes_streams = || head.header("accept").is_some_and(|accept| guard::names(&accept, "text/event-stream"));
        if !method.is_some_and(Method::notifies) {
            return Ok(Wishes::default());
        }
        let mut wishes = Wishes::of(request.params)
            .map_err(|error| HttpError::rpc(status_of(revision.era(), error.code), Some(request.id.clone()), error))?;
        wishes.log_level = match revision.era() {
            Era::Modern => wishes.log_level.filter(|_| server.definitions.logging.is_some()),
            Era::Legacy => server.definitions.logging,
        };
        let are_sent = !wishes.is_empty() && !self.json_only && takes_streams();
        Ok(if are_sent { wishes } else { Wishes::default() })
    }

    /// Reads the body, if there is room for it. Without a length that is `announced`, room is made for the longest.
    async fn read(
        &self,
        body: impl RequestBody,
        announced: Option<usize>,
        host: &Host,
    ) -> Result<(Vec<u8>, Reservation), Box<HttpError>> {
        let Limits { body: most, in_flight, .. } = self.limits;
        let mut reservation = Reservation::new(announced.unwrap_or(most), in_flight, host.clock.now_ms())?;
        let body = in_time(body.read(most), host).await?.map_err(|error| match error {
            BodyError::TooLarge => guard::too_large(self.limits.body),
            BodyError::Broken(cause) => {
                failure::log(host, "body", &cause);
                HttpError::http(StatusCode::BAD_REQUEST, "The body ended before it was complete.")
            }
        })?;
        reservation.set(body.len());
        Ok((body, reservation))
    }

    /// Reads the parameters of all requests of a batch.
    fn prepare_batch(
        &self,
        requests: &[Request<'_>],
        revision: Revision,
        info: &RequestInfo,
        url: &str,
        host: &Host,
    ) -> Result<Vec<Prepared>, Box<HttpError>> {
        let server = self.build(info, None, host)?;
        let resolved: Vec<_> = requests.iter().map(|request| Resolved::new(request, &server, revision)).collect();
        // Before any request is answered, since all of them share one status.
        self.authorize(&resolved, info.caller(), url)?;
        // They share what may be sent.
        let response = self.limits.output.checked_div(requests.len()).unwrap_or_default();
        let limits = CallLimits { response, state: self.limits.state };
        let prepare = |(request, resolved): (&Request<'_>, Resolved)| {
            let parts = Parts::new(info.clone(), request.id.clone(), revision, host.clone());
            let cx = Context::new(parts, Some(Rc::new(server.clone())));
            let call = Call::new(resolved.method, server.clone(), cx, self.state_keys.clone(), limits);
            rpc::prepare(call, request, resolved.target)
        };
        Ok(requests.iter().zip(resolved).map(prepare).collect())
    }

    /// Checks that `caller` has the scopes of all requests.
    fn authorize<'r>(
        &self,
        requests: impl IntoIterator<Item = &'r Resolved>,
        caller: Option<&Principal>,
        url: &str,
    ) -> Result<(), Box<HttpError>> {
        let mut needed = Vec::new();
        for scope in requests.into_iter().flat_map(Resolved::scopes) {
            if !needed.contains(scope) {
                needed.push(scope.clone());
            }
        }
        self.access.authorize(caller, &needed, url, &self.path)
    }

    pub(super) fn build(
        &self,
        info: &RequestInfo,
        id: Option<&RequestId>,
        host: &Host,
    ) -> Result<McpServer, Box<HttpError>> {
        let server = (self.server)(info).map(|server| server.for_caller(info));
        for problem in server.iter().flat_map(|server| &server.definitions.warnings) {
            warning::once(host, "definition", problem);
        }
        let server = server.map_err(|error| {
            failure::log(host, "server", &error.to_string());
            let error =
                RpcError::new(ErrorCode::Internal, "This server cannot be built as it is defined. Its log says why.");
            HttpError::rpc(StatusCode::SERVICE_UNAVAILABLE, id.cloned(), error)
        })?;
        match &*self.state_keys {
            Err(problem) if server.definitions.requires_approval() => {
                let problem = format!("a tool requires approval, and {problem}");
                Err(misconfigured(host, &problem, true).with_id(id.cloned()))
            }
            _ => Ok(server),
        }
    }
}

/// An answer, and whether its log line is written by whoever makes it.
enum Answer {
    Whole(Response<Body>),
    Live(Response<Body>),
}

/// Bytes that are no JSON, or JSON that is refused as a whole: of the latter the id can be read.
fn not_json(body: &[u8], error: &JsonError) -> Box<HttpError> {
    let id = RequestId::of_refused(body);
    let code = match error {
        JsonError::NotUtf8 | JsonError::Syntax { .. } => ErrorCode::Parse,
        _ => ErrorCode::InvalidRequest,
    };
    HttpError::message(id, RpcError::new(code, format!("The message cannot be read: {error}.")))
}

/// Waits for a body that is being read, for as long as one may take to arrive. Most are there already, and then no timer is needed.
async fn in_time<T>(reading: impl Future<Output = T>, host: &Host) -> Result<T, Box<HttpError>> {
    let mut reading = pin!(reading);
    if let Poll::Ready(body) = futures::poll!(&mut reading) {
        return Ok(body);
    }
    match select(reading, host.timer.sleep(Duration::from_secs(BODY_SECONDS))).await {
        Either::Left((body, _)) => Ok(body),
        Either::Right(_) => Err(HttpError::http(
            StatusCode::REQUEST_TIMEOUT,
            format!("The body has not arrived within {BODY_SECONDS} s. Send it again."),
        )),
    }
}
