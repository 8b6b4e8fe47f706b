//! The errors of the client.
//!
//! An error has a sentence for the caller and a cause for the log. The sentence names the server, the problem, and the remedy if there is
//! one. It never contains a token, a session id or the body of a response that is not JSON-RPC.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::remote_task::RemoteTask;
use super::wire::task::METHODS;
use crate::call::error::{CauseForLog, HandlerError, IntoHandlerError};
use crate::limits::UPSTREAM_REQUESTS;
use crate::protocol::method::Method;
use crate::text::{Text, for_log};

/// The error of a request to another MCP server.
///
/// `?` converts it into a [`HandlerError`], whose message is the sentence of this error. [`message`](crate::ResultExt::message) replaces the
/// sentence. The log gets the cause.
#[derive(Clone, Debug)]
pub struct ClientError(Box<ErrorDetails>);

#[derive(Clone, Debug)]
struct ErrorDetails {
    server: Text,
    method: Text,
    failure: Failure,
    delivery: Delivery,
    cause: CauseForLog,
}

/// The kind of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The server cannot be reached, or it closed the connection before the head of its response. The platform does not distinguish the two.
    Unreachable(Unreachable),
    /// The server did not answer within the time limit.
    Timeout(Duration),
    /// The response ended before the answer was complete.
    Interrupted,
    /// The server redirects to another URL. A redirect with status 307 or 308 to the same origin is followed once, and no other redirect.
    Redirected {
        /// The new URL, if it is an `https:` URL.
        to: Option<String>,
    },
    /// The server rejects the request: an HTTP status from 400 to 499 that no other failure describes.
    Rejected {
        /// The status.
        status: u16,
    },
    /// The server is overloaded or not available.
    Unavailable {
        /// The time after which to try again, if the server states it.
        after: Option<Duration>,
    },
    /// The server got too many requests with the credential of this request, or from this program (status 429).
    TooManyRequests {
        /// The time after which to try again, if the server states it.
        after: Option<Duration>,
    },
    /// The server failed: an HTTP status of 500 or above that no other failure describes.
    ServerFailed {
        /// The status.
        status: u16,
    },
    /// The server does not accept the token, or it requires one.
    Unauthorized,
    /// The caller of this program must sign in to the server, or sign in again to allow more.
    SignInRequired {
        /// The link to open in a browser, within 10 minutes. It is only for this caller.
        url: String,
    },
    /// The server does not permit the request.
    Forbidden,
    /// The token lacks scopes.
    ScopeRequired {
        /// The scopes that the server names.
        scopes: Vec<String>,
    },
    /// There is no MCP endpoint for Streamable HTTP at the URL.
    NotMcp(NotMcp),
    /// No revision is supported by both sides.
    UnsupportedRevision {
        /// The revisions that the server offers.
        offered: Vec<String>,
    },
    /// The server answers `server/discover` or `initialize` with a JSON-RPC error, so the request that comes after it was not sent.
    NotNegotiated,
    /// The server needs a capability that this client did not declare.
    CapabilityRequired,
    /// The server requires that the client declares extensions: see [`Upstream::extension`](crate::client::Upstream::extension).
    ExtensionRequired {
        /// The identifiers of the extensions, at most 8.
        extensions: Vec<String>,
    },
    /// The server does not declare the extension or the setting that the request needs, so the request was not sent. The text names it.
    Undeclared(&'static str),
    /// A file of a skill does not fit the entry of the skill. Its content is not available.
    Unverified(Unverified),
    /// The server rejects the headers that repeat arguments of a tool.
    HeaderMismatch,
    /// The answer is not valid. The text describes the problem.
    Malformed(&'static str),
    /// The answer or the request exceeds a limit.
    LimitExceeded(&'static str),
    /// The connection has sent all requests that it may send.
    BudgetExhausted,
    /// The server answered with a JSON-RPC error.
    Rpc {
        /// The code of the error.
        code: i64,
        /// The message of the error, shortened and without control characters.
        message: String,
        /// The `data` of the error, as JSON text.
        data: Option<String>,
    },
    /// The server continues the call as a task, which has not ended in time. [`Peer::task`](super::Peer::task) waits for it again.
    StillRunning(RemoteTask),
    /// The task of the call was cancelled, by the server or because it has not ended in time.
    TaskCancelled,
    /// The server does not know the task of the call, or it has removed the task.
    TaskUnknown,
    /// The call failed in an earlier round of the caller's request. It is not sent again, because its server may have executed it. The text
    /// is the predicate of a sentence whose subject is the server.
    Earlier(String),
    /// This program did not provide what the request needs: a token, an answer to a question, or valid arguments. The text is the
    /// predicate of a sentence whose subject is the server.
    Local(String),
}

/// The reason why a file of a skill does not fit the entry of the skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unverified {
    /// The entry does not list the file, so the file was not requested.
    Unlisted,
    /// The server sent another number of bytes than the entry has.
    Size,
    /// The digest of the bytes is not the one in the entry.
    Digest,
    /// The name or the description in `SKILL.md` cannot be read, or differs from the one in the entry.
    Frontmatter,
}

/// The reason why a server cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreachable {
    /// The name of the host does not resolve.
    Dns,
    /// The connection is refused, takes too long, or ends before the head of the response.
    Connection,
    /// The certificate is not valid.
    Certificate,
    /// The URL belongs to a Worker of the same zone, which the platform does not let this Worker call.
    SameZone,
}

/// The reason why a URL is not the URL of an MCP endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotMcp {
    /// The path does not exist.
    NotFound,
    /// The server does not accept messages by POST. It may use the deprecated transport HTTP+SSE.
    NoPost,
    /// The response is a web page.
    WebPage,
}

/// Whether a request that failed reached the server and was executed, in any of its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The server did not execute the request: the client did not send it, or each answer proves this.
    NotExecuted,
    /// The server executed the request.
    Executed,
    /// It is not known whether the server executed the request.
    Unknown,
}

impl Delivery {
    /// Returns whether the server executed a request in this attempt or in an earlier one.
    pub(super) fn or(self, earlier: Self) -> Self {
        if self == Self::NotExecuted { earlier } else { self }
    }
}

impl ClientError {
    /// Creates an error that names no server and no method yet. `cause` is for the log.
    pub(crate) fn new(failure: Failure, cause: Option<String>) -> Self {
        let cause = cause.unwrap_or_else(|| match &failure {
            Failure::Rpc { code, message, .. } => of_rpc_error(*code, message),
            _ => "no further details".to_owned(),
        });
        let (server, method) = (Text::default(), Text::default());
        Self(Box::new(ErrorDetails {
            server,
            method,
            delivery: failure.delivery(),
            failure,
            cause: CauseForLog(cause),
        }))
    }

    /// Names the server and the method, unless the error names those of another request already.
    pub(crate) fn named(mut self, server: &Text, method: impl Into<Text>) -> Self {
        if self.0.method.is_empty() {
            self.0.server.clone_from(server);
            self.0.method = method.into();
            let problem = std::mem::take(&mut self.0.cause.0);
            self.because(problem)
        } else {
            self
        }
    }

    pub(super) fn because(mut self, problem: impl fmt::Display) -> Self {
        let ErrorDetails { server, method, cause, .. } = &mut *self.0;
        *cause = CauseForLog(if method.is_empty() {
            problem.to_string()
        } else {
            format!("{method} at {server}: {problem}")
        });
        self
    }

    pub(super) fn delivered_as(mut self, delivery: Delivery) -> Self {
        self.0.delivery = delivery;
        self
    }

    /// Makes the error that of another request, to which the failed one belongs. The cause names the failed one.
    pub(super) fn of_method(mut self, method: Text) -> Self {
        self.0.method = method;
        self
    }

    /// Returns the error without the texts that the server chose, for a caller who did not call the server. The cause still has the message of
    /// the server.
    #[cfg(feature = "gateway")]
    pub(crate) fn without_text(mut self) -> Self {
        match &mut self.0.failure {
            Failure::Rpc { message, data, .. } => (*message, *data) = (String::new(), None),
            Failure::ScopeRequired { scopes: texts }
            | Failure::UnsupportedRevision { offered: texts }
            | Failure::ExtensionRequired { extensions: texts } => texts.clear(),
            Failure::Redirected { to } => *to = None,
            _ => {}
        }
        self
    }

    pub(super) fn is_interruption(&self) -> bool {
        self.0.failure == Failure::Interrupted
    }

    pub(super) fn with_failure(mut self, failure: Failure) -> Self {
        self.0.failure = failure;
        self
    }

    /// Returns the name that this program has for the server.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the kind of the failure.
    pub fn failure(&self) -> &Failure {
        &self.0.failure
    }

    /// Returns whether the server executed the request.
    pub fn delivery(&self) -> Delivery {
        self.0.delivery
    }
}

impl Failure {
    /// Creates the failure of a request that this program did not send. The reason continues a sentence.
    pub(super) fn not_called(reason: impl fmt::Display) -> Self {
        Self::Local(format!("was not called, because {reason}"))
    }

    /// Returns whether the server executed a request that failed in this way, if the answer of the server does not show it.
    fn delivery(&self) -> Delivery {
        match self {
            Self::BudgetExhausted
            | Self::Local(_)
            | Self::Unauthorized
            | Self::SignInRequired { .. }
            | Self::Undeclared(_)
            | Self::Unverified(Unverified::Unlisted) => Delivery::NotExecuted,
            _ => Delivery::Unknown,
        }
    }

    /// Returns whether the connection was closed before the answer was complete, or cannot be opened.
    pub(super) fn is_closed_connection(&self) -> bool {
        matches!(self, Self::Unreachable(Unreachable::Connection) | Self::Interrupted)
    }

    /// Returns whether the server says that the request is not valid. The caller then corrects the request. This is no proof that the request
    /// had no effect, because a tool can pass on the error of another server.
    fn is_invalid_request(&self) -> bool {
        matches!(self, Self::Rpc { code: -32_700 | -32_602..=-32_600, .. })
    }

    /// Returns the time after which the server wants to be asked again, if it states one.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unavailable { after } | Self::TooManyRequests { after } => *after,
            _ => None,
        }
    }

    /// Returns whether the server could not be reached or failed, so that a stale list may replace its list.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_)
                | Self::Timeout(_)
                | Self::Interrupted
                | Self::ServerFailed { .. }
                | Self::Unavailable { .. }
                | Self::TooManyRequests { .. }
        )
    }

    /// Returns whether the server rejects a request of the negotiation, or its form.
    pub(super) fn is_rejection(&self) -> bool {
        matches!(self, Self::NotNegotiated | Self::NotMcp(NotMcp::NotFound | NotMcp::NoPost) | Self::Rejected { .. })
    }

    /// Returns whether the server does not implement the method. A rejected `initialize` is another failure.
    pub(super) fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Rpc { code: -32_601, .. })
    }

    /// Returns whether a request that may be sent twice is sent again after this failure.
    pub(super) fn is_transient(&self) -> bool {
        const LONGEST_WAIT: Duration = Duration::from_secs(2);
        match self {
            Self::Unreachable(Unreachable::Connection)
            | Self::Timeout(_)
            | Self::Interrupted
            | Self::ServerFailed { .. } => true,
            Self::Unavailable { .. } | Self::TooManyRequests { .. } => {
                self.retry_after().is_none_or(|after| after <= LONGEST_WAIT)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Failure {
    /// Writes the predicate of a sentence whose subject is the server.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(Unreachable::Dns) => f.write_str("has a host name that does not resolve. Check its URL."),
            Self::Unreachable(Unreachable::Connection) => {
                f.write_str("cannot be reached or has closed the connection. Try again later.")
            }
            Self::Unreachable(Unreachable::Certificate) => f.write_str("has no valid certificate."),
            Self::Unreachable(Unreachable::SameZone) => {
                f.write_str("cannot be called by its URL from this Worker. Use a service binding.")
            }
            Self::Timeout(time) => write!(f, "did not answer within {} s.", time.as_secs()),
            Self::Interrupted => f.write_str("closed the connection in the middle of its answer."),
            Self::Redirected { to: Some(url) } => write!(f, "has moved. Set its URL to {url}."),
            Self::Redirected { to: None } => f.write_str("redirects to another URL. Set its URL to the new one."),
            Self::Rejected { status } => write!(f, "rejects the request (status {status})."),
            Self::Unavailable { after: Some(after) } => {
                write!(f, "is overloaded. Try again after {} s.", after.as_secs().max(1))
            }
            Self::Unavailable { after: None } => f.write_str("is overloaded or not available. Try again later."),
            Self::TooManyRequests { after: Some(after) } => {
                write!(f, "has got too many requests. Try again after {} s.", after.as_secs().max(1))
            }
            Self::TooManyRequests { after: None } => f.write_str("has got too many requests. Try again later."),
            Self::ServerFailed { status } => write!(f, "failed (status {status})."),
            Self::Unauthorized => f.write_str("requires a valid access token. Check the credential of this program."),
            Self::SignInRequired { url } => {
                write!(f, "requires you to sign in. Open this link within 10 minutes, and then try again: {url}")
            }
            Self::Forbidden => f.write_str("does not permit this request."),
            Self::ScopeRequired { scopes } if scopes.is_empty() => f.write_str("requires a scope that the token lacks."),
            Self::ScopeRequired { scopes } => {
                write!(f, "requires scopes that the token lacks: {}.", scopes.join(" "))
            }
            Self::NotMcp(NotMcp::NotFound) => f.write_str("has no MCP endpoint at its URL. Check the path."),
            Self::NotMcp(NotMcp::NoPost) => {
                f.write_str("does not accept MCP messages by POST. It may use the deprecated HTTP+SSE transport, which is not supported.")
            }
            Self::NotMcp(NotMcp::WebPage) => {
                f.write_str("answers with a web page. A sign-in page or a firewall may be in front of it.")
            }
            Self::UnsupportedRevision { offered } if offered.is_empty() => {
                f.write_str("supports no revision of the protocol that this client supports.")
            }
            Self::UnsupportedRevision { offered } => {
                write!(f, "supports only revisions that this client does not support: {}.", offered.join(", "))
            }
            Self::NotNegotiated => f.write_str(
                "rejects the requests with which a client begins. Check its URL, and whether it supports a revision of this client.",
            ),
            Self::CapabilityRequired => f.write_str("needs to ask a question that this client cannot answer."),
            Self::ExtensionRequired { extensions } if extensions.is_empty() => {
                f.write_str("requires an extension of the protocol, which this program does not declare.")
            }
            Self::ExtensionRequired { extensions } => {
                let extensions = extensions.join("`, `");
                write!(f, "requires the extension `{extensions}` of the protocol, which this program does not declare.")
            }
            Self::Undeclared(what) => write!(f, "does not declare {what}."),
            Self::Unverified(Unverified::Unlisted) => f.write_str("has no such file in the entry of the skill."),
            Self::Unverified(reason) => {
                let difference = match reason {
                    Unverified::Size => "another size than",
                    Unverified::Digest => "another digest than",
                    _ => "other frontmatter than",
                };
                write!(f, "sent a file of a skill with {difference} the entry of the skill has. Get the entry again.")
            }
            Self::HeaderMismatch => f.write_str("requires headers that its list of tools does not describe."),
            Self::Malformed(problem) => write!(f, "sent an invalid answer: the message {problem}."),
            Self::LimitExceeded(limit) => write!(f, "exceeded a limit: {limit}."),
            Self::BudgetExhausted => {
                write!(f, "was not called, because the connection has reached its limit of {UPSTREAM_REQUESTS} requests.")
            }
            Self::StillRunning(_) => f.write_str("has not finished the call yet. It continues the call as a task."),
            Self::TaskCancelled => f.write_str("did not finish the call: its task was cancelled."),
            Self::TaskUnknown => f.write_str("does not know the task of the call. The task may have expired."),
            Self::Rpc { code, message, .. } if message.is_empty() => write!(f, "answers with the error {code}."),
            // A quotation mark would end the quotation, and the rest would read like a sentence of this client.
            Self::Rpc { message, .. } => write!(f, "answers: \"{}\"", message.replace('"', "'")),
            Self::Earlier(problem) | Self::Local(problem) => f.write_str(problem),
        }
    }
}

impl fmt::Display for ClientError {
    /// Writes the sentence for the caller.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ErrorDetails { server, method, failure, delivery, .. } = &*self.0;
        if server.is_empty() {
            return write!(f, "{failure}");
        }
        write!(f, "The server `{server}` {failure}")?;
        if is_call(method) {
            match delivery {
                Delivery::Unknown if failure.is_invalid_request() => {}
                Delivery::Unknown => {
                    f.write_str(
                        " It is not known whether the call was executed. Check its effect before you call again.",
                    )?;
                }
                Delivery::Executed => f.write_str(" The call was executed.")?,
                Delivery::NotExecuted => {}
            }
        }
        Ok(())
    }
}

impl From<Failure> for ClientError {
    fn from(failure: Failure) -> Self {
        Self::new(failure, None)
    }
}

/// Returns whether a request with this method may have effects: a call of a tool, or a method of another extension than tasks.
fn is_call(method: &str) -> bool {
    Method::named(method).map_or(!METHODS.contains(&method), |method| method == Method::CallTool)
}

/// The source is the cause for the log.
impl Error for ClientError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0.cause)
    }
}

impl IntoHandlerError for ClientError {
    fn into_handler_error(self) -> HandlerError {
        self.into()
    }
}

pub(super) fn of_rpc_error(code: i64, message: &str) -> String {
    format!("error {code}: {}", for_log(message))
}
