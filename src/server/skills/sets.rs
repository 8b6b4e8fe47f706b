//! The sets of skills of a server, with their access rules.

use std::cell::RefCell;
use std::rc::Rc;

use super::store::SkillStore;
use crate::call::context::Context;
use crate::server::access::{Access, permits};
use crate::text::Text;

/// Skills from one store, with their access rules.
#[derive(Clone)]
pub(crate) struct SkillSet {
    pub(super) store: Rc<dyn SkillStore>,
    pub(super) access: Rc<Access>,
    /// The URIs of the skills, if they are known.
    pub(super) uris: Rc<[String]>,
}

/// Returns whether the caller of `cx` can see a skill with these scopes.
pub(super) fn shows(scopes: &[Text], cx: &Context) -> bool {
    permits(cx.request(), scopes)
}

/// The sets of skills of a server. The template of their files shares them, so that it serves sets that are added later.
pub(crate) type SkillSets = Rc<RefCell<Vec<SkillSet>>>;

/// Returns the sets that the caller of `cx` can see.
pub(super) fn open_sets(sets: &SkillSets, cx: &Context) -> Vec<SkillSet> {
    sets.borrow().iter().filter(|set| set.access.permits(cx.request())).cloned().collect()
}
