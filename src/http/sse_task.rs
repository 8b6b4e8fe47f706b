//! Answers that may become streams.
//!
//! The handler runs in one task from beginning to end, and the answer holds only the channel that leads to it: a half-run
//! handler that is handed from one waker to another can hang. What comes out of the channel first decides: a notification
//! makes the answer a stream, the response makes it a JSON object.

use std::rc::Rc;
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use futures::future::{LocalBoxFuture, Shared};
use futures::{FutureExt, StreamExt};
use http::{Response, StatusCode};

use super::in_flight::Reservation;
use super::json_answer::{Answered, json_response, respond};
use super::log_line::LogLine;
use super::stream::{self, Body, EventStream, Part, Parts};
use crate::call::context::Live;
use crate::call::notifications::Outbox;
use crate::host::Host;
use crate::limits::SILENCE_SECONDS;
use crate::protocol::description::Text;
use crate::protocol::meta::RequestedNotifications;
use crate::protocol::revision::Era;
use crate::rpc::Prepared;

/// The channel between the task of a handler and the answer to its client.
pub(super) struct Channel {
    sender: mpsc::UnboundedSender<Part>,
    parts: Parts,
    /// Dropped with the stream.
    open: oneshot::Sender<()>,
    /// Ready when the client has gone away.
    gone: Shared<LocalBoxFuture<'static, ()>>,
}

/// Opens a channel to a client that asked for the `requested` notifications, which have at most `output_limit` bytes in all.
pub(super) fn open(
    host: &Rc<dyn Host>,
    requested: RequestedNotifications,
    logger: Text,
    output_limit: usize,
) -> (Live, Channel) {
    let (outbox, notifications) = Outbox::new(requested, output_limit, host.clone());
    let (sender, rest) = mpsc::unbounded();
    let (open, closed) = oneshot::channel();
    let gone = closed.map(|_| ()).boxed_local().shared();
    let live = Live { outbox, logger, gone: gone.clone(), is_watched: false.into() };
    (live, Channel { sender, parts: Parts { notifications, rest }, open, gone })
}

/// A call that is answered in a task of its own, and what is written of it when it ends.
pub(super) struct Job {
    pub prepared: Prepared,
    pub line: LogLine,
    pub started: u64,
    /// The memory that is reserved for what the call keeps of its request.
    pub reservation: Reservation,
}

/// Answers a call on its channel, as a stream if the handler has something to tell.
pub(super) async fn answer(job: Job, channel: Channel, host: &Rc<dyn Host>) -> Response<Body> {
    let Channel { sender, mut parts, open, gone } = channel;
    host.spawn(run(job, sender, gone, host.clone()).boxed_local());
    loop {
        return match parts.next().await {
            Some(Part::Silence) => continue,
            Some(Part::Response(status, body)) => json_response(status, body),
            Some(first) => stream::response(EventStream::new(first, parts, open)),
            // The task ends with a response, or the machine has ended it.
            None => json_response(StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
        };
    }
}

async fn run(
    job: Job,
    parts: mpsc::UnboundedSender<Part>,
    gone: Shared<LocalBoxFuture<'static, ()>>,
    host: Rc<dyn Host>,
) {
    let cx = job.prepared.cx().clone();
    // Older revisions do not take a closed stream for a cancelled request.
    let cancels = cx.revision().era() == Era::Modern;
    let mut gone = if cancels { gone.boxed_local() } else { std::future::pending().boxed_local() }.fuse();
    let mut work = finish(job, host.clone()).boxed_local().fuse();
    let mut silence = host.sleep(Duration::from_secs(SILENCE_SECONDS)).fuse();
    loop {
        // Nothing more is sent to a client that has gone away.
        let send = |part| drop(parts.unbounded_send(part));
        futures::select_biased! {
            (status, body) = work => return send(Part::Response(status, body)),
            () = gone => {
                // Nobody is left to answer. A handler that looks at that itself goes on to its end.
                if cx.live().is_some_and(|live| live.is_watched.get()) {
                    work.await;
                }
                return;
            }
            () = silence => {
                send(Part::Silence);
                silence = host.sleep(Duration::from_secs(SILENCE_SECONDS)).fuse();
            }
        }
    }
}

/// Runs the handler to its end, and writes the log line of its request.
async fn finish(job: Job, host: Rc<dyn Host>) -> (StatusCode, Vec<u8>) {
    let Job { prepared, mut line, started, reservation } = job;
    let Answered { status, message, error } = respond(prepared).await;
    drop(reservation);
    line.error(error);
    line.write(status.as_u16(), started, &host);
    (status, message)
}
