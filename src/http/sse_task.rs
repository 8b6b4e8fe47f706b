//! Calls whose answer may become an event stream.
//!
//! The handler runs in a task of its own, and the answer receives its messages through a channel. It must not move between tasks: some
//! futures keep the waker of their first poll, and would hang. The first message decides the kind of the answer: a notification makes it
//! a stream, and the response makes it one JSON document.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures::channel::mpsc;
use futures::{FutureExt, StreamExt};
use http::StatusCode;

use super::in_flight::Reservation;
use super::json_answer::{Answered, respond};
use super::log_line::LogLine;
use super::log_policy::LogPolicy;
use super::reply::Reply;
use super::stream::{self, EventStream, Part, Parts};
use crate::call::connection::{Connection, Open};
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
    /// It is dropped with the stream.
    open: Open,
    connection: Rc<Connection>,
}

/// Opens a channel to a client that asked for the `requested` notifications, which have at most `output_limit` bytes in all.
#[inline(never)]
pub(super) fn open(
    host: &Rc<dyn Host>,
    requested: RequestedNotifications,
    logger: Text,
    output_limit: usize,
) -> (Live, Channel) {
    let (outbox, notifications) = Outbox::new(requested, output_limit, host.clone());
    let (sender, rest) = mpsc::unbounded();
    let connection = Rc::<Connection>::default();
    let live = Live { outbox, logger, connection: connection.clone(), is_watched: false.into() };
    let open = Open(connection.clone());
    (live, Channel { sender, parts: Parts { notifications, rest }, open, connection })
}

/// A call that runs in a task of its own, with the data for its log line.
pub(super) struct Job {
    pub prepared: Prepared,
    pub line: LogLine,
    pub policy: LogPolicy,
    /// The memory that the call keeps of its request.
    pub reservation: Reservation,
}

/// Starts the task of a call, and answers with a stream if the handler sends notifications.
pub(super) async fn answer(job: Job, channel: Channel, host: &Rc<dyn Host>) -> Reply {
    let Channel { sender, mut parts, open, connection } = channel;
    host.spawn(run(job, sender, connection, host.clone()).boxed_local());
    loop {
        return match parts.next().await {
            Some(Part::Silence) => continue,
            Some(Part::Response(status, body)) => Reply::Json(status, body),
            Some(first) => stream::response(EventStream::new(first, parts, open)).into(),
            // The task sends a response last, unless the host has stopped it.
            None => Reply::Json(StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
        };
    }
}

async fn run(job: Job, parts: mpsc::UnboundedSender<Part>, connection: Rc<Connection>, host: Rc<dyn Host>) {
    let cx = job.prepared.cx().clone();
    // In older revisions a closed stream does not cancel the request.
    let cancels = cx.revision().era() == Era::Modern;
    let gone = async { if cancels { connection.closed().await } else { std::future::pending().await } };
    let mut gone = pin!(gone.fuse());
    let mut work = finish(job, host.clone()).boxed_local().fuse();
    let mut silence = host.sleep(Duration::from_secs(SILENCE_SECONDS)).fuse();
    loop {
        // Sending fails if the client has disconnected, and that is fine.
        let send = |part| drop(parts.unbounded_send(part));
        futures::select_biased! {
            (status, body) = work => return send(Part::Response(status, body)),
            () = gone => {
                // The call is dropped, unless its handler watches for the disconnection itself.
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
    let Job { prepared, mut line, policy, reservation } = job;
    let Answered { status, message, error } = respond(prepared).await;
    drop(reservation);
    line.error(error);
    line.write(policy, status.as_u16(), &host);
    (status, message)
}
