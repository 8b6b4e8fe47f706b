//! The skills of mounted servers.
//!
//! Only the URIs change. The bytes of a file stay, so its digest holds. The gateway does not verify files: a digest of the server proves nothing
//! about the server, and the client of the caller verifies each file.
//!
//! Source: ext-skills, specification.

use std::rc::Rc;

use edge_json::write::ObjectWriter;
use edge_json::{Document, JsonLimits, Value};
use futures::FutureExt;

use super::mounted::{Mounted, log_failure};
use super::servers::{Bytes, Gateway, end_of_lists, until};
use super::uris::{SKILLS, is_sendable};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::client::{ClientError, Definition, Failure, Peer};
use crate::limits::UPSTREAM_PARALLEL;
use crate::parallel::parallel;
use crate::protocol::method::Method;
use crate::server::access::permits;
use crate::server::skills::Skills;
use crate::server::skills::entry::SkillEntry;
use crate::server::skills::store::{SkillChild, SkillContent, SkillFuture, SkillRecord, SkillStore};

/// The media type of a folder in `resources/directory/read`.
const FOLDER: &str = "inode/directory";

/// The skills of the servers of a gateway.
struct MountedSkills(Gateway);

impl Gateway {
    /// Returns the skills of the servers whose mounts [show skills](super::Mount::skills), for
    /// [`McpServerBuilder::skills`](crate::McpServerBuilder::skills).
    ///
    /// ```
    /// use edge_mcp::client::Upstream;
    /// use edge_mcp::gateway::{Gateway, Mount};
    /// use edge_mcp::McpServer;
    ///
    /// let handbook = Mount::new(Upstream::at("https://handbook.example.com/mcp")?).skills();
    /// let gateway = Gateway::builder("edge", "1.0.0").mount("handbook", handbook).build()?;
    /// let server = McpServer::builder("edge", "1.0.0").gateway(&gateway).skills(gateway.skills()).build()?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn skills(&self) -> Skills {
        Skills::new(MountedSkills(self.clone())).foreign()
    }
}

impl MountedSkills {
    /// Returns the servers whose skills the caller can see.
    fn servers(&self, cx: &Context) -> impl Iterator<Item = Rc<Mounted>> {
        let is_open =
            |mount: &&Rc<Mounted>| mount.settings.shows_skills && permits(cx.request(), &mount.settings.scopes);
        self.0.0.mounts.iter().filter(is_open).cloned()
    }

    /// Returns the server of a skill that the caller can see, and the URI there.
    fn server_of(&self, shown: &str, cx: &Context) -> Option<(Rc<Mounted>, String)> {
        let own = self.servers(cx).find_map(|mount| {
            let own = mount.own_uri(shown)?.into_owned();
            Some((mount, own))
        });
        own.filter(|(_, own)| is_sendable(own))
    }

    /// Asks the server of a skill. Returns the server and its answer, or `None` for an item that no server has.
    fn ask<T: 'static>(
        &self,
        shown: String,
        cx: &Context,
        request: impl AsyncFnOnce(&Peer, &str) -> Result<T, ClientError> + 'static,
    ) -> SkillFuture<Option<(Rc<Mounted>, T)>> {
        let (server, cx) = (self.server_of(&shown, cx), cx.clone());
        let asked = async move {
            let Some((mount, own)) = server else { return Ok(None) };
            let peer = mount.connect(&cx)?;
            match mount.guard(&peer, &cx, request(&peer, &own)).await {
                Ok(answer) => Ok(Some((mount, answer))),
                Err(error) if matches!(error.failure(), Failure::Rpc { code: -32_002 | -32_602, .. }) => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        asked.boxed_local()
    }
}

/// The skills of all servers of a gateway, which a request reads once for all its pages.
struct Gathered {
    gateway: Gateway,
    skills: Vec<SkillRecord>,
}

/// Returns the skills of these servers. A server that fails takes nothing from the others.
///
/// # Errors
/// All servers failed.
async fn gathered(gateway: Gateway, mounts: Vec<Rc<Mounted>>, cx: &Context) -> Result<Rc<Gathered>, HandlerError> {
    let known = cx.request().extension::<Gathered>();
    if let Some(known) = known.filter(|known| Rc::ptr_eq(&known.gateway.0, &gateway.0)) {
        return Ok(known);
    }
    let ends = end_of_lists(cx);
    let listed = mounts.iter().map(|mount| until(mount, ends, cx, entries(mount, cx)).boxed_local());
    let (mut skills, bytes) = (Vec::new(), Bytes::of(mounts.len()));
    let mut problem = None;
    let mut has_answered = mounts.is_empty();
    for (mount, listed) in mounts.iter().zip(parallel(listed, UPSTREAM_PARALLEL).await) {
        match listed {
            Ok(entries) => {
                has_answered = true;
                let length = entries.iter().fold(0_usize, |sum, skill| sum.saturating_add(skill.json.len()));
                if bytes.take(length) {
                    skills.extend(entries);
                } else {
                    mount.warn(cx, "its skills are left out, because the entries of all servers are too long");
                }
            }
            Err(text) => problem = Some(text),
        }
    }
    if let Some(problem) = problem.filter(|_| !has_answered) {
        return Err(HandlerError::new(problem));
    }
    skills.sort_unstable_by(|one, other| one.uri.cmp(&other.uri));
    cx.request().extend(Gathered { gateway, skills });
    cx.request().extension().ok_or_else(|| HandlerError::new("The skills cannot be listed now."))
}

impl SkillStore for MountedSkills {
    fn list(&self, after: Option<String>, limit: usize, cx: &Context) -> SkillFuture<Vec<SkillRecord>> {
        let (gateway, mounts, cx) = (self.0.clone(), self.servers(cx).collect(), cx.clone());
        let list = async move {
            let gathered = gathered(gateway, mounts, &cx).await?;
            let is_later = |skill: &&SkillRecord| after.as_ref().is_none_or(|after| skill.uri > *after);
            Ok(gathered.skills.iter().filter(is_later).take(limit).cloned().collect())
        };
        list.boxed_local()
    }

    fn get(&self, uri: String, cx: &Context) -> SkillFuture<Option<SkillRecord>> {
        let entry = self.ask(uri, cx, async |peer, own| peer.get_skill(own).await);
        async move { Ok(entry.await?.and_then(|(mount, entry)| shown(&mount, &entry))) }.boxed_local()
    }

    fn read(&self, uri: String, cx: &Context) -> SkillFuture<Option<SkillContent>> {
        let result = self.ask(uri.clone(), cx, async |peer, own| peer.read_resource(own).await);
        let read = async move {
            let Some((mount, result)) = result.await? else { return Ok(None) };
            let [contents] = &*result.contents else { return Ok(None) };
            let bytes = contents.as_text().map(|text| text.as_bytes().to_vec()).or_else(|| contents.bytes());
            let mime_type = Some(contents.get_mime_type().unwrap_or("application/octet-stream").to_owned().into());
            let scopes = mount.settings.scopes.clone();
            Ok(bytes.map(|bytes| SkillContent { uri, mime_type, digest: None, bytes, scopes }))
        };
        read.boxed_local()
    }

    fn directory(
        &self,
        uri: String,
        after: Option<String>,
        limit: usize,
        cx: &Context,
    ) -> SkillFuture<Option<Vec<SkillChild>>> {
        let listing = self.ask(uri, cx, async |peer, own| peer.read_skill_directory(own).await);
        let directory = async move {
            let Some((mount, listing)) = listing.await? else { return Ok(None) };
            let mut children: Vec<_> = listing.items.iter().map(|item| child(&mount, item)).collect();
            children.retain(|child| after.as_ref().is_none_or(|after| child.uri > *after));
            children.sort_unstable_by(|one, other| one.uri.cmp(&other.uri));
            children.truncate(limit);
            Ok(Some(children))
        };
        directory.boxed_local()
    }
}

/// Returns a file or a folder of a skill.
fn child(mount: &Mounted, listed: &Definition) -> SkillChild {
    let document = Document::parse(listed.raw().as_bytes(), JsonLimits::MOST).ok();
    let root = document.as_ref().map(Document::root);
    let mime_type = root.and_then(|root| root.string("mimeType")).filter(|mime_type| mime_type != FOLDER);
    let size = root.and_then(|root| root.get("size")?.text().parse().ok());
    let child = SkillChild::new(mount.shown_uri(listed.name()).into_owned(), mime_type.map(Into::into), size);
    SkillChild { scopes: mount.settings.scopes.clone(), ..child }
}

/// Returns the skills of a server.
async fn entries(mount: &Mounted, cx: &Context) -> Result<Vec<SkillRecord>, ClientError> {
    let peer = mount.connect(cx).inspect_err(|error| log_failure(error, cx))?;
    let listing = mount.guard(&peer, cx, mount.in_time(cx, Method::ListSkills, peer.list_skills())).await;
    let listing = listing.inspect_err(|error| log_failure(error, cx)).map_err(ClientError::without_text)?;
    if !listing.left_out.is_empty() {
        mount.warn(cx, "skills are left out: their entries are not valid, or listed twice");
    }
    Ok(listing.items.iter().filter_map(|entry| shown(mount, entry)).collect())
}

/// Returns an entry with the URIs by which callers know the skill and its files. The frontmatter keeps its text: clients compare it. Returns
/// `None` for a skill with another scheme.
fn shown(mount: &Mounted, entry: &SkillEntry) -> Option<SkillRecord> {
    let document = Document::parse(entry.raw().as_bytes(), JsonLimits::MOST).ok()?;
    let uri = entry.uri().starts_with(SKILLS).then(|| mount.shown_uri(entry.uri()))?;
    let mut json = ObjectWriter::new().text("uri", &uri);
    for (name, value) in document.root().members() {
        json = match &*name {
            "uri" => json,
            "resources" if value.items().next().is_some() => {
                let files: Vec<_> = value.items().map(|file| shown_file(mount, file)).collect();
                json.json(&name, &format!("[{}]", files.join(",")))
            }
            _ => json.json(&name, value.text()),
        };
    }
    Some(SkillRecord { uri: uri.into_owned(), json: json.finish().into(), scopes: mount.settings.scopes.clone() })
}

fn shown_file(mount: &Mounted, file: Value<'_>) -> String {
    let written = file.members().fold(ObjectWriter::new(), |json, (name, value)| match value.as_str() {
        Some(uri) if name == "uri" => json.text(&name, &mount.shown_uri(&uri)),
        _ => json.json(&name, value.text()),
    });
    written.finish()
}
