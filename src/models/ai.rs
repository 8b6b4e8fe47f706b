//! The platform that runs models.

use futures::future::LocalBoxFuture;

/// Runs models by their names, such as the binding of Workers AI.
pub trait Ai {
    /// Runs `model` with `inputs`, which is a JSON object. Returns the answer as JSON text.
    fn run(&self, model: &str, inputs: String) -> LocalBoxFuture<'static, Result<Vec<u8>, AiFailure>>;
}

/// A failure of the platform: the message as it came, for the log. Begins with an internal code, as in `3040: No more capacity`, if the
/// platform gave one.
pub struct AiFailure(pub String);
