//! Skills: folders of instructions for a model, served as resources.
//!
//! Source: ext-skills, specification.

pub(crate) mod catalog;
pub(crate) mod entry;
pub(crate) mod methods;
pub(crate) mod resources;
pub(crate) mod store;

use std::cell::RefCell;
use std::rc::Rc;

use edge_json::object;

use self::catalog::Catalog;
use self::store::{SkillRecord, SkillStore};
use super::access::{Access, access_methods, permits};
use super::definitions::Definitions;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::SKILL_READS;
use crate::text::Text;

/// The name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// Skills from one place, for [`McpServerBuilder::skills`](crate::McpServerBuilder::skills).
#[must_use]
pub struct Skills {
    store: Rc<dyn SkillStore>,
    access: Access,
    /// Whether the skills are those of other servers. The skills of this server take precedence.
    is_foreign: bool,
    /// The URIs of the skills, if they are known.
    uris: Vec<String>,
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
}

impl Skills {
    /// Adds the skills to those of the server, and declares the extension. Returns whether they are the first ones.
    pub(crate) fn add_to(self, all: &SkillSets, definitions: &mut Definitions) -> bool {
        let mut sets = all.borrow_mut();
        for uri in &self.uris {
            if sets.iter().any(|set| set.uris.contains(uri)) {
                let problem = || ("skill", uri.clone().into(), "is in two catalogs".to_owned());
                definitions.item_problem.get_or_insert_with(problem);
            }
        }
        let at = sets.iter().position(|known| known.is_foreign && !self.is_foreign).unwrap_or(sets.len());
        sets.insert(at, Rc::new(self));
        definitions.extensions.insert(EXTENSION.to_owned(), object(vec![("directoryRead", true.into())]));
        sets.len() == 1
    }

    /// Returns the skills after `after` that the caller of `cx` can see: `limit` of them, and fewer only at the end. A hidden skill must not be
    /// the position of a cursor, because the caller could read its URI there.
    async fn visible_to(
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
fn shows(scopes: &[Text], cx: &Context) -> bool {
    permits(cx.request(), scopes)
}

/// Returns the sets that the caller of `cx` can see.
fn open_sets(sets: &SkillSets, cx: &Context) -> Vec<Rc<Skills>> {
    sets.borrow().iter().filter(|set| set.access.permits(cx.request())).cloned().collect()
}
