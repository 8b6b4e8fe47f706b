//! A service binding as a transport of the client.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use worker::wasm_bindgen::JsValue;
use worker::{Env, Fetcher};

use super::open::open;
use crate::client::{Transport, Upstream};
use crate::config::ConfigError;
use crate::host::{FetchError, Host, Opened, Outbound};

/// A service binding: another Worker of the same account, which the client reaches without the network.
///
/// Cloudflare does not let a Worker call another Worker on the same zone by its URL. A service binding reaches it.
///
/// ```no_run
/// use edge_mcp::{ConfigError, Variables};
/// use edge_mcp::client::McpClient;
/// use edge_mcp::worker::Service;
/// use worker::Env;
///
/// fn client(env: &Env) -> Result<McpClient, ConfigError> {
///     let token = Variables::of(env).secret("PARCELS_TOKEN", "the token for the server of parcels")?;
///     let parcels = Service::upstream(env, "PARCELS")?.bearer(&token)?;
///     Ok(McpClient::builder("desk", "1.0.0").server("parcels", parcels).build()?)
/// }
/// ```
pub struct Service(JsValue);

impl Service {
    /// Creates a transport to the Worker behind a service binding.
    ///
    /// The other Worker sees the URL of [`Upstream::via`] as the URL of the request. The host of the URL is not resolved.
    pub fn new(service: Fetcher) -> Self {
        Self(service.into())
    }

    /// Creates the server behind the service binding `binding`.
    ///
    /// The URL of the requests is `https://BINDING.internal/mcp`, with the name of the binding in lower case and `-` for `_`. For another
    /// URL, use [`Service::new`] and [`Upstream::via`].
    ///
    /// # Errors
    /// The environment has no such service binding.
    pub fn upstream(env: &Env, binding: &'static str) -> Result<Upstream, ConfigError> {
        let service = env.service(binding).map_err(|_| ConfigError::new(binding, "is not a service binding"))?;
        Upstream::via(&url_of(binding), Self::new(service))
    }
}

/// Returns the URL for requests to a service binding.
fn url_of(binding: &str) -> String {
    format!("https://{}.internal/mcp", binding.to_ascii_lowercase().replace('_', "-"))
}

impl Transport for Service {
    fn open(&self, request: Outbound, _: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        open(self.0.clone(), request).boxed_local()
    }
}
