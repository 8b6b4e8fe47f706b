//! Listing skills, and reading their files.
//!
//! The client reads a file only when the program asks for it, and checks it against the entry of its skill. It caches neither entries nor files.
//!
//! Source: ext-skills, specification; SEP-2640.

use std::collections::BTreeMap;

use edge_json::{Document, JsonLimits, Value};
use edge_uri_template::normalized;
use serde_json::value::RawValue;

use super::listing::{DefinitionPages, Listing};
use super::lists::read_pages;
use super::respondent::Respondent;
use super::rounds;
use crate::client::connection::Peer;
use crate::client::error::{ClientError, Delivery, Failure, Unverified};
use crate::client::session::remote_request::RemoteRequest;
use crate::client::skills::verified;
use crate::client::wire::message::Params;
use crate::client::wire::response::parsed;
use crate::limits::{UPSTREAM_LEGACY_SECONDS, UPSTREAM_SKILLS};
use crate::protocol::method::Method;
use crate::server::list::ListKind;
use crate::server::skills::EXTENSION;
use crate::server::skills::entry::SkillEntry;
use crate::server::skills::store::SkillContent;

const SKILLS: &str = "skills (the extension `io.modelcontextprotocol/skills`)";
const FOLDERS: &str = "that it lists the folders of skills (`directoryRead`)";

impl Peer {
    /// Lists the skills. An entry that is not valid, or whose URI is listed twice, is left out.
    ///
    /// The first request of a client asks the server whether it has skills. No file is read.
    ///
    /// ```
    /// use edge_mcp::client::Peer;
    /// use edge_mcp::HandlerError;
    ///
    /// async fn refunds(orders: Peer) -> Result<String, HandlerError> {
    ///     let skills = orders.list_skills().await?;
    ///     let skill = skills.items.iter().find(|skill| skill.uri() == "skill://refunds/SKILL.md");
    ///     let skill = skill.ok_or_else(|| HandlerError::new("There is no such skill."))?;
    ///     let form = orders.read_skill(skill, "references/FORMS.md").await?;
    ///     Ok(form.text().unwrap_or_default().to_owned())
    /// }
    /// ```
    ///
    /// # Errors
    /// The server does not declare skills, cannot be asked, or its answer is not valid.
    pub async fn list_skills(&self) -> Result<Listing<SkillEntry>, ClientError> {
        self.check_declared(false).await?;
        let server = &self.0.server.name;
        let mut listing = Listing::default();
        let mut found: Vec<(String, SkillEntry)> = Vec::new();
        // How often each URI is listed, also by entries that are not valid.
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        let mut page = |_: Value<'_>, entries: Value<'_>| {
            for entry in entries.items() {
                if found.len().saturating_add(listing.left_out.len()) >= UPSTREAM_SKILLS {
                    return false;
                }
                let uri = entry.string("uri").map(|uri| normalized(&uri).into_owned()).unwrap_or_default();
                match SkillEntry::of_server(server, entry) {
                    Ok(entry) => found.push((uri.clone(), entry)),
                    Err(problem) => listing.left_out.push(problem),
                }
                let times = times.entry(uri).or_default();
                *times = times.saturating_add(1);
            }
            true
        };
        let is_whole = read_pages(&self.0, Method::ListSkills, Params::default(), "skills", &mut page).await?;
        listing.is_truncated = !is_whole;
        for (uri, entry) in found {
            if times.get(&uri).is_some_and(|times| *times > 1) {
                listing.left_out.push(entry.is_listed_twice());
            } else {
                listing.items.push(entry);
            }
        }
        Ok(listing)
    }

    /// Returns the entry of the skill whose `SKILL.md` has this URI. The skill may be one that is not listed.
    ///
    /// # Errors
    /// The server does not declare skills, cannot be asked, has no such skill, or its entry is not valid.
    pub async fn get_skill(&self, uri: &str) -> Result<SkillEntry, ClientError> {
        self.check_declared(false).await?;
        let params = Params::default().with_text("uri", uri);
        let request = RemoteRequest::new(Method::GetSkill, params, self.0.server.upstream.timeout);
        let json = self.0.result(&request).await?;
        self.read_result(Method::GetSkill, &json, |result| {
            let entry = result.get("skill").ok_or(Failure::Malformed("has a result without the skill"))?;
            let invalid = |problem| {
                ClientError::new(Failure::Malformed("has an entry of a skill that is not valid"), Some(problem))
            };
            let entry = SkillEntry::of_server(&self.0.server.name, entry).map_err(invalid)?;
            let is_asked = normalized(entry.uri()) == normalized(uri);
            if is_asked { Ok(entry) } else { Err(Failure::Malformed("has the entry of another skill").into()) }
        })
    }

    /// Reads a file of a skill, and checks it: the entry lists the file, and the file has the size and the digest in the entry. For the
    /// `SKILL.md`, the name and the description also equal those in the entry.
    ///
    /// `reference` is a URI, or a path in the folder of the skill such as `references/FORMS.md`. If the check fails, the content is not
    /// available, and [`get_skill`](Self::get_skill) returns the entry of today.
    ///
    /// # Errors
    /// [`Failure::Unverified`] is the failure of the check. The server does not declare skills, cannot be asked, or its answer is not valid.
    pub async fn read_skill(&self, skill: &SkillEntry, reference: &str) -> Result<SkillContent, ClientError> {
        let failed = |failure: Failure| self.0.error_of(Method::ReadResource.name())(failure.into());
        if skill.server() != self.0.server.name {
            return Err(failed(Failure::Local("was not called: the skill belongs to another server.".into())));
        }
        let file = skill.file(reference).ok_or_else(|| failed(Failure::Unverified(Unverified::Unlisted)))?;
        self.check_declared(false).await?;
        let params = Params::default().with_text("uri", &file.uri);
        let request = RemoteRequest::new(Method::ReadResource, params, self.0.server.upstream.timeout);
        let respondent = Respondent::program(&self.0.cx);
        let json = rounds::result(&self.0, request.with_target(&file.uri), &respondent).await?;
        self.read_result(Method::ReadResource, &json, |result| verified(skill, file, result))
    }

    /// Lists the files and folders in a folder of a skill. The [media type](super::definition::Definition::mime_type) of a folder is
    /// `inode/directory`.
    ///
    /// # Errors
    /// The server does not declare that it lists folders (`directoryRead`), cannot be asked, has no such folder, or its answer is not valid.
    pub async fn read_skill_directory(&self, uri: &str) -> Result<Listing, ClientError> {
        self.check_declared(true).await?;
        let server = &self.0.server.name;
        let folder = format!("{}/", normalized(uri));
        let is_child = |uri: &str| {
            let uri = normalized(uri);
            uri.strip_prefix(&*folder).is_some_and(|name| !matches!(name, "" | "." | "..") && !name.contains('/'))
        };
        let mut children = DefinitionPages::default();
        let mut page = |_: Value<'_>, items: Value<'_>| children.add(server, ListKind::Resources, items, &is_child);
        let params = Params::default().with_text("uri", uri);
        let is_whole = read_pages(&self.0, Method::ReadDirectory, params, "resources", &mut page).await?;
        Ok(Listing { is_truncated: !is_whole, ..children.listing })
    }

    /// Checks that the server declares skills, and if necessary that it lists their folders. A client remembers the declaration for an hour.
    async fn check_declared(&self, needs_folders: bool) -> Result<(), ClientError> {
        let (known, until) = self.0.server.skills.get();
        let lists_folders = match known.filter(|_| self.0.cx.host().now_ms() < until) {
            Some(lists_folders) => lists_folders,
            None => self.declaration().await?,
        };
        if needs_folders && !lists_folders {
            return Err(self.0.error_of(Method::ReadDirectory.name())(Failure::Undeclared(FOLDERS).into()));
        }
        Ok(())
    }

    /// Asks the server whether it declares skills, and returns whether it lists their folders.
    async fn declaration(&self) -> Result<bool, ClientError> {
        let about = self.0.about().await?;
        let undeclared = || self.0.error_of(Method::ListSkills.name())(Failure::Undeclared(SKILLS).into());
        let settings = about.extension(EXTENSION).ok_or_else(undeclared)?;
        let settings = Document::parse(settings.as_bytes(), JsonLimits::MOST).ok();
        let lists_folders =
            settings.is_some_and(|it| it.root().get("directoryRead").is_some_and(|reads| reads.text() == "true"));
        let until = self.0.cx.host().now_ms().saturating_add(UPSTREAM_LEGACY_SECONDS.saturating_mul(1000));
        self.0.server.skills.set((Some(lists_folders), until));
        Ok(lists_folders)
    }

    fn read_result<T>(
        &self,
        method: Method,
        json: &RawValue,
        read: impl FnOnce(Value<'_>) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        parsed(json)
            .and_then(|document| read(document.root()))
            .map_err(|error| self.0.error_of(method.name())(error).delivered_as(Delivery::Executed))
    }
}
