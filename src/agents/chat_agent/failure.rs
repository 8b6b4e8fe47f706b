//! The failures that only chat models have, with a text for the caller and a text for the log.

use crate::call::error::HandlerError;

/// The content filter of the endpoint blocked the answer.
pub(super) fn withheld() -> HandlerError {
    HandlerError::new("The model's endpoint withheld the answer because of its content filter. Rephrase the question.")
        .because("the content filter of the model's endpoint withheld the answer")
}

/// The model used all of its tokens before it wrote an answer.
pub(super) fn cut_short() -> HandlerError {
    HandlerError::new("The model used all of its tokens before it wrote an answer. Ask for less in one request.")
        .because("the model's answer is empty: it used all of its tokens")
}

/// The model called tools in each of these rounds.
pub(super) fn no_answer(rounds: u8) -> HandlerError {
    HandlerError::new(format!(
        "The model was asked {rounds} times and called tools each time, without an answer. Ask for less in one request."
    ))
    .because(format!("the model gave no answer in {rounds} rounds"))
}
