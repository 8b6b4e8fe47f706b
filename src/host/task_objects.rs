//! The objects that durable tasks live in.

use futures::future::LocalBoxFuture;

/// The objects that durable tasks live in. Each object has a name, [rows](TaskRows) and one alarm, and it runs in one place at a time.
///
/// An object answers its messages with [`Endpoint::task_message`](crate::Endpoint::task_message), and its alarms with
/// [`Endpoint::task_alarm`](crate::Endpoint::task_alarm).
pub trait TaskObjects {
    /// Sends a message to the object `name`, and returns its answer. An object exists from its first message.
    ///
    /// # Errors
    /// The text is for the log.
    fn send(&self, name: &str, message: String) -> LocalBoxFuture<'static, Result<String, String>>;
}

/// The rows of an object, and its alarm.
///
/// All functions except [`sync`](Self::sync) return at once. All changes between two waits of the program take effect together, and before
/// any later request to another server. If the program ends before its next wait, they are lost. The texts of errors are for the log.
pub trait TaskRows {
    /// Returns the value of a row.
    ///
    /// # Errors
    /// The storage failed.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String>;

    /// Writes a row. A value has at most 1 500 001 bytes.
    ///
    /// # Errors
    /// The storage failed.
    fn put(&self, key: &str, value: &[u8]) -> Result<(), String>;

    /// Deletes a row, if it exists.
    ///
    /// # Errors
    /// The storage failed.
    fn delete(&self, key: &str) -> Result<(), String>;

    /// Returns the rows whose keys begin with `prefix`, in the order of their keys.
    ///
    /// # Errors
    /// The storage failed.
    fn list(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, String>;

    /// Deletes all rows, and the alarm.
    ///
    /// # Errors
    /// The storage failed.
    fn clear(&self) -> Result<(), String>;

    /// Sets the time of the alarm, in milliseconds since 1970-01-01T00:00:00Z. It replaces an earlier time.
    ///
    /// # Errors
    /// The storage failed.
    fn set_alarm(&self, at_ms: u64) -> Result<(), String>;

    /// Completes when all changes so far are stored: a later end of the program cannot undo them.
    ///
    /// # Errors
    /// The storage failed. The changes may be lost.
    fn sync(&self) -> LocalBoxFuture<'static, Result<(), String>>;
}
