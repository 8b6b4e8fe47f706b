//! Failures of model requests, with a text for the caller and a text for the log.
//!
//! Neither text contains parts of the conversation or the API key. Neither text quotes an error body, because endpoints often repeat the
//! conversation or the key in it.

use std::time::Duration;

use crate::call::error::HandlerError;

/// The reason why a request to a model failed.
pub(super) enum Failure {
    /// The deadline passed.
    Slow(Duration),
    /// The connection failed. The text is for the log.
    Unreachable(String),
    /// The endpoint answered with an error status, and optionally an error code.
    Status(u16, Option<String>),
    /// The answer exceeds the size limit.
    TooLarge,
    /// The answer is malformed. The text is for the log.
    Broken(&'static str),
    /// The content filter of the endpoint blocked the answer.
    Withheld,
    /// The model used all of its tokens before it wrote an answer.
    CutShort,
    /// The model called tools in every round.
    NoAnswer(u8),
}

impl Failure {
    /// Returns whether a retry may succeed.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) => true,
            Self::Status(status, _) => matches!(status, 408 | 429 | 500..),
            _ => false,
        }
    }

    fn message(&self) -> String {
        const LATER: &str =
            "Try again later. If it keeps failing, the operator of this server finds the reason in its log.";
        match self {
            Self::Slow(limit) => format!(
                "The model did not answer within {} s. Ask for less in one request, or try again later.",
                limit.as_secs()
            ),
            Self::Status(401 | 403, _) => {
                "The model's endpoint rejected this server's key. The operator of this server has to fix it. A retry does not help."
                    .into()
            }
            Self::Status(429, _) => "The model's endpoint is overloaded. Try again in a minute.".into(),
            Self::Status(408 | 500.., _) | Self::Unreachable(_) => format!("The model cannot be reached. {LATER}"),
            Self::Status(..) => "The model's endpoint rejected the request. Ask for less in one request. If that does not help, the \
                                 operator of this server finds the reason in its log."
                .into(),
            Self::TooLarge | Self::Broken(_) => {
                format!("The model gave an answer that cannot be used. Rephrase the question. {LATER}")
            }
            Self::Withheld => {
                "The model's endpoint withheld the answer because of its content filter. Rephrase the question.".into()
            }
            Self::CutShort => {
                "The model used all of its tokens before it wrote an answer. Ask for less in one request.".into()
            }
            Self::NoAnswer(rounds) => {
                format!(
                    "The model was asked {rounds} times and called tools each time, without an answer. Ask for less in one request."
                )
            }
        }
    }

    fn cause(&self) -> String {
        match self {
            Self::Slow(limit) => format!("the model did not answer within {} s", limit.as_secs()),
            Self::Unreachable(cause) => format!("the model's endpoint cannot be reached: {cause}"),
            Self::Status(status, None) => format!("the model's endpoint answers with status {status}"),
            Self::Status(status, Some(code)) => format!("the model's endpoint answers with status {status}, {code}"),
            Self::TooLarge => "the model's answer is longer than the limit".into(),
            Self::Broken(problem) => format!("the model's answer cannot be used: {problem}"),
            Self::Withheld => "the content filter of the model's endpoint withheld the answer".into(),
            Self::CutShort => "the model's answer is empty: it used all of its tokens".into(),
            Self::NoAnswer(rounds) => format!("the model gave no answer in {rounds} rounds"),
        }
    }

    /// Converts the failure into the error of the handler. The cause for the log states the number of attempts.
    pub(super) fn after(&self, attempts: u32) -> HandlerError {
        let cause = self.cause();
        let cause = if attempts > 1 { format!("{cause} (asked {attempts} times)") } else { cause };
        HandlerError::new(self.message()).because(cause)
    }
}
