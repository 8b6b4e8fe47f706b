//! Answers that may become streams.
//!
//! The handler runs in one task from beginning to end, and the answer holds only the channel that leads to it: a half-run
//! handler that is handed from one waker to another can hang. What comes out of the channel first decides: a notification
//! makes the answer a stream, the response makes it a JSON object.

use std::rc::Rc;
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use futures::{FutureExt, StreamExt};
use http::{Response, StatusCode};

use super::answer::{Answered, answer_one, json_response};
use super::limits::Limits;
use super::log_line::LogLine;
use super::stream::{self, Body, EventStream, Part};
use crate::auth::{ConfigError, StateKeys};
use crate::host::Host;
use crate::protocol::json::Document;
use crate::protocol::message::Message;
use crate::protocol::meta::Wishes;
use crate::protocol::revision::Era;
use crate::rpc::Call;
use crate::server::context::Live;
use crate::server::outbox::Outbox;
use crate::server::{Context, McpServer};

/// How long a stream may be silent before a comment is sent on it. Proxies would allow more, but a client that has gone away is
/// noticed only when something is written.
const SILENCE: Duration = Duration::from_secs(5);

/// A request with all that is needed to answer it in a task of its own.
pub(super) struct Job {
    pub server: Rc<McpServer>,
    /// The body that the request is in: it was read once, and so can be read again.
    pub body: Vec<u8>,
    pub limits: Limits,
    pub cx: Context,
    pub keys: Rc<Result<StateKeys, ConfigError>>,
    pub line: LogLine,
    pub started: u64,
}

/// Answers a request whose client has `wishes`, as a stream if the handler has something to tell.
pub(super) async fn answer(job: Job, wishes: Wishes, host: &Host) -> Response<Body> {
    let (parts, mut sent) = mpsc::unbounded();
    let (open, closed) = oneshot::channel();
    host.tasks.spawn(run(job, wishes, parts, closed, host.clone()).boxed_local());
    loop {
        return match sent.next().await {
            Some(Part::Silence) => continue,
            Some(Part::Response(status, body)) => json_response(status, body),
            Some(first) => stream::response(EventStream::new(first, sent, open)),
            // The task ends with a response, or the machine has ended it.
            None => json_response(StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
        };
    }
}

async fn run(job: Job, wishes: Wishes, parts: mpsc::UnboundedSender<Part>, closed: oneshot::Receiver<()>, host: Host) {
    let (notifications, mut notified) = mpsc::unbounded();
    let gone = closed.map(|_| ()).boxed_local().shared();
    let live = Live {
        outbox: Outbox::new(notifications, wishes),
        logger: job.server.info.name.clone(),
        gone: gone.clone(),
        is_watched: false.into(),
    };
    // Older revisions do not take a closed stream for a cancelled request.
    let cancels = job.cx.revision().era() == Era::Modern;
    let mut gone = if cancels { gone.boxed_local() } else { std::future::pending().boxed_local() }.fuse();
    let Job { server, body, limits, cx, keys, line, started } = job;
    let cx = cx.with_live(live);
    let job = Job { server, body, limits, cx: cx.clone(), keys, line, started };
    let mut work = respond(job, host.clone()).boxed_local().fuse();
    let mut silence = host.timer.sleep(SILENCE).fuse();
    loop {
        // A client that has gone away is told nothing more.
        let send = |part| drop(parts.unbounded_send(part));
        futures::select_biased! {
            notification = notified.select_next_some() => send(Part::Notification(notification)),
            (status, body) = work => {
                // What was told in the same breath comes first.
                while let Some(Some(notification)) = notified.next().now_or_never() {
                    send(Part::Notification(notification));
                }
                return send(Part::Response(status, body));
            }
            () = gone => {
                // Nobody is left to answer. A handler that looks at that itself goes on to its end.
                if cx.live().is_some_and(|live| live.is_watched.get()) {
                    work.await;
                }
                return;
            }
            () = silence => {
                send(Part::Silence);
                silence = host.timer.sleep(SILENCE).fuse();
            }
        }
    }
}

/// Reads the request once more, from the body that the task now owns, and answers it.
async fn respond(job: Job, host: Host) -> (StatusCode, Vec<u8>) {
    let Job { server, body, limits, cx, keys, mut line, started } = job;
    let document = Document::parse(&body, limits.json);
    let message = document.as_ref().ok().and_then(|document| Message::read(document.root()).ok());
    let Answered { status, message, error } = match message {
        Some(Message::Request(request)) => {
            answer_one(&Call { server: &server, request: &request, cx, keys: &keys, most: limits.output }).await
        }
        // It was read as a request before, and has not changed.
        _ => Answered { status: StatusCode::INTERNAL_SERVER_ERROR, message: Vec::new(), error: None },
    };
    line.error(error);
    line.write(status.as_u16(), started, &host);
    (status, message)
}
