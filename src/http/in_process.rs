//! An endpoint in the same program, as a transport.

use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};

use super::endpoint::Endpoint;
use super::stream::Body;
use crate::host::transport::Transport;
use crate::host::{
    CannotCheck, CannotSign, FetchError, FetchLimits, Fetched, Host, Level, NoRandomness, Opened, Outbound, PrivateKey,
    PublicKey,
};

/// Reaches an [`Endpoint`] in the same program, without the network. The endpoint checks these requests as it checks requests from the
/// network: its authentication, its rate limit and its other limits apply.
///
/// ```
/// use edge_mcp::client::{InProcess, McpClient, Upstream};
/// use edge_mcp::{Endpoint, McpServer, Tool};
///
/// let parcels = Endpoint::new(|_| {
///     McpServer::builder("parcels", "1.0.0").tool(Tool::new("track", "Locates a parcel.", || async { "in Lyon" })).build()
/// });
/// let parcels = InProcess::new(parcels.without_auth());
/// let client = McpClient::builder("desk", "1.0.0").server("parcels", Upstream::via("http://localhost/mcp", parcels)?).build()?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct InProcess(Rc<Endpoint>);

impl InProcess {
    /// Creates a transport to this endpoint.
    pub fn new(endpoint: Endpoint) -> Self {
        Self(Rc::new(endpoint))
    }
}

impl Transport for InProcess {
    fn open(&self, request: Outbound, host: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let (endpoint, host): (_, Rc<dyn Host>) = (self.0.clone(), Rc::new(InnerHost(host.clone())));
        let opened = async move {
            let mut request = http::Request::try_from(request)?.map(|body| Cell::new(body.into_bytes()));
            // The caller is this program.
            request.extensions_mut().insert(IpAddr::from([127, 0, 0, 1]));
            let (head, body) = endpoint.handle(request, &host).await.into_parts();
            let status = head.status.as_u16();
            Ok(match body {
                Body::Bytes(bytes) => Opened::new(status, head.headers, bytes),
                Body::Stream(events) => Opened { status, headers: head.headers, body: events.map(Ok).boxed_local() },
            })
        };
        opened.boxed_local()
    }
}

/// The host of the outer request, for a request within it. It does not keep crash data: after a crash, the outer client gets an answer to its
/// own request.
struct InnerHost(Rc<dyn Host>);

impl Host for InnerHost {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }

    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        self.0.sleep(time)
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        self.0.spawn(task);
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        self.0.fill_random(bytes)
    }

    fn log(&self, level: Level, line: &str) {
        self.0.log(level, line);
    }

    fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        self.0.open(request)
    }

    fn fetch(
        &self,
        request: http::Request<String>,
        limits: FetchLimits,
    ) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> {
        self.0.fetch(request, limits)
    }

    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        self.0.verify(key, message, signature)
    }

    fn sign(&self, key: PrivateKey, message: Vec<u8>) -> LocalBoxFuture<'static, Result<Vec<u8>, CannotSign>> {
        self.0.sign(key, message)
    }
}
