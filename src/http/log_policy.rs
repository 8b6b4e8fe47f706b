//! The choice of the requests that are logged.

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
