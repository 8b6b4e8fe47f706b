//! The object of a durable task as a host of the engine: its messages and alarms.

use std::rc::Rc;

use super::endpoint::Endpoint;
use crate::host::{Host, TaskRows};
use crate::tasks::Object;

impl Endpoint {
    /// Answers a message to the object `name` of [`TaskObjects`](crate::host::TaskObjects).
    ///
    /// # Errors
    /// The object cannot answer. The text is for the log.
    pub async fn task_message(
        &self,
        name: &str,
        rows: Rc<dyn TaskRows>,
        message: &str,
        host: &Rc<dyn Host>,
    ) -> Result<String, String> {
        Object::new(name, rows, &self.engine, host.clone()).answer(message).await
    }

    /// Answers the alarm of the object `name`: runs the next attempt of its task, or deletes what has expired.
    ///
    /// # Errors
    /// The storage failed. The text is for the log. The alarm should ring again later.
    pub async fn task_alarm(&self, name: &str, rows: Rc<dyn TaskRows>, host: &Rc<dyn Host>) -> Result<(), String> {
        Object::new(name, rows, &self.engine, host.clone()).ring(&self.engine).await
    }
}
