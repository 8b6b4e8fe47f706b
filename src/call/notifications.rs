//! ProgressParams notifications and log messages, which a handler sends on the stream of its response.
//!
//! Source: 2026-07-28, basic/patterns/progress and server/utilities/logging; the same utilities of older revisions.
//! Notifications that the client did not ask for are dropped.
//!
//! A handler does not wait for a slow client, so the queue is bounded: a notification that exceeds the bound is
//! dropped. The notifications of a call together may not exceed the maximum size of a response.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as Task, Poll};

use edge_json::write;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::{Stream, StreamExt};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::host::{Host, log};
use crate::limits::{WAITING_BYTES, WAITING_NOTIFICATIONS};
use crate::protocol::log_level::LogLevel;
use crate::protocol::meta::RequestedNotifications;
use crate::text::Text;

/// The sender of notifications, with the kinds that the client asked for.
pub(crate) struct Outbox {
    sender: UnboundedSender<Vec<u8>>,
    waiting: Rc<QueueSize>,
    requested: RequestedNotifications,
    /// The last progress value. The next one must be greater.
    last_progress: Cell<f64>,
    /// The maximum size of all notifications of the call, in bytes.
    limit: usize,
    /// The size of the notifications that were sent so far, in bytes.
    sent: Cell<usize>,
    is_exhausted: Cell<bool>,
    host: Rc<dyn Host>,
}

/// The notifications of a handler, in the order in which it sends them.
#[derive(Debug)]
pub(crate) struct Notifications {
    receiver: UnboundedReceiver<Vec<u8>>,
    waiting: Rc<QueueSize>,
}

impl Stream for Notifications {
    type Item = Vec<u8>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Vec<u8>>> {
        let next = self.receiver.poll_next_unpin(task);
        if let Poll::Ready(Some(notification)) = &next {
            self.waiting.remove(notification.len());
        }
        next
    }
}

/// The number and the size of the notifications that were sent but not read.
#[derive(Debug, Default)]
struct QueueSize {
    notifications: Cell<usize>,
    bytes: Cell<usize>,
}

impl QueueSize {
    /// Returns whether the queue has room for a notification of this size. An empty queue accepts every size.
    fn has_room(&self, bytes: usize) -> bool {
        let fits = self.bytes.get().saturating_add(bytes) <= WAITING_BYTES;
        self.notifications.get() == 0 || (self.notifications.get() < WAITING_NOTIFICATIONS && fits)
    }

    fn add(&self, bytes: usize) {
        self.notifications.set(self.notifications.get().saturating_add(1));
        self.bytes.set(self.bytes.get().saturating_add(bytes));
    }

    fn remove(&self, bytes: usize) {
        self.notifications.set(self.notifications.get().saturating_sub(1));
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
    }
}

#[derive(Serialize)]
struct Notification<P> {
    jsonrpc: &'static str,
    method: &'static str,
    params: P,
}

#[derive(Serialize)]
struct ProgressParams<'a> {
    #[serde(rename = "progressToken")]
    token: &'a RawValue,
    #[serde(rename = "progress")]
    done: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
}

#[derive(Serialize)]
struct LogParams<'a, D> {
    level: LogLevel,
    logger: &'a str,
    data: D,
}

impl Outbox {
    /// Creates the outbox of a call and the stream of its notifications. The client asked for the `requested`
    /// notifications, and all notifications together have at most `limit` bytes.
    pub(crate) fn new(requested: RequestedNotifications, limit: usize, host: Rc<dyn Host>) -> (Self, Notifications) {
        let (sender, receiver) = unbounded();
        let waiting = Rc::<QueueSize>::default();
        let outbox = Self {
            sender,
            waiting: waiting.clone(),
            requested,
            last_progress: Cell::new(f64::NEG_INFINITY),
            limit,
            sent: Cell::new(0),
            is_exhausted: Cell::new(false),
            host,
        };
        (outbox, Notifications { receiver, waiting })
    }

    /// Sends a progress notification if the client sent a progress token and the value is greater than before.
    pub(super) fn progress(&self, progress: f64, total: Option<f64>, message: &Text) {
        let Some(token) = &self.requested.progress_token else { return };
        let is_more = progress > self.last_progress.get();
        if is_more && self.send("notifications/progress", &ProgressParams { token, done: progress, total, message }) {
            self.last_progress.set(progress);
        }
    }

    /// Sends a log message if the client asked for its level.
    pub(super) fn log(&self, level: LogLevel, logger: &str, data: impl Serialize) {
        if self.requested.log_level.is_some_and(|wanted| level >= wanted) {
            self.send("notifications/message", &LogParams { level, logger, data });
        }
    }

    /// Sends a notification that the client subscribed to, and returns whether it was sent.
    pub(crate) fn subscribed(&self, method: &'static str, params: &RawValue) -> bool {
        self.send(method, &params)
    }

    /// Returns whether all further notifications are dropped, because the limit on their size was exceeded.
    #[cfg(feature = "tasks")]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted.get()
    }

    /// Sends a notification, and returns whether it was sent. Data that cannot be serialized is dropped.
    fn send(&self, method: &'static str, params: &impl Serialize) -> bool {
        if self.is_exhausted.get() || !self.waiting.has_room(0) {
            return false;
        }
        let notification = write::to_vec(&Notification { jsonrpc: "2.0", method, params });
        notification.is_ok_and(|notification| self.send_bytes(notification))
    }

    /// Sends a serialized notification. It is separate from `send`, because the compiler generates `send` once per type
    /// of log data.
    fn send_bytes(&self, notification: Vec<u8>) -> bool {
        let length = notification.len();
        let sent = self.sent.get().saturating_add(length);
        if sent > self.limit {
            self.is_exhausted.set(true);
            let limit = self.limit;
            let cause =
                format!("further notifications are dropped: together they exceed the output limit of {limit} bytes");
            log::failure(&self.host, "notifications", &cause);
            return false;
        }
        if !self.waiting.has_room(length) || self.sender.unbounded_send(notification).is_err() {
            return false;
        }
        self.waiting.add(length);
        self.sent.set(sent);
        true
    }
}
