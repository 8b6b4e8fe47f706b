//! The sets of skills of a server, and the functions that answer for them.

use std::rc::Rc;

use super::store::{SkillFuture, SkillStore};
use crate::call::context::Context;
use crate::protocol::description::ResourceDescription;
use crate::server::access::{Access, permits};
use crate::server::resource::Resource;
use crate::text::Text;

/// Skills from one store, with their access rules.
#[derive(Clone)]
pub(crate) struct SkillSet {
    pub(super) store: Rc<dyn SkillStore>,
    pub(super) access: Rc<Access>,
}

impl SkillSet {
    /// Returns whether the caller of `cx` has the scopes of the set and can see it.
    pub(super) fn is_open_to(&self, cx: &Context) -> bool {
        self.access.permits(cx.request())
    }
}

/// Returns whether the caller of `cx` can see a skill with these scopes.
pub(super) fn shows(scopes: &[Text], cx: &Context) -> bool {
    permits(cx.request(), scopes)
}

/// A request for skills.
pub(crate) enum Asked {
    /// `skills/list`, from this cursor on, with at most this number of skills.
    List(Option<String>, usize),
    /// `skills/get` of a URI.
    Get(String),
    /// `resources/directory/read` of a URI, like `List`.
    Directory(String, Option<String>, usize),
}

/// The sets of skills of a server.
///
/// Only `McpServerBuilder::skills` sets the functions, so the wasm module of a server without skills does not contain them.
#[derive(Clone)]
pub(crate) struct SkillSets {
    pub sets: Vec<SkillSet>,
    /// Returns the result as JSON.
    pub answer: fn(&[SkillSet], Asked, Context) -> SkillFuture<String>,
    /// Returns the resource at a URI that skills may have.
    pub resource: fn(&[SkillSet], &str) -> Option<Resource>,
    /// Returns the resources that `resources/list` shows: the `SKILL.md` of each skill.
    pub listed: fn(&[SkillSet], Context) -> SkillFuture<Vec<ResourceDescription>>,
    /// The URIs of the skills, as far as they are known, and the first of them that two sets have.
    pub uris: Vec<String>,
    pub duplicate: Option<String>,
}
