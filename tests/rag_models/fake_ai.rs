//! A platform that gives prepared answers.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::pending;
use std::rc::Rc;

use edge_mcp::models::{Ai, AiFailure};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::Value;

/// The answer to one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Answer(Vec<u8>),
    Failure(String),
    /// The answer never arrives.
    Silence,
}

/// Returns an answer that is JSON.
pub(crate) fn answer(json: &Value) -> Reply {
    Reply::Answer(json.to_string().into_bytes())
}

/// Returns a failure with an internal code.
pub(crate) fn failure(message: impl Into<String>) -> Reply {
    Reply::Failure(message.into())
}

/// The platform: its last answer is repeated.
pub(crate) struct FakeAi {
    replies: RefCell<VecDeque<Reply>>,
    asked: RefCell<Vec<(String, Value)>>,
}

impl FakeAi {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Rc<Self> {
        Rc::new(Self { replies: RefCell::new(replies.into_iter().collect()), asked: RefCell::default() })
    }

    /// Returns the name of the model and the inputs of each request.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        self.asked.borrow().clone()
    }
}

impl Ai for FakeAi {
    fn run(&self, model: &str, inputs: String) -> LocalBoxFuture<'static, Result<Vec<u8>, AiFailure>> {
        self.asked.borrow_mut().push((model.to_owned(), serde_json::from_str(&inputs).expect("JSON")));
        let mut replies = self.replies.borrow_mut();
        let reply = if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() };
        match reply.expect("an answer") {
            Reply::Answer(answer) => ready(Ok(answer)).boxed_local(),
            Reply::Failure(message) => ready(Err(AiFailure(message))).boxed_local(),
            Reply::Silence => pending().boxed_local(),
        }
    }
}
