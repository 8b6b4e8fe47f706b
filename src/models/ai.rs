//! The interface to a platform that runs models.

use futures::future::LocalBoxFuture;

/// Runs models by their names, such as the binding of Workers AI.
pub trait Ai {
    /// Runs `model` with `inputs`, which is a JSON object. Returns the answer as JSON text.
    fn run(&self, model: &str, inputs: String) -> LocalBoxFuture<'static, Result<Vec<u8>, AiFailure>>;
}

/// A failure of the platform: the message as it came, such as `3040: No more capacity` or `AiError: 5006: Type mismatch`. The library reads
/// the internal code, and logs no other part of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiFailure(pub String);
