//! A call of a tool.

use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::connection::Link;
use super::error::{ClientError, Failure};
use super::message::Params;
use super::request::Outgoing;
use super::result::CallResult;
use crate::protocol::method::Method;

/// A call of a tool of another server. It is sent when it is awaited.
#[must_use = "a call is sent when it is awaited"]
pub struct Call {
    link: Rc<Link>,
    name: String,
    arguments: serde_json::Result<Box<RawValue>>,
    timeout: Duration,
    is_idempotent: bool,
}

impl Call {
    pub(super) fn new(link: Rc<Link>, name: String, arguments: serde_json::Result<Box<RawValue>>) -> Self {
        let timeout = link.upstream().timeout;
        Self { link, name, arguments, timeout, is_idempotent: false }
    }

    /// Sets the time limit of the request.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Declares that a second call with the same arguments has no further effect. The client then repeats the call once if it is not known
    /// whether the first one was executed.
    pub fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
        self
    }

    async fn send(self) -> Result<CallResult, ClientError> {
        let Self { link, name, arguments, timeout, is_idempotent } = self;
        let arguments = arguments.map_err(|error| {
            let failure = Failure::Local("was not called: the arguments cannot be written as JSON.".into());
            ClientError::new(&link.server().name, Method::CallTool.name(), failure).because(error)
        })?;
        let params = Params::default().with_text("name", &name).with("arguments", arguments);
        let mut outgoing = Outgoing::new(Method::CallTool, params, timeout);
        outgoing.is_repeatable = is_idempotent;
        outgoing.target = Some(name);
        let result = link.request(&outgoing).await?;
        CallResult::read(result).map_err(|problem| {
            ClientError::new(&link.server().name, Method::CallTool.name(), Failure::Malformed(problem))
        })
    }
}

impl IntoFuture for Call {
    type Output = Result<CallResult, ClientError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.send().boxed_local()
    }
}
