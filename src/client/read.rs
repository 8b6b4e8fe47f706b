//! Reading resources, getting prompts and completing arguments.

use serde::Serialize;
use serde_json::value::RawValue;

use super::connection::Peer;
use super::error::{ClientError, Failure};
use super::message::Params;
use super::request::Outgoing;
use super::rounds::Asked;
use crate::json::write;
use crate::protocol::method::Method;

impl Peer {
    /// Reads the resource at `uri`. Returns the result as JSON text.
    ///
    /// # Errors
    /// The server cannot be asked, has no such resource, or its answer is not valid.
    pub async fn read_resource(&self, uri: &str) -> Result<Box<RawValue>, ClientError> {
        let params = Params::default().with_text("uri", uri);
        let mut outgoing = Outgoing::new(Method::ReadResource, params, self.0.upstream().timeout);
        outgoing.target = Some(uri.to_owned());
        self.0.answered(outgoing, &Asked::by_program(&self.0)).await
    }

    /// Gets the messages of a prompt. The arguments are an object of strings. Returns the result as JSON text.
    ///
    /// # Errors
    /// The server cannot be asked, has no such prompt, or its answer is not valid.
    pub async fn get_prompt(&self, name: &str, arguments: impl Serialize) -> Result<Box<RawValue>, ClientError> {
        let params =
            Params::default().with_text("name", name).with("arguments", self.written(Method::GetPrompt, &arguments)?);
        let mut outgoing = Outgoing::new(Method::GetPrompt, params, self.0.upstream().timeout);
        outgoing.target = Some(name.to_owned());
        self.0.answered(outgoing, &Asked::by_program(&self.0)).await
    }

    fn written(&self, method: Method, value: &impl Serialize) -> Result<Box<RawValue>, ClientError> {
        write::to_raw_value(value).map_err(|error| {
            let failure = Failure::Local("was not called: the arguments cannot be written as JSON.".into());
            ClientError::new(&self.0.server().name, method.name(), failure).because(error)
        })
    }
}
