//! A call of a tool.

use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;

use super::connection::{Connection, Link, Peer};
use super::definition::Listed;
use super::error::{ClientError, Failure};
use super::message::Params;
use super::request::Outgoing;
use super::result::CallResult;
use crate::json::write;
use crate::protocol::method::Method;

/// A call of a tool of another server. It is sent when it is awaited.
#[must_use = "a call is sent when it is awaited"]
pub struct Call {
    link: Rc<Link>,
    name: String,
    arguments: serde_json::Result<Box<RawValue>>,
    timeout: Duration,
    is_idempotent: bool,
    definition: Option<Listed>,
}

impl Connection {
    /// Creates a call of a tool by its full name, such as `weather_get-forecast`. It is sent when it is awaited.
    ///
    /// # Errors
    /// The name does not begin with the name of a server and `_`.
    pub fn call(&self, name: &str, arguments: impl Serialize) -> Result<Call, ClientError> {
        let (server, tool) = name.split_once('_').unwrap_or((name, ""));
        Ok(self.server(server)?.call(tool, arguments))
    }
}

impl Peer {
    /// Creates a call of the tool `name`. It is sent when it is awaited.
    pub fn call(&self, name: &str, arguments: impl Serialize) -> Call {
        let arguments = write::to_raw_value(&arguments);
        let timeout = self.0.upstream().timeout;
        let (link, name) = (self.0.clone(), name.to_owned());
        Call { link, name, arguments, timeout, is_idempotent: false, definition: None }
    }
}

impl Call {
    /// Sets the definition of the tool, which was listed earlier. The client then sends the headers that the definition requires, and checks
    /// the result, without listing the tools again.
    pub fn tool(mut self, definition: &Listed) -> Self {
        self.definition = Some(definition.clone());
        self
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
        let Self { link, name, arguments, timeout, is_idempotent, definition } = self;
        let not_called = |problem: &str| {
            let failure = Failure::Local(format!("was not called: {problem}"));
            ClientError::new(&link.server().name, Method::CallTool.name(), failure)
        };
        let arguments =
            arguments.map_err(|error| not_called("the arguments cannot be written as JSON.").because(error))?;
        if definition.as_ref().is_some_and(|tool| tool.server() != link.server().name || !tool.is_tool(&name)) {
            return Err(not_called("the definition is of another tool."));
        }
        let params = Params::default().with_text("name", &name).with("arguments", arguments.clone());
        let mut outgoing = Outgoing::new(Method::CallTool, params, timeout);
        outgoing.is_repeatable = is_idempotent;
        outgoing.target = Some(name);
        link.call_tool(outgoing, &arguments, definition).await
    }
}

impl IntoFuture for Call {
    type Output = Result<CallResult, ClientError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.send().boxed_local()
    }
}
