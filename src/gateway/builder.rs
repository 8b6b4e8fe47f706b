//! The builder of a gateway.

use std::rc::Rc;

use super::breaker::Breakers;
use super::catalogue::Catalogue;
use super::mount::Mount;
use super::mounted::Mounted;
use super::servers::{Definition, Gateway};
use crate::client::McpClient;
use crate::limits::{GATEWAY_MOUNTS, GATEWAY_NAME};
use crate::server::build_error::BuildError;
use crate::text::Text;

/// Builds a [`Gateway`].
#[must_use]
pub struct GatewayBuilder {
    name: Text,
    version: Text,
    mounts: Vec<(Text, Mount)>,
    catalogue: Catalogue,
    longest_name: usize,
}

impl Gateway {
    /// Creates a builder for a gateway with this name and version, which it sends to its servers.
    pub fn builder(name: impl Into<Text>, version: impl Into<Text>) -> GatewayBuilder {
        GatewayBuilder {
            name: name.into(),
            version: version.into(),
            mounts: Vec::new(),
            catalogue: Catalogue::All,
            longest_name: 48,
        }
    }
}

impl GatewayBuilder {
    /// Mounts a server. Its name is the prefix of the names of its tools and prompts, and of its URIs. It begins with a letter and has at most 24
    /// letters, digits and hyphens.
    pub fn mount(mut self, name: impl Into<Text>, mount: Mount) -> Self {
        self.mounts.push((name.into(), mount));
        self
    }

    /// Sets which tools are listed. The default is all tools.
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// Sets the longest name of a tool or a prompt, from 40 to 64 bytes. The default is 48: clients put a prefix of their own before it, and models
    /// take 64. A longer name ends with a hash.
    pub fn longest_name(mut self, bytes: usize) -> Self {
        self.longest_name = bytes;
        self
    }

    /// Builds the gateway.
    ///
    /// # Errors
    /// [`BuildError`] names the first mount with a problem: an invalid name or one that is used twice, an invalid setting, or
    /// [`Mount::as_is`] with other mounts.
    pub fn build(self) -> Result<Gateway, BuildError> {
        let Self { name, version, mounts, catalogue, longest_name } = self;
        let problem = |mount: &Text, problem: String| BuildError::new("mount of the gateway", mount.clone(), problem);
        if !(40..=64).contains(&longest_name) {
            let range = "has a longest name of less than 40 or more than 64 bytes";
            return Err(BuildError::new("gateway", name, range));
        }
        if name.is_empty() || name.len() > GATEWAY_NAME {
            return Err(BuildError::new("gateway", name, format!("must have a name of 1 to {GATEWAY_NAME} bytes")));
        }
        let is_alone = mounts.len() == 1;
        if mounts.len() > GATEWAY_MOUNTS {
            return Err(BuildError::new("gateway", name, format!("has more than {GATEWAY_MOUNTS} mounts")));
        }
        let mut client = McpClient::builder(name.clone(), version).gateway(name.clone());
        let mut settings = Vec::new();
        for (mount_name, mount) in mounts {
            let (mount, upstream) = mount.split();
            if !mount.has_prefix && !is_alone {
                return Err(problem(&mount_name, "is mounted as it is, which only a single mount can be".to_owned()));
            }
            if let Some(text) = mount.problem() {
                return Err(problem(&mount_name, text));
            }
            client = client.server(mount_name.clone(), upstream);
            settings.push((mount_name, mount));
        }
        let client = client.build()?;
        let shows_apps = settings.iter().any(|(_, settings)| settings.shows_apps);
        let mounted = |(nth, (mount_name, settings))| {
            Rc::new(Mounted {
                name: mount_name,
                nth,
                settings,
                client: client.clone(),
                gateway: name.clone(),
                longest_name,
                is_beside_apps: shows_apps,
                breakers: Breakers::default(),
            })
        };
        let mounts = settings.into_iter().enumerate().map(mounted).collect();
        Ok(Gateway(Rc::new(Definition { client, mounts, catalogue })))
    }
}
