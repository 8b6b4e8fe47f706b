//! The extensions of the protocol that a client declares.
//!
//! A client of 2026-07-28 declares them in each request. Older clients declare them only in `initialize`, and the server keeps no state, so
//! for their other requests the answer is not known.
//!
//! Source: 2026-07-28, basic/index, "Per-request protocol fields"; basic/versioning, "Extension Negotiation".

use std::cell::OnceCell;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind, Value};
use serde_json::value::RawValue;

use crate::limits::CLIENT_EXTENSIONS;
use crate::protocol::description::Implementation;
use crate::protocol::meta::{CLIENT_CAPABILITIES, CLIENT_INFO, read_client};

/// The member of the capabilities with the extensions.
const EXTENSIONS: &str = "extensions";

/// The support of a client for an extension of the protocol.
///
/// What does no harm to a client without the extension, such as metadata, can be sent if the answer is not `No`. What needs the client's
/// cooperation needs `Yes`.
#[derive(Clone, Debug)]
pub enum ClientSupport {
    /// The client supports the extension, with these settings: the text of a JSON object.
    Yes(Rc<RawValue>),
    /// The client does not support the extension.
    No,
    /// It is not known. Clients up to 2025-11-25 declare extensions only in `initialize`.
    Unknown,
}

impl ClientSupport {
    /// Returns whether the client declared the extension.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

/// The text in which a client declares its capabilities.
#[derive(Clone, Debug, Default)]
pub(crate) enum CapabilitySource {
    /// The request does not declare capabilities.
    #[default]
    Nowhere,
    /// The `_meta` of the request.
    InMeta,
    /// The capabilities object of `initialize`.
    Here(Box<str>),
}

/// The part of a request that describes its client.
#[derive(Default)]
pub(crate) struct ClientDetails {
    /// The `_meta` of the parameters, as it was sent.
    pub meta: Option<Box<str>>,
    pub declared: CapabilitySource,
    /// The extensions, and their settings. They are read at the first question.
    extensions: OnceCell<Vec<(String, Rc<RawValue>)>>,
    /// The name and version of the client. They are read when the handler asks for them.
    info: OnceCell<Option<Implementation>>,
}

impl ClientDetails {
    pub(crate) fn new(meta: Option<Box<str>>, declared: CapabilitySource) -> Self {
        Self { meta, declared, extensions: OnceCell::new(), info: OnceCell::new() }
    }

    /// Returns the name and version of the client. Clients of older revisions send them only in `initialize`.
    pub(crate) fn info(&self) -> Option<&Implementation> {
        let read = || {
            let meta = self.meta.as_deref().filter(|_| matches!(self.declared, CapabilitySource::InMeta))?;
            let document = Document::parse(meta.as_bytes(), JsonLimits::MOST).ok()?;
            read_client(document.root().get(CLIENT_INFO)?)
        };
        self.info.get_or_init(read).as_ref()
    }

    /// Returns whether the client supports the extension `id`.
    pub(crate) fn supports(&self, id: &str) -> ClientSupport {
        let extensions = match &self.declared {
            CapabilitySource::Nowhere => return ClientSupport::Unknown,
            CapabilitySource::InMeta => self.extensions.get_or_init(|| {
                let meta = self.meta.as_deref().unwrap_or_default();
                read(meta, &[CLIENT_CAPABILITIES, EXTENSIONS])
            }),
            CapabilitySource::Here(capabilities) => self.extensions.get_or_init(|| read(capabilities, &[EXTENSIONS])),
        };
        let settings = extensions.iter().find(|(known, _)| known == id).map(|(_, settings)| settings.clone());
        settings.map_or(ClientSupport::No, ClientSupport::Yes)
    }
}

/// Reads the object of extensions at `path` in the JSON `text`. Settings that are not an object do not declare the extension. Neither do too many extensions.
fn read(text: &str, path: &[&str]) -> Vec<(String, Rc<RawValue>)> {
    let Ok(document) = Document::parse(text.as_bytes(), JsonLimits::MOST) else { return Vec::new() };
    let declared = path.iter().try_fold(document.root(), |value, name| value.get(name));
    let mut extensions = Vec::new();
    for (id, settings) in
        declared.into_iter().flat_map(Value::members).filter(|(_, settings)| settings.kind() == Kind::Object)
    {
        if extensions.len() >= CLIENT_EXTENSIONS {
            return Vec::new();
        }
        extensions.extend(settings.to_raw().map(|settings| (id.into_owned(), Rc::from(settings))));
    }
    extensions
}
