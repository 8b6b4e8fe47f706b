//! Requests to other servers, and their responses.

use std::borrow::Cow;
use std::fmt;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{Either, LocalBoxFuture, select};
use futures::stream::LocalBoxStream;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};

use super::fetch::{FetchError, Fetched};

/// A request to another server.
///
/// It has the names of headers as text. A wasm module that creates a [`HeaderName`] while it runs contains a table of all standard headers.
#[derive(Clone, Debug)]
pub struct Outbound {
    /// The method.
    pub method: Method,
    /// The URL.
    pub url: String,
    /// The headers. No name is empty or has characters that a name cannot have.
    pub headers: Vec<(Cow<'static, str>, HeaderValue)>,
    /// The body. A request without a body has an empty text.
    pub body: String,
}

impl From<Request<String>> for Outbound {
    fn from(request: Request<String>) -> Self {
        let (head, body) = request.into_parts();
        let header = |(name, value): (&HeaderName, &HeaderValue)| (name.as_str().to_owned().into(), value.clone());
        let headers = head.headers.iter().map(header).collect();
        Self { method: head.method, url: head.uri.to_string(), headers, body }
    }
}

impl TryFrom<Outbound> for Request<String> {
    type Error = FetchError;

    fn try_from(Outbound { method, url, headers, body }: Outbound) -> Result<Self, FetchError> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(name.as_bytes(), value);
        }
        request.body(body).map_err(|error| FetchError::Failed(error.to_string()))
    }
}

/// A response whose body is still arriving. Dropping it aborts the request.
pub struct Opened {
    /// The status. Redirects are not followed, so it may be a 3xx.
    pub status: u16,
    /// The headers. On Workers, these are only `Content-Type`, `Location`, `Retry-After`, `WWW-Authenticate` and `Mcp-Session-Id`.
    pub headers: HeaderMap,
    /// The body, in chunks of any size.
    pub body: LocalBoxStream<'static, Result<Vec<u8>, FetchError>>,
}

impl Opened {
    /// Creates a response with this body, in one chunk.
    pub fn new(status: u16, headers: HeaderMap, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self { status, headers, body: futures::stream::once(async { Ok(body) }).boxed_local() }
    }

    /// Reads the rest of the body.
    ///
    /// # Errors
    /// [`FetchError::TooLarge`] beyond `limit` bytes, or the error of the connection.
    pub async fn read(&mut self, limit: usize) -> Result<Vec<u8>, FetchError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.body.next().await {
            let chunk = chunk?;
            if bytes.len().saturating_add(chunk.len()) > limit {
                return Err(FetchError::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Reads the whole response of a request, unless `late` ends first, or the body has more than `bytes`.
pub(super) async fn within_limits(
    opening: LocalBoxFuture<'static, Result<Opened, FetchError>>,
    late: LocalBoxFuture<'static, ()>,
    bytes: usize,
) -> Result<Fetched, FetchError> {
    let fetched = async move {
        let mut opened = opening.await?;
        let retry_after = opened.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = opened.read(bytes).await?;
        Ok(Fetched { retry_after: retry_after.map(Duration::from_secs), ..Fetched::new(opened.status, body) })
    };
    in_time(fetched, late).await
}

/// Returns the outcome of `answer`, unless `late` ends first.
pub(crate) async fn in_time<T>(
    answer: impl Future<Output = Result<T, FetchError>>,
    late: LocalBoxFuture<'static, ()>,
) -> Result<T, FetchError> {
    match select(pin!(answer), late).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => Err(FetchError::TooSlow),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures::executor::block_on;
    use futures::future::FutureExt;
    use http::HeaderMap;

    use super::*;

    fn fetched(opened: Result<Opened, FetchError>, bytes: usize) -> Result<Fetched, FetchError> {
        block_on(within_limits(ready(opened).boxed_local(), pending().boxed_local(), bytes))
    }

    #[test]
    fn a_whole_response_has_its_limits() {
        let opened =
            || Opened::new(503, HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(" 7 "))]), "four");
        let whole = Fetched { retry_after: Some(Duration::from_secs(7)), ..Fetched::new(503, "four") };
        assert_eq!(fetched(Ok(opened()), 4), Ok(whole));
        assert_eq!(fetched(Ok(opened()), 3), Err(FetchError::TooLarge));
        let closed = FetchError::Failed("closed".into());
        assert_eq!(fetched(Err(closed.clone()), 4), Err(closed));

        let endless = Opened { body: futures::stream::pending().boxed_local(), ..opened() };
        for opening in [pending().boxed_local(), ready(Ok(endless)).boxed_local()] {
            assert_eq!(block_on(within_limits(opening, ready(()).boxed_local(), 4)), Err(FetchError::TooSlow));
        }
    }

    #[test]
    fn a_request_keeps_its_parts() {
        let request =
            || Request::put("https://a.example/b?c").header("X-A", "1").header("x-a", "2").body("text".to_owned());
        let outbound = Outbound::from(request().expect("a request"));
        assert_eq!(outbound.url, "https://a.example/b?c");
        let back = Request::try_from(outbound).expect("a request");
        let request = request().expect("a request");
        assert_eq!(
            (back.method(), back.uri(), back.headers(), back.body()),
            (request.method(), request.uri(), request.headers(), request.body())
        );
    }
}
