//! The way of a request: each check in its place.
//!
//! Path, origin, method, media types, announced length; who calls; the body; JSON; what the message is and in which
//! revision; the server; the method. Nothing is read before the check that could make it needless.

use std::rc::Rc;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use super::authenticate::Authentication;
use super::era::{Classified, Opened, classify};
use super::limits::Limits;
use super::log_line::LogLine;
use super::origin::AllowedOrigins;
use super::refusal::{Refusal, status_of};
use super::{cors, guard};
use crate::auth::{ConfigError, TokenValidator};
use crate::host::{BodyError, Host, Level, RequestBody, RequestHead, path_of};
use crate::protocol::description::Text;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::json::{Document, JsonError};
use crate::protocol::message::{Request, RequestId, error_response};

use crate::rpc::{self, Call};
use crate::server::{BuildError, Context, McpServer, RequestInfo};

type ServerFunction = Box<dyn Fn(&RequestInfo) -> Result<McpServer, BuildError>>;

/// A server's place on the web: its path, who may call, and how much is read.
///
/// An endpoint serves nothing until it is told who may call, by [`auth`](Self::auth) or
/// [`without_auth`](Self::without_auth).
///
/// ```
/// use edge_mcp::auth::StaticTokens;
/// use edge_mcp::http::Endpoint;
/// use edge_mcp::server::{BuildError, McpServer, RequestInfo, Tool};
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     let greet = Tool::new("greet", || async { "Hello" }).description("Says hello.");
///     McpServer::builder("greeter", "1.0.0").tool(greet).build()
/// }
///
/// let tokens = r#"[{"token": "s3cret", "subject": "ada", "scopes": []}]"#;
/// let endpoint = Endpoint::new(server).auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)));
/// ```
pub struct Endpoint {
    path: Text,
    server: ServerFunction,
    authentication: Authentication,
    origins: AllowedOrigins,
    limits: Limits,
}

/// What decides who may call: a validator, or the mistake in the configuration that left none.
pub trait IntoValidator {
    /// The validator.
    ///
    /// # Errors
    /// The mistake; the endpoint then answers 503 and names the variable.
    fn into_validator(self) -> Result<Box<dyn TokenValidator>, ConfigError>;
}

impl<V: TokenValidator + 'static> IntoValidator for V {
    fn into_validator(self) -> Result<Box<dyn TokenValidator>, ConfigError> {
        Ok(Box::new(self))
    }
}

impl<V: IntoValidator> IntoValidator for Result<V, ConfigError> {
    fn into_validator(self) -> Result<Box<dyn TokenValidator>, ConfigError> {
        self?.into_validator()
    }
}

impl Endpoint {
    /// The endpoint `/mcp` of what `server` builds, anew for each request. If it fails, the caller gets a 503 with a fixed
    /// text, and the cause is in the log.
    pub fn new(server: impl Fn(&RequestInfo) -> Result<McpServer, BuildError> + 'static) -> Self {
        Self {
            path: "/mcp".into(),
            server: Box::new(server),
            authentication: Authentication::Undecided,
            origins: AllowedOrigins::default(),
            limits: Limits::default(),
        }
    }

    /// An endpoint that serves nothing until `error` is mended: for a setting that the program itself finds wrong.
    pub fn misconfigured(error: ConfigError) -> Self {
        let problem = error.to_string();
        let server = move |_: &RequestInfo| Err(BuildError::new("server", "misconfigured", problem.as_str()));
        Self { authentication: Authentication::Misconfigured(error), ..Self::new(server) }
    }

    /// Another path than `/mcp`.
    #[must_use]
    pub fn path(mut self, path: impl Into<Text>) -> Self {
        self.path = path.into();
        self
    }

    /// Callers need a bearer token that `validator` accepts.
    #[must_use]
    pub fn auth(mut self, validator: impl IntoValidator) -> Self {
        self.authentication = match validator.into_validator() {
            Ok(validator) => Authentication::Token(validator),
            Err(error) => Authentication::Misconfigured(error),
        };
        self
    }

    /// Everybody may call.
    #[must_use]
    pub fn without_auth(mut self) -> Self {
        self.authentication = Authentication::Open;
        self
    }

    /// The web pages that may call; those of the user's own machine unless set.
    #[must_use]
    pub fn allowed_origins(mut self, origins: AllowedOrigins) -> Self {
        self.origins = origins;
        self
    }

    /// Sizes past which a request is refused.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Answers one request.
    pub async fn handle(&self, head: Rc<dyn RequestHead>, body: impl RequestBody, host: &Host) -> Response<Vec<u8>> {
        let started = host.clock.now_ms();
        let mut line = LogLine::new(head.header("cf-ray"));
        let origin = head.header("origin");
        let origin_passes = origin.as_deref().is_none_or(|origin| self.origins.allows(origin));
        let answer = self.answer(&head, body, host, origin_passes, &mut line).await;
        let mut response = answer.unwrap_or_else(|refusal| {
            line.error(refusal.error.code);
            let body = error_response(refusal.id.as_ref(), &refusal.error);
            let mut response = json_response(refusal.status, body);
            response.headers_mut().extend(refusal.headers);
            response
        });
        if let Some(origin) = origin.filter(|_| origin_passes) {
            cors::allow(&origin, response.headers_mut());
        }
        line.write(response.status().as_u16(), started, host);
        response
    }

    async fn answer(
        &self,
        head: &Rc<dyn RequestHead>,
        body: impl RequestBody,
        host: &Host,
        origin_passes: bool,
        line: &mut LogLine,
    ) -> Result<Response<Vec<u8>>, Box<Refusal>> {
        if path_of(&head.url()) != self.path {
            return Err(Refusal::http(
                StatusCode::NOT_FOUND,
                format!("Nothing is here; the server is at {}.", self.path),
            ));
        }
        if !origin_passes {
            return Err(Refusal::http(
                StatusCode::FORBIDDEN,
                "Pages of this origin may not call this server. Its configuration can allow them.",
            ));
        }
        let method = head.method();
        if method == "OPTIONS" {
            return Ok(cors::preflight(head.header("origin").as_deref()));
        }
        guard::check(&**head, &method, self.limits.body)?;
        let principal = self.authentication.authenticate(&**head, host).await?;
        let body = self.read(body, host).await?;
        let document = Document::parse(&body, self.limits.json).map_err(|error| not_json(&body, &error))?;
        let classified = classify(document.root(), &**head, &self.limits)?;
        let request = RequestInfo::new(head.clone(), principal);
        self.respond(classified, request, host, line).await
    }

    async fn read(&self, body: impl RequestBody, host: &Host) -> Result<Vec<u8>, Box<Refusal>> {
        body.read(self.limits.body).await.map_err(|error| match error {
            BodyError::TooLarge => guard::too_large(self.limits.body),
            BodyError::Broken(cause) => {
                log_failure(host, "body", &cause);
                Refusal::http(StatusCode::BAD_REQUEST, "The body ended before it was complete.")
            }
        })
    }

    async fn respond(
        &self,
        classified: Classified<'_>,
        info: RequestInfo,
        host: &Host,
        line: &mut LogLine,
    ) -> Result<Response<Vec<u8>>, Box<Refusal>> {
        match classified {
            Classified::Nothing(era) => {
                line.era(era);
                Ok(accepted())
            }
            Classified::Request(opened) => {
                let Opened { request, revision, client } = *opened;
                line.request(&request);
                line.era(revision.era());
                let server = self.build(&info, Some(&request.id), host)?;
                let cx = Context::new(info, request.id.clone(), revision, client, host.clone());
                let (status, body) = answer_one(&server, &request, cx, line).await;
                Ok(json_response(status, body))
            }
            Classified::Batch(requests, revision) => {
                line.batch();
                line.era(revision.era());
                let server = self.build(&info, None, host)?;
                let mut body = vec![b'['];
                for request in &requests {
                    let cx = Context::new(info.clone(), request.id.clone(), revision, None, host.clone());
                    if body.len() > 1 {
                        body.push(b',');
                    }
                    body.extend(answer_one(&server, request, cx, line).await.1);
                }
                body.push(b']');
                Ok(json_response(StatusCode::OK, body))
            }
        }
    }

    fn build(&self, info: &RequestInfo, id: Option<&RequestId>, host: &Host) -> Result<McpServer, Box<Refusal>> {
        (self.server)(info).map(|server| server.for_caller(info)).map_err(|error| {
            log_failure(host, "server", &error.to_string());
            let error =
                RpcError::new(ErrorCode::Internal, "This server cannot be built as it is defined. Its log says why.");
            Refusal::rpc(StatusCode::SERVICE_UNAVAILABLE, id.cloned(), error)
        })
    }
}

async fn answer_one(
    server: &McpServer,
    request: &Request<'_>,
    cx: Context,
    line: &mut LogLine,
) -> (StatusCode, Vec<u8>) {
    let era = cx.revision().era();
    match rpc::dispatch(&Call { server, request, cx }).await {
        Ok(body) => (StatusCode::OK, body),
        Err(error) => {
            line.error(error.code);
            (status_of(era, error.code), error_response(Some(&request.id), &error))
        }
    }
}

/// Bytes that are no JSON, or JSON that is refused as a whole: of the latter the id can be read.
fn not_json(body: &[u8], error: &JsonError) -> Box<Refusal> {
    let id = RequestId::of_refused(body);
    let code = match error {
        JsonError::NotUtf8 | JsonError::Syntax { .. } => ErrorCode::Parse,
        _ => ErrorCode::InvalidRequest,
    };
    Refusal::message(id, RpcError::new(code, format!("The message cannot be read: {error}.")))
}

fn json_response(status: StatusCode, body: Vec<u8>) -> Response<Vec<u8>> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn accepted() -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

fn log_failure(host: &Host, subject: &str, cause: &str) {
    let line = serde_json::json!({ "event": "failure", "subject": subject, "cause": cause }).to_string();
    host.log.write(Level::Error, &line);
}
