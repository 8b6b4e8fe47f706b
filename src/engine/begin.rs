//! The one way of a message into the server of its caller.

use std::rc::Rc;
use std::slice;

use super::call::MethodCall;
use super::choice::Choice;
use super::head::BoundedRequest;
use super::header_params;
use super::limits::Limits;
use super::message::{Attempt, Caller, Message};
use super::methods;
use super::refusal::{Refusal, misconfigured};
use super::running::{NotificationReceiver, Running};
use super::target::Target;
use crate::auth::{Principal, StateKeys};
use crate::call::client_extensions::ClientDetails;
use crate::call::connection::ClientConnection;
use crate::call::context::Context;
use crate::call::exchange::{Exchange, Live};
use crate::call::notifications::Outbox;
use crate::call::request_info::{ExposedHeaders, RequestInfo, Services};
use crate::call::rounds::Rounds;
use crate::call::state::State;
use crate::call::task_info::TaskService;
use crate::call::trace::{Trace, Tracer};
use crate::config::ConfigError;
use crate::host::{Host, TaskObjects, log};
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::Request;
use crate::protocol::meta::RequestedNotifications;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;
use crate::server::access::has_scopes;
use crate::server::build_error::BuildError;
use crate::server::builder::McpServer;
use crate::text::Text;

pub(crate) type ServerFunction = Box<dyn Fn(&RequestInfo) -> Result<McpServer, BuildError>>;
pub(crate) type EachRequest = Box<dyn Fn(&RequestInfo) -> Result<(), BuildError>>;

/// The part of an endpoint that does not depend on HTTP.
pub(crate) struct Engine {
    pub server: ServerFunction,
    pub each: Vec<EachRequest>,
    pub state: State,
    pub exposed: ExposedHeaders,
    /// The configured URL of the server.
    pub url: Option<Box<str>>,
    pub limits: Limits,
    pub telemetry: Option<Rc<dyn Tracer>>,
    pub state_keys: Choice<Rc<Result<StateKeys, ConfigError>>>,
    pub task_objects: Choice<Option<Rc<dyn TaskObjects>>>,
    /// The version of the program that is deployed, if it is known.
    pub version: Option<String>,
    /// Whether no answer is a stream.
    pub json_only: bool,
}

impl Engine {
    /// Creates an engine without keys, tasks and telemetry.
    pub(crate) fn new(server: ServerFunction) -> Self {
        Self {
            server,
            each: Vec::new(),
            state: State::default(),
            exposed: ExposedHeaders::default(),
            url: None,
            limits: Limits::default(),
            telemetry: None,
            state_keys: Choice::new(Rc::new(StateKeys::from_text("MCP_STATE_KEY", None))),
            task_objects: Choice::new(None),
            version: None,
            json_only: false,
        }
    }

    /// Returns the place of a request in a trace.
    pub(crate) fn trace(&self, request: &Request<'_>, host: &Rc<dyn Host>) -> Option<Rc<Trace>> {
        Trace::of(request.meta, self.telemetry.as_ref(), host)
    }

    /// Begins the call of a message: builds the server, checks what must hold before the method runs, and reads the parameters.
    #[inline(never)]
    pub(crate) fn begin(
        &self,
        message: &Message<'_>,
        caller: Caller,
        trace: Option<Rc<Trace>>,
    ) -> Result<Running, Refusal> {
        let Caller { head, principal, host, accepts_stream, attempt } = caller;
        let info = self.request_info(head.clone(), principal, client(message));
        let server = self.build(&info, &host)?;
        let target = Target::of(message, &server);
        // The headers of the request that created a task are not stored.
        let mirrors = attempt.is_none().then_some(&*head);
        check(slice::from_ref(message), slice::from_ref(&target), &info, mirrors)?;
        let (live, receiver) = self.open(message, &target, &server, accepts_stream, &host)?.unzip();
        let response_limit = attempt.as_ref().map_or(self.limits.output, |attempt| attempt.response_limit);
        let parts = CallParts { info, trace, live, attempt, response_limit };
        Ok(Running { receiver, ..self.assemble(message, target, server, parts, host) })
    }

    /// Begins the calls of a batch, like [`begin`](Self::begin). Nothing runs if one of them is refused, because they have one status.
    #[inline(never)]
    pub(crate) fn begin_batch(&self, messages: &[Message<'_>], caller: Caller) -> Result<Vec<Running>, Refusal> {
        let Caller { head, principal, host, .. } = caller;
        let info = self.request_info(head.clone(), principal, ClientDetails::default());
        let server = self.build(&info, &host)?;
        let targets: Vec<_> = messages.iter().map(|message| Target::of(message, &server)).collect();
        check(messages, &targets, &info, Some(&head))?;
        // The responses of a batch share one limit.
        let response_limit = self.limits.output.checked_div(messages.len()).unwrap_or_default();
        let begin = |(message, target): (&Message<'_>, Target)| {
            let (info, trace) = (info.of_message(client(message)), self.trace(&message.request, &host));
            let parts = CallParts { info, trace, live: None, attempt: None, response_limit };
            self.assemble(message, target, server.clone(), parts, host.clone())
        };
        Ok(messages.iter().zip(targets).map(begin).collect())
    }

    /// Assembles a call. Every call of a client and every attempt of a task is made here.
    fn assemble(
        &self,
        message: &Message<'_>,
        target: Target,
        server: McpServer,
        CallParts { info, trace, live, attempt, response_limit }: CallParts,
        host: Rc<dyn Host>,
    ) -> Running {
        let mut rounds = Rounds::new(message.capabilities, self.limits.state);
        if let Some(Attempt { journal, earlier, .. }) = attempt {
            rounds.resume(earlier);
            rounds = rounds.with_journal(journal);
        }
        let exchange = Exchange {
            request: info,
            id: message.request.id.clone(),
            revision: message.revision,
            host,
            rounds: Rc::new(rounds),
            trace,
            live,
        };
        let cx = Context::new(exchange, Some(Rc::new(server.clone())));
        methods::begin(MethodCall { server, cx, method: target.method, response_limit }, &message.request, target)
    }

    /// Opens the way of notifications to the client, if it asked for them and the method sends some.
    #[inline(never)]
    fn open(
        &self,
        message: &Message<'_>,
        target: &Target,
        server: &McpServer,
        accepts_stream: bool,
        host: &Rc<dyn Host>,
    ) -> Result<Option<(Live, NotificationReceiver)>, Refusal> {
        let listens = target.method == Some(Method::Listen);
        let mut requested = RequestedNotifications::default();
        if target.notifies() {
            requested = RequestedNotifications::of(message.request.meta).map_err(Refusal::Meta)?;
            requested.log_level = match message.revision.era() {
                Era::Modern => requested.log_level.filter(|_| server.definitions.logging.is_some()),
                Era::Legacy => server.definitions.logging,
            };
        }
        // The answer to `subscriptions/listen` is always a stream.
        if self.json_only || !(listens || accepts_stream && !requested.is_empty()) {
            return Ok(None);
        }
        let (outbox, notifications) = Outbox::new(requested, self.limits.output, host.clone());
        let connection = Rc::<ClientConnection>::default();
        let logger: Text = server.definitions.info.name.clone();
        let live = Live { outbox, logger, connection: connection.clone(), is_watched: false.into() };
        Ok(Some((live, NotificationReceiver { notifications, connection })))
    }

    /// Creates the information about a request.
    pub(crate) fn request_info(
        &self,
        head: Rc<dyn crate::host::Request>,
        principal: Option<Principal>,
        client: ClientDetails,
    ) -> RequestInfo {
        let services = Services {
            state: self.state.clone(),
            tasks: self.task_service(),
            state_keys: Some((*self.state_keys).clone()),
            url: self.url.clone(),
            exposed: self.exposed,
        };
        RequestInfo::of_endpoint(head, principal, client, false, services)
    }

    fn task_service(&self) -> Option<TaskService> {
        let objects = (*self.task_objects).clone()?;
        Some(TaskService { objects, keys: self.state_keys.clone() })
    }

    /// Runs the functions of [`Endpoint::each`](crate::Endpoint::each), and builds the server with all items.
    pub(crate) fn server_for_all(&self, request: &RequestInfo) -> Result<McpServer, BuildError> {
        for prepare in &self.each {
            prepare(request)?;
        }
        Ok((self.server)(request)?.with_task_service(self.task_objects.is_some()))
    }

    /// Builds the server. It hides the items that this caller must not see.
    ///
    /// # Errors
    /// The server function fails, or a tool needs a state key or durable tasks that the endpoint does not have. The cause is in the log.
    pub(crate) fn build(&self, info: &RequestInfo, host: &Rc<dyn Host>) -> Result<McpServer, Refusal> {
        let server = self.server_for_all(info).map(|server| server.for_caller(info)).map_err(|error| {
            log::failure(host, "server", &error.to_string());
            let error = RpcError::new(ErrorCode::Internal, "This server has an invalid definition. Its log says why.");
            Refusal::Unavailable(error)
        })?;
        let definitions = &server.definitions;
        for problem in &definitions.warnings {
            log::warning_once(host, "definition", problem);
        }
        let has_tasks = self.task_objects.is_some();
        let problem = match &**self.state_keys {
            Err(problem) if definitions.requires_approval() => Some(format!("a tool requires approval, and {problem}")),
            Err(problem) if definitions.has_tasks() && has_tasks => {
                Some(format!("a tool has durable tasks, and {problem}"))
            }
            Err(problem) if definitions.passed_tasks.is_some() => {
                Some(format!("the server passes tasks on, and {problem}"))
            }
            _ if definitions.requires_tasks() && !has_tasks => {
                Some("a tool can only answer with a durable task, and the binding MCP_TASKS is missing".to_owned())
            }
            _ => None,
        };
        match problem {
            Some(problem) => Err(Refusal::Unavailable(misconfigured(host, &problem, true))),
            None => Ok(server),
        }
    }
}

/// The parts of a call that differ between a request, a message of a batch and an attempt.
struct CallParts {
    info: RequestInfo,
    trace: Option<Rc<Trace>>,
    live: Option<Live>,
    attempt: Option<Attempt>,
    response_limit: usize,
}

/// Describes the client of a message.
fn client(message: &Message<'_>) -> ClientDetails {
    ClientDetails::new(message.request.meta.map(|meta| meta.text().into()), message.declared.clone())
}

/// Checks what must hold before a method runs: the caller has the scopes of all messages, and the headers of `head` repeat the arguments of their
/// tools.
#[inline(never)]
fn check(
    messages: &[Message<'_>],
    targets: &[Target],
    info: &RequestInfo,
    head: Option<&BoundedRequest>,
) -> Result<(), Refusal> {
    if let Some(caller) = info.checked_caller() {
        let mut needed = Vec::new();
        for scope in targets.iter().flat_map(Target::scopes) {
            if !needed.contains(scope) {
                needed.push(scope.clone());
            }
        }
        if !has_scopes(caller, &needed) {
            return Err(Refusal::Scopes(needed));
        }
    }
    if let Some(head) = head {
        for (message, target) in messages.iter().zip(targets) {
            header_params::check(head, target, message)?;
        }
    }
    Ok(())
}
