//! Calls whose answer may become an event stream.
//!
//! The handler runs in a separate task, and the answer receives its messages through a channel. The handler must not move to another
//! task: some futures keep the waker of their first poll, and would hang. The first message determines the kind of the answer. After a
//! notification it is a stream, and after the response it is one JSON document.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures::channel::mpsc;
use futures::{FutureExt, StreamExt};
use http::StatusCode;

use super::http_error::status_of;
use super::log_line::{LogLine, LogPolicy};
use super::reply::Reply;
use super::stream::{self, EventStream, Part, PartStream};
use crate::call::connection::{ClientConnection, ConnectionGuard};
use crate::engine::memory::Reservation;
use crate::engine::running::{Answer, NotificationReceiver, Running};
use crate::host::Host;
use crate::limits::SILENCE_SECONDS;
use crate::protocol::revision::Era;

/// A call that runs in a separate task, with the data for its log line.
pub(super) struct Job {
    pub running: Running,
    pub line: LogLine,
    pub policy: LogPolicy,
    /// The memory for the parts of the request that the call keeps.
    pub reservation: Reservation,
    /// The limit on the answers that wait.
    pub waiting_answers: usize,
}

/// Starts the task of a call, and answers with a stream if the handler sends notifications.
pub(super) async fn answer(job: Job, receiver: NotificationReceiver, host: &Rc<dyn Host>) -> Reply {
    let NotificationReceiver { notifications, connection } = receiver;
    let (sender, rest) = mpsc::unbounded();
    // Notifies the handler when the stream is dropped.
    let open = ConnectionGuard(connection.clone());
    host.spawn(run(job, sender, connection, host.clone()).boxed_local());
    let mut parts = PartStream { notifications, rest };
    loop {
        return match parts.next().await {
            Some(Part::Silence) => continue,
            Some(Part::Response(status, body, _)) => Reply::Json(status, body),
            Some(first) => stream::response(EventStream::new(first, parts, open)).into(),
            // The last message of the task is a response, unless the host stops the task.
            None => Reply::Json(StatusCode::INTERNAL_SERVER_ERROR, Vec::new()),
        };
    }
}

async fn run(job: Job, parts: mpsc::UnboundedSender<Part>, connection: Rc<ClientConnection>, host: Rc<dyn Host>) {
    let cx = job.running.cx().clone();
    // In older revisions, a closed stream does not cancel the request.
    let cancels = cx.revision().era() == Era::Modern;
    let disconnected = async { if cancels { connection.closed().await } else { std::future::pending().await } };
    let mut disconnected = pin!(disconnected.fuse());
    let mut work = finish(job, host.clone()).boxed_local().fuse();
    let mut silence = host.sleep(Duration::from_secs(SILENCE_SECONDS)).fuse();
    loop {
        // Sending fails only if the client has disconnected, so the error is ignored.
        let send = |part| drop(parts.unbounded_send(part));
        futures::select_biased! {
            (status, body, memory) = work => return send(Part::Response(status, body, memory)),
            () = disconnected => {
                // The call is dropped, unless its handler watches for the disconnection.
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
async fn finish(job: Job, host: Rc<dyn Host>) -> (StatusCode, Vec<u8>, Option<Reservation>) {
    let Job { running, mut line, policy, reservation, waiting_answers } = job;
    let era = running.cx().revision().era();
    let Answer { message, error, memory } = running.finish(Some(waiting_answers)).await;
    drop(reservation);
    let status = status_of(era, error);
    line.error(error);
    line.write(policy, status.as_u16(), &host);
    (status, message, memory)
}
