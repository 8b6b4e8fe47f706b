//! What goes wrong when a model is asked: a text for the caller, another for the log.
//!
//! Neither has anything of the conversation, nor of the key: an endpoint that refuses something likes to repeat it.

use std::time::Duration;

use crate::call::error::HandlerError;

/// Why there is no answer.
pub(super) enum Failure {
    /// The time is up.
    Slow(Duration),
    /// The connection failed; for the log.
    Unreachable(String),
    /// The endpoint has answered with a status that is no success, and with a code for its reason.
    Status(u16, Option<String>),
    /// The answer is longer than the limit.
    TooLarge,
    /// The answer is not what it should be; for the log.
    Broken(&'static str),
    /// The endpoint's content filter objects.
    Withheld,
    /// The model has used all of its tokens and said nothing.
    CutShort,
    /// The model went on to call tools.
    NoAnswer(u8),
}

impl Failure {
    /// Whether it may be otherwise the next time.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) => true,
            Self::Status(status, _) => matches!(status, 408 | 429 | 500..),
            _ => false,
        }
    }

    fn message(&self) -> String {
        const LATER: &str = "Try again later; if it stays so, whoever runs this server finds the reason in its log.";
        match self {
            Self::Slow(limit) => format!(
                "The model did not answer within {} s. Ask for less at once, or try again later.",
                limit.as_secs()
            ),
            Self::Status(401 | 403, _) => {
                "The model's endpoint refused this server's key. Whoever runs this server has \
                                           to mend that; to ask again does not help."
                    .into()
            }
            Self::Status(429, _) => "The model has too much to do at this moment. Try again in a minute.".into(),
            Self::Status(408 | 500.., _) | Self::Unreachable(_) => format!("The model cannot be reached. {LATER}"),
            Self::Status(..) => {
                "The model's endpoint did not take the request. Ask for less at once; if that does not \
                                 help, whoever runs this server finds the reason in its log."
                    .into()
            }
            Self::TooLarge | Self::Broken(_) => {
                format!("The model gave an answer that cannot be used. Ask in other words. {LATER}")
            }
            Self::Withheld => {
                "The model's endpoint withheld the answer: its content filter objects. Ask in other words.".into()
            }
            Self::CutShort => {
                "The model came to the end of its tokens before it had said anything. Ask for less at once.".into()
            }
            Self::NoAnswer(rounds) => {
                format!(
                    "The model was asked {rounds} times and still called tools in place of an answer. Ask for less at once."
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
            Self::Withheld => "the content filter of the model's endpoint has withheld the answer".into(),
            Self::CutShort => "the model's answer is empty: it had no more tokens".into(),
            Self::NoAnswer(rounds) => format!("the model has given no answer in {rounds} rounds"),
        }
    }

    /// The error after so many attempts.
    pub(super) fn after(&self, attempts: u32) -> HandlerError {
        let cause = self.cause();
        let cause = if attempts > 1 { format!("{cause} (asked {attempts} times)") } else { cause };
        HandlerError::new(self.message()).because(cause)
    }
}
