//! The sets of skills of a server, with their access rules.

use std::cell::RefCell;
use std::rc::Rc;

use super::catalog::Catalog;
use super::store::{SkillRecord, SkillStore};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::SKILL_READS;
use crate::server::access::{Access, access_methods, permits};
use crate::text::Text;

/// Skills from one place, for [`McpServerBuilder::skills`](crate::McpServerBuilder::skills).
pub struct Skills {
    pub(super) store: Rc<dyn SkillStore>,
    access: Access,
    /// Whether the skills are those of other servers. The skills of this server take precedence.
    pub(super) is_foreign: bool,
    /// The URIs of the skills, if they are known.
    pub(super) uris: Vec<String>,
}

/// The sets of skills of a server. The template of their files shares them, so that it serves sets that are added later.
pub(crate) type SkillSets = Rc<RefCell<Vec<Rc<Skills>>>>;

impl Skills {
    /// Serves skills that are compiled into the program.
    pub fn embedded(catalog: &'static Catalog) -> Self {
        Self { uris: catalog.uris().collect(), ..Self::new(catalog) }
    }

    /// Serves the skills of a store.
    pub fn new(store: impl SkillStore + 'static) -> Self {
        Self { store: Rc::new(store), access: Access::default(), is_foreign: false, uris: Vec::new() }
    }

    /// Makes the skills those of other servers.
    #[cfg(feature = "gateway")]
    pub(crate) fn foreign(self) -> Self {
        Self { is_foreign: true, ..self }
    }

    access_methods!();

    /// Returns the skills after `after` that the caller of `cx` can see: `limit` of them, and fewer only at the end. A hidden skill must not be
    /// the position of a cursor, because the caller could read its URI there.
    pub(super) async fn visible_to(
        &self,
        mut after: Option<String>,
        limit: usize,
        cx: &Context,
    ) -> Result<Vec<SkillRecord>, HandlerError> {
        let mut visible = Vec::new();
        for _ in 0..SKILL_READS {
            let skills = self.store.list(after, limit, cx).await?;
            let is_end = skills.len() < limit;
            after = skills.last().map(|last| last.uri.clone());
            visible.extend(skills.into_iter().filter(|skill| shows(&skill.scopes, cx)));
            if is_end || visible.len() >= limit {
                break;
            }
        }
        Ok(visible)
    }
}

/// Returns whether the caller of `cx` can see a skill with these scopes.
pub(super) fn shows(scopes: &[Text], cx: &Context) -> bool {
    permits(cx.request(), scopes)
}

/// Returns the sets that the caller of `cx` can see.
pub(super) fn open_sets(sets: &SkillSets, cx: &Context) -> Vec<Rc<Skills>> {
    sets.borrow().iter().filter(|set| set.access.permits(cx.request())).cloned().collect()
}
