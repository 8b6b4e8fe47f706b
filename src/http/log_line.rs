//! The log line of a request: its method, target and outcome. It contains no arguments, no results, and no data about the caller.

use std::rc::Rc;

use edge_json::write;
use serde::Serialize;

use super::auth_failure::AuthFailure;
use crate::engine::head::BoundedRequest;
use crate::host::{CrashAnswer, Host, Level, Request as _};
use crate::limits::CRASH_ID_BYTES;
use crate::protocol::error::ErrorCode;
use crate::protocol::message::{Request, RequestId};
use crate::protocol::method::Method;
use crate::protocol::revision::Era;
use crate::server::tool::Tool;
use crate::text::shortened;

/// Selects the requests that write a log line. The line has the method, the target, the status and the time of a request. It does not
/// contain the arguments.
///
/// Workers Logs records every invocation of a Worker anyway, with its URL and status.
///
/// ```
/// use edge_mcp::{Endpoint, LogPolicy, McpServer};
///
/// let endpoint = Endpoint::new(|_| McpServer::builder("parcels", "1.0.0").build()).log(LogPolicy::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogPolicy {
    /// Requests that fail or are rejected, requests that take longer than 1 s, and calls of tools that are not
    /// [read-only](crate::Tool::read_only). A tool result with `isError` counts as an answer, not as a failure.
    #[default]
    Failures,
    /// All requests.
    All,
}

/// The time in milliseconds above which a request is slow.
const SLOW_MS: u64 = 1000;

/// The log line of one request. Members are added when they become known.
#[derive(Default)]
pub(super) struct LogLine {
    /// The request, unless the line was passed on.
    head: Option<Rc<BoundedRequest>>,
    /// The time at which the request arrived, in milliseconds.
    started: u64,
    /// A JSON object without its closing brace.
    begun: Vec<u8>,
    error: Option<ErrorCode>,
    refused: Option<String>,
    /// Whether the request calls a tool that is not read-only.
    may_change_data: bool,
}

/// The last members of the line.
#[derive(Serialize)]
struct LastMembers {
    status: u16,
    /// The code of the error, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorCode>,
    /// The reason why an access token was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// The id of the request in the logs of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    ms: u64,
}

impl LogLine {
    /// Begins the line of a request that arrived at `started`, in milliseconds.
    pub(super) fn new(head: Rc<BoundedRequest>, started: u64) -> Self {
        let mut begun = Vec::with_capacity(256);
        begun.extend_from_slice(b"{\"event\":\"request\"");
        Self { head: Some(head), started, begun, ..Self::default() }
    }

    fn add(&mut self, name: &str, value: &str) {
        self.begun.extend_from_slice(b",\"");
        self.begun.extend_from_slice(name.as_bytes());
        self.begun.extend_from_slice(b"\":");
        // A string always serializes.
        let _ = write::append(&mut self.begun, &value);
    }

    /// Adds the JSON-RPC method, the target, the id, and the id of the trace. The target is
    /// the name of the tool or prompt, or the scheme of the URI.
    pub(super) fn request(&mut self, request: &Request<'_>, trace_id: Option<&str>) {
        self.add("method", &shortened(&request.method));
        let target_param = request.known_method.and_then(Method::target_param);
        let target = target_param.and_then(|param| Some((param, request.param(param)?.as_str()?)));
        let target = target.and_then(|(param, target)| match param {
            // The rest of a URI may contain arguments.
            "uri" => target.split_once(':').map(|(scheme, _)| shortened(scheme).into_owned()),
            _ => Some(shortened(&target).into_owned()),
        });
        if let Some(target) = target {
            self.add("target", &target);
        }
        self.add("id", &shortened(request.id.as_json()));
        if let Some(trace) = trace_id {
            self.add("trace", trace);
        }
    }

    /// Records whether the request calls a tool that is not read-only. If the request names a tool that calls another one, adds the name of
    /// the other one.
    pub(super) fn tool(&mut self, tool: Option<&Tool>) {
        let Some(tool) = tool else { return };
        self.may_change_data |= tool.annotations.read_only_hint != Some(true);
        if tool.arguments_member.is_some() {
            self.add("called", &shortened(tool.name()));
        }
    }

    pub(super) fn batch(&mut self) {
        self.add("method", "batch");
    }

    pub(super) fn era(&mut self, era: Era) {
        self.add("era", era.name());
    }

    /// Sets the error code. A later code replaces an earlier one.
    pub(super) fn error(&mut self, code: Option<ErrorCode>) {
        self.error = code.or(self.error);
    }

    #[cold]
    #[inline(never)]
    pub(super) fn refused(&mut self, failure: &AuthFailure) {
        self.refused = failure.for_log();
    }

    /// Passes the beginning of the line to the host, which answers the requests with these ids if the program crashes. If the ids together exceed
    /// [`CRASH_ID_BYTES`], passes no ids.
    pub(super) fn keep_for_crash<'r>(
        &self,
        ids: impl IntoIterator<Item = &'r RequestId>,
        is_batch: bool,
        host: &Rc<dyn Host>,
    ) {
        let mut ids: Vec<&str> = ids.into_iter().map(RequestId::as_json).collect();
        if ids.iter().map(|id| id.len()).sum::<usize>() > CRASH_ID_BYTES {
            ids.clear();
        }
        host.keep_crash_answer(CrashAnswer { ids: &ids, is_batch, log_line: &self.begun });
    }

    /// Writes the line, unless `policy` excludes it.
    pub(super) fn write(self, policy: LogPolicy, status: u16, host: &Rc<dyn Host>) {
        let Self { head, started, begun: mut line, error, refused, may_change_data } = self;
        // The task of the handler writes the line.
        let Some(head) = head else { return };
        let ms = host.now_ms().saturating_sub(started);
        let has_failed = status >= 400 || error.is_some() || refused.is_some();
        if policy == LogPolicy::Failures && !has_failed && !may_change_data && ms <= SLOW_MS {
            return;
        }
        let request_id = head.request_id();
        // Strings and numbers always serialize.
        let last = write::to_vec(&LastMembers { status, error, refused, request_id, ms }).unwrap_or_default();
        line.push(b',');
        line.extend(last.iter().skip(1));
        let level = if status < 500 { Level::Info } else { Level::Error };
        host.log(level, &String::from_utf8_lossy(&line));
    }
}
