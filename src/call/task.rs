//! Durable tasks, as a handler sees them: the task that it belongs to, waiting without cost, and the point at which the task begins.

use std::time::Duration;

use super::context::Context;
use super::journal::JournalError;
use super::rounds::Obstacle;
use super::task_info::{Begin, TaskInfo};

impl Context {
    /// Waits for `time`.
    ///
    /// In a durable task, the attempt ends, and the next one begins when the time has passed. The wait then costs nothing, survives a restart
    /// of the server, and can take days. Code before it runs again, so its effects belong into [steps](Self::step). Outside of a task, the
    /// handler waits in memory, within its deadline.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use edge_mcp::{Context, HandlerError};
    ///
    /// async fn is_printed(job: &str) -> Result<bool, HandlerError> {
    ///     Ok(!job.is_empty())
    /// }
    ///
    /// async fn print(cx: Context) -> Result<&'static str, HandlerError> {
    ///     let job = "poster";
    ///     // The polls are equal steps. Their order tells them apart.
    ///     while !cx.step("is it printed", &job, async || is_printed(job).await).await? {
    ///         cx.sleep(Duration::from_secs(30)).await;
    ///     }
    ///     Ok("printed")
    /// }
    /// ```
    pub async fn sleep(&self, time: Duration) {
        let Some(journal) = self.rounds().journal().cloned() else { return self.host().sleep(time).await };
        let time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let path = self.path().of_sleep(time_ms, self.rounds());
        let place = path.place();
        let stored = match journal.result(place) {
            Ok(Some(stored)) => stored.get().parse().map(Some).map_err(|_| not_a_time()),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        let begin = || {
            let wake_at = self.now_ms().saturating_add(time_ms);
            let result = edge_json::write::to_raw_value(&wake_at).map_err(|_| not_a_time())?;
            journal.finish(place, "cx.sleep", &result).map(|()| wake_at)
        };
        let wake_at = stored.and_then(|stored: Option<u64>| stored.map_or_else(begin, Ok));
        match wake_at {
            Ok(wake_at) if wake_at <= self.now_ms() => return,
            Ok(wake_at) => self.rounds().sleep_until(wake_at, place),
            Err(error) => self.rounds().stop_at(Obstacle::Journal(error), place),
        }
        std::future::pending::<()>().await;
    }

    /// Returns the durable task that the handler belongs to. Returns `None` for a handler that answers its request directly.
    pub fn task(&self) -> Option<TaskInfo> {
        self.rounds().journal().map(|journal| journal.info().clone())
    }

    /// Marks the point at which the durable task begins, in a tool whose [task](crate::tasks::Task::starts_later) starts later.
    ///
    /// The code before this point runs in the request of the client. It can ask questions, which all clients of 2026-07-28 support, or answer
    /// without a task. In the task, the handler runs again from its beginning: the answers and the results of the steps so far are there, and
    /// this method returns at once. It also returns at once in a handler that does not become a task.
    pub async fn start_task(&self) {
        if self.depth() == 0 && self.rounds().begin() == Begin::AtMark {
            self.rounds().start_task(self.path().place());
            std::future::pending::<()>().await;
        }
    }
}

fn not_a_time() -> JournalError {
    JournalError::Final("the stored time of a sleep is not a number".to_owned())
}
