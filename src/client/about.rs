//! The description that a server gives of itself.
//!
//! Source: 2026-07-28, server/discover; 2025-11-25, basic/lifecycle.

use std::rc::Rc;

use serde_json::value::RawValue;

use super::connection::{Link, Peer};
use super::error::{ClientError, Failure};
use super::message::Params;
use super::negotiation::Known;
use super::request::Outgoing;
use crate::json::{Document, JsonLimits, Kind, Value};
use crate::limits::UPSTREAM_NEGOTIATION_SECONDS;
use crate::protocol::method::Method;
use crate::protocol::revision::{Era, Revision};

/// The member of `_meta` in which a modern server names itself.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The description that a server gives of itself: its name, version, capabilities and instructions. Cloning is cheap.
///
/// Each text is from the server. Instructions of a server that the program does not trust do not belong into a prompt.
#[derive(Clone, Debug)]
pub struct About(Rc<Parts>);

#[derive(Debug)]
struct Parts {
    revision: Revision,
    json: Box<RawValue>,
}

impl About {
    /// Creates the description from the result of `server/discover` or `initialize`.
    pub(super) fn of(revision: Revision, json: Box<RawValue>) -> Self {
        Self(Rc::new(Parts { revision, json }))
    }

    /// Returns the revision that the client and the server use.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// Returns the name of the server, or an empty text.
    pub fn name(&self) -> String {
        self.read(|result| info(result)?.string("name")).unwrap_or_default()
    }

    /// Returns the version of the server, or an empty text.
    pub fn version(&self) -> String {
        self.read(|result| info(result)?.string("version")).unwrap_or_default()
    }

    /// Returns the instructions for a model.
    pub fn instructions(&self) -> Option<String> {
        self.read(|result| result.string("instructions"))
    }

    /// Returns whether the server has a capability, such as `tools`, `resources`, `prompts` or `completions`.
    pub fn has_capability(&self, name: &str) -> bool {
        let has = |result: Value<'_>| Some(result.get("capabilities")?.get(name)?.kind() == Kind::Object);
        self.read(has).unwrap_or(false)
    }

    /// Returns the description as JSON text, as the server sent it.
    pub fn json(&self) -> &str {
        self.0.json.get()
    }

    fn read<T>(&self, read: impl Fn(Value<'_>) -> Option<T>) -> Option<T> {
        read(Document::parse(self.json().as_bytes(), JsonLimits::MOST).ok()?.root())
    }
}

fn info(result: Value<'_>) -> Option<Value<'_>> {
    result.get("_meta").and_then(|meta| meta.get(SERVER_INFO)).or_else(|| result.get("serverInfo"))
}

impl Peer {
    /// Returns the description that the server gives of itself.
    ///
    /// # Errors
    /// The server cannot be asked, or it does not describe itself.
    pub async fn about(&self) -> Result<About, ClientError> {
        self.0.about().await
    }
}

impl Link {
    async fn about(&self) -> Result<About, ClientError> {
        {
            let _negotiation = self.negotiation.lock().await;
            let mut known = self.known();
            if matches!(known, Known::Nothing | Known::Unsettled) {
                known = self.discover().await?;
            }
            if known.era() == Era::Legacy && self.about.borrow().is_none() {
                self.initialize(known).await?;
            }
        }
        if let Some(about) = &*self.about.borrow() {
            return Ok(about.clone());
        }
        let time = std::time::Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
        let result = self.request(&Outgoing::new(Method::Discover, Params::default(), time)).await?;
        let Known::Modern(revision) = self.known() else {
            let failure = Failure::Malformed("contradicts the earlier answers of the server");
            return Err(ClientError::new(&self.server().name, Method::Discover.name(), failure));
        };
        let about = About::of(revision, result);
        self.about.replace(Some(about.clone()));
        Ok(about)
    }
}
