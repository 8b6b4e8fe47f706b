//! The sets of skills of a server, with their access rules.

use std::cell::RefCell;
use std::rc::Rc;

use super::store::{SkillEntry, SkillStore};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::SKILL_READS;
use crate::server::access::{Access, permits};
use crate::text::Text;

/// Skills from one store, with their access rules.
#[derive(Clone)]
pub(crate) struct SkillSet {
    pub(super) store: Rc<dyn SkillStore>,
    pub(super) access: Rc<Access>,
    /// Whether the skills are those of other servers. The skills of this server take precedence.
    pub(super) is_foreign: bool,
    /// The URIs of the skills, if they are known.
    pub(super) uris: Rc<[String]>,
}

/// Returns whether the caller of `cx` can see a skill with these scopes.
pub(super) fn shows(scopes: &[Text], cx: &Context) -> bool {
    permits(cx.request(), scopes)
}

/// Returns the skills after `after` that the caller of `cx` can see: `limit` of them, and fewer only at the end. A hidden skill must not be
/// the position of a cursor, because the caller could read its URI there.
pub(super) async fn shown_entries(
    set: &SkillSet,
    mut after: Option<String>,
    limit: usize,
    cx: &Context,
) -> Result<Vec<SkillEntry>, HandlerError> {
    let mut shown = Vec::new();
    for _ in 0..SKILL_READS {
        let entries = set.store.list(after, limit, cx).await?;
        let is_end = entries.len() < limit;
        after = entries.last().map(|last| last.uri.clone());
        shown.extend(entries.into_iter().filter(|entry| shows(&entry.scopes, cx)));
        if is_end || shown.len() >= limit {
            break;
        }
    }
    Ok(shown)
}

/// The sets of skills of a server. The template of their files shares them, so that it serves sets that are added later.
pub(crate) type SkillSets = Rc<RefCell<Vec<SkillSet>>>;

/// Returns the sets that the caller of `cx` can see.
pub(super) fn open_sets(sets: &SkillSets, cx: &Context) -> Vec<SkillSet> {
    sets.borrow().iter().filter(|set| set.access.permits(cx.request())).cloned().collect()
}
