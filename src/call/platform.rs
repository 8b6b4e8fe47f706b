//! The methods of a context that use the platform or the client: requests to other servers, work after the answer, capabilities.

use std::future::Future;

use futures::FutureExt;

use super::context::Context;
use crate::host::{FetchError, FetchLimits, Fetched};
use crate::protocol::capabilities::ClientCapabilities;

impl Context {
    /// Sends a request to another server and returns its response. Redirects are not followed. If the handler is dropped, for example at
    /// its deadline, the request is aborted.
    ///
    /// If the URL contains text of the caller, check its host, because this server can reach servers that the caller cannot reach.
    ///
    /// # Errors
    /// [`FetchError`]: there is no response, or it exceeds `limits`. A response with an error status is not an error, unless
    /// [`Fetched::success`] makes it one.
    ///
    /// ```
    /// use edge_mcp::host::FetchLimits;
    /// use edge_mcp::{Context, HandlerError, ResultExt};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Rate {
    ///     rate: f64,
    /// }
    ///
    /// async fn rate(cx: Context) -> Result<String, HandlerError> {
    ///     let request = http::Request::get("https://rates.example/eur").body("")?;
    ///     let response = cx.fetch(request, FetchLimits::default()).await.and_then(|response| response.success());
    ///     let Rate { rate } = response.message("The exchange rates cannot be read. Try again in a minute.")?.json()?;
    ///     Ok(format!("One euro is {rate} dollars."))
    /// }
    /// ```
    pub async fn fetch(
        &self,
        request: http::Request<impl Into<String>>,
        limits: FetchLimits,
    ) -> Result<Fetched, FetchError> {
        self.host().fetch(request.map(Into::into), limits).await
    }

    /// Runs `work` to its end, without delaying the answer. On Cloudflare Workers, `work` has 30 s after the answer.
    ///
    /// ```
    /// use edge_mcp::Context;
    ///
    /// async fn count_call() {}
    ///
    /// async fn greet(cx: Context) -> &'static str {
    ///     cx.wait_until(count_call());
    ///     "Hello"
    /// }
    /// ```
    pub fn wait_until(&self, work: impl Future<Output = ()> + 'static) {
        self.host().spawn(work.boxed_local());
    }

    /// Returns the capabilities that the client declares: the kinds of questions that it supports. Clients of older revisions declare them
    /// only in `initialize`, so all their capabilities are `false`.
    pub fn client_capabilities(&self) -> ClientCapabilities {
        self.rounds().capabilities
    }
}
