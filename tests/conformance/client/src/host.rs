//! A host on this machine. Its network consists of plain HTTP connections.

use std::fs::File;
use std::io::{self, Read};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use edge_mcp::host::{FetchError, Host, Level, NoRandomness, Opened, Outbound};
use futures::channel::{mpsc, oneshot};
use futures::executor::LocalSpawner;
use futures::future::LocalBoxFuture;
use futures::task::LocalSpawnExt;
use futures::{FutureExt, StreamExt, TryStreamExt};
use http::Request;

use crate::http1;

/// A host whose tasks run on an executor of this thread. Each connection and each timer has its own thread, so that waiting does not block
/// the executor.
pub(crate) struct LocalHost {
    spawner: LocalSpawner,
}

impl LocalHost {
    pub(crate) fn new(spawner: LocalSpawner) -> Self {
        Self { spawner }
    }
}

impl Host for LocalHost {
    fn now_ms(&self) -> u64 {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        let (alarm, rings) = oneshot::channel();
        thread::spawn(move || {
            thread::sleep(time);
            // Sending fails if the future was dropped.
            alarm.send(())
        });
        rings.map(drop).boxed_local()
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        if self.spawner.spawn_local(task).is_err() {
            self.log(Level::Error, "the executor has ended");
        }
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        File::open("/dev/urandom").and_then(|mut source| source.read_exact(bytes)).map_err(|_| NoRandomness)
    }

    fn log(&self, _: Level, line: &str) {
        eprintln!("{line}");
    }

    fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let (head, arrives) = oneshot::channel();
        let (parts, body) = mpsc::unbounded();
        let sent = move || http1::send(&Request::try_from(request).map_err(io::Error::other)?);
        thread::spawn(move || match sent() {
            Ok((its_head, its_body)) => {
                // Sending fails if the client has dropped the response. Then the connection is closed.
                if head.send(Ok(its_head)).is_ok() {
                    its_body.map(|part| parts.unbounded_send(part)).find(Result::is_err);
                }
            }
            Err(error) => drop(head.send(Err(error))),
        });
        let opened = async move {
            let http1::Head { status, headers } = arrives.await.map_err(|_| closed())?.map_err(failed)?;
            Ok(Opened { status, headers, body: body.map_err(failed).boxed_local() })
        };
        opened.boxed_local()
    }
}

fn failed(error: io::Error) -> FetchError {
    FetchError::Failed(error.to_string())
}

fn closed() -> FetchError {
    FetchError::Failed("the thread of the connection has ended".into())
}
