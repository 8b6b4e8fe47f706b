//! The requests that the call of a handler may send to the servers of a connection.

use std::cell::Cell;

use crate::call::context::Context;
use crate::limits::{UPSTREAM_PINGS, UPSTREAM_POLLS, UPSTREAM_REQUESTS};

/// The call of a handler, and the requests that were sent for it. The conversations of a connection share it.
pub(super) struct Budget {
    pub cx: Context,
    /// The number of servers that the call uses.
    servers: Cell<usize>,
    /// The number of requests that were sent.
    requests: Cell<usize>,
    /// The number of requests about tasks, which do not count as requests.
    polls: Cell<usize>,
    /// The number of pings of legacy servers.
    pings: Cell<usize>,
    next_id: Cell<u64>,
}

impl Budget {
    pub(super) fn new(cx: Context) -> Self {
        let [servers, requests, polls, pings] = [const { Cell::new(0) }; 4];
        Self { cx, servers, requests, polls, pings, next_id: Cell::new(1) }
    }

    /// Counts a server that the call uses.
    pub(super) fn add_server(&self) {
        self.servers.set(self.servers.get().saturating_add(1));
    }

    /// Returns a new id, as JSON text. It is a string that is no number, because versions 1.9 to 1.12 of the Python SDK answer "1" with 1.
    pub(super) fn next_id(&self) -> String {
        let id = self.next_id.get();
        self.next_id.set(id.saturating_add(1));
        format!("\"r{id}\"")
    }

    /// Counts a request. Returns `false` if the connection has sent all requests that it may send.
    pub(super) fn spend(&self) -> bool {
        let requests = self.requests.get();
        self.requests.set(requests.saturating_add(1));
        requests < UPSTREAM_REQUESTS.saturating_add(self.polls.get())
    }

    /// Returns whether a server that has got `sent` requests for a list leaves as many for each other server of the call. A server decides how
    /// many pages its list has, so it must not use the requests of the others.
    pub(super) fn leaves_a_share(&self, sent: usize) -> bool {
        let left = UPSTREAM_REQUESTS.saturating_sub(self.requests.get());
        sent.saturating_mul(self.servers.get().saturating_sub(1)) <= left
    }

    /// Permits one more request, which is about a task. A task may need more requests than a connection may send otherwise, so the number of
    /// these requests has its own limit.
    pub(super) fn permit_one(&self) {
        self.polls.set(self.polls.get().saturating_add(1).min(UPSTREAM_POLLS));
    }

    /// Returns whether a request was sent.
    #[cfg(feature = "gateway")]
    pub(super) fn has_sent(&self) -> bool {
        self.requests.get() > 0
    }

    /// Counts a ping. Returns `false` if the connection has answered all pings that it may answer. An answer is a request of the
    /// connection, so pings without a limit would leave no requests for calls.
    pub(super) fn spend_ping(&self) -> bool {
        let pings = self.pings.get();
        self.pings.set(pings.saturating_add(1));
        pings < UPSTREAM_PINGS
    }
}
