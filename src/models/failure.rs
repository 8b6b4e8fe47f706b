//! Failures of model requests, with a text for the caller and a text for the log.
//!
//! Neither text contains parts of the inputs or the API key. Neither text quotes an error body, because endpoints often repeat the inputs or
//! the key in it.

use std::time::Duration;

use crate::call::error::HandlerError;

/// The reason why a request to a model failed.
pub(crate) enum ModelFailure {
    /// The deadline passed after this time. `None`: the service ended the request.
    Slow(Option<Duration>),
    /// The service gave no answer. The text is for the log. It continues a sentence that begins with "the model's endpoint".
    Refused(ModelRefusal, String),
    /// The answer exceeds the size limit.
    TooLarge,
    /// The answer is malformed. The text is for the log.
    Broken(&'static str),
    /// A failure that only one kind of model has. A retry does not help.
    Own(HandlerError),
}

/// The kind of a refusal, which determines the reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelRefusal {
    /// The service is down, or the connection failed.
    Unreachable,
    /// The service has no capacity left for this server.
    Busy,
    /// The service rejects the API key.
    Key,
    /// The model does not exist, or the account of this server cannot use it.
    Unavailable,
    /// The request is too large.
    TooLarge,
    /// The service rejects the request for another reason.
    Rejected,
}

impl ModelFailure {
    /// Returns whether a retry may succeed.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self, Self::Broken(_) | Self::Refused(ModelRefusal::Unreachable | ModelRefusal::Busy, _))
    }

    /// Converts the failure into the error of the handler. `noun` names the kind of model, such as "embedding model". The cause for the
    /// log states the number of attempts.
    pub(crate) fn error(self, noun: &str, attempts: u32) -> HandlerError {
        let mut error = match self {
            Self::Own(error) => error,
            failure => HandlerError::new(failure.message(noun)).because(failure.cause(noun)),
        };
        if let Some(cause) = error.0.cause.as_mut().filter(|_| attempts > 1) {
            *cause = format!("{cause} (asked {attempts} times)");
        }
        error
    }

    fn message(&self, noun: &str) -> String {
        const LATER: &str =
            "Try again later. If it keeps failing, the operator of this server finds the reason in its log.";
        const FIX: &str = "The operator of this server has to fix it. A retry does not help.";
        match self {
            Self::Slow(limit) => {
                let limit = limit.map_or_else(|| "in time".to_owned(), |limit| format!("within {} s", limit.as_secs()));
                format!("The {noun} did not answer {limit}. Ask for less in one request, or try again later.")
            }
            Self::Refused(ModelRefusal::Key, _) => format!("The {noun}'s endpoint rejected this server's key. {FIX}"),
            Self::Refused(ModelRefusal::Unavailable, _) => format!("This server cannot use its {noun}. {FIX}"),
            Self::Refused(ModelRefusal::Busy, _) => {
                format!("The {noun}'s endpoint is overloaded. Try again in a minute.")
            }
            Self::Refused(ModelRefusal::Unreachable, _) => format!("The {noun} cannot be reached. {LATER}"),
            Self::Refused(ModelRefusal::TooLarge | ModelRefusal::Rejected, _) => format!(
                "The {noun}'s endpoint rejected the request. Ask for less in one request. If that does not help, the operator of this \
                 server finds the reason in its log."
            ),
            Self::TooLarge | Self::Broken(_) => {
                format!("The {noun} gave an answer that cannot be used. Rephrase the question. {LATER}")
            }
            Self::Own(error) => error.message().to_owned(),
        }
    }

    fn cause(&self, noun: &str) -> String {
        match self {
            Self::Slow(Some(limit)) => format!("the {noun} did not answer within {} s", limit.as_secs()),
            Self::Slow(None) => format!("the {noun}'s endpoint ended the request before it answered"),
            Self::Refused(_, detail) => format!("the {noun}'s endpoint {detail}"),
            Self::TooLarge => format!("the {noun}'s answer is longer than the limit"),
            Self::Broken(problem) => format!("the {noun}'s answer cannot be used: {problem}"),
            Self::Own(error) => error.message().to_owned(),
        }
    }
}
