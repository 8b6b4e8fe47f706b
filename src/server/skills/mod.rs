//! Skills: folders of instructions for a model, served as resources.
//!
//! Source: ext-skills, specification.

pub(crate) mod catalog;
pub(crate) mod entry;
pub(crate) mod methods;
mod resources;
pub(crate) mod sets;
pub(crate) mod store;

use std::rc::Rc;

use edge_json::object;

use self::sets::{SkillSets, Skills};
use super::definitions::Definitions;
use super::resource::ResourceTemplate;

/// The name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";

impl Skills {
    /// Adds the skills to those of the server, and declares the extension. Returns the template of their files, if it is not yet there.
    pub(crate) fn add_to(self, all: &SkillSets, definitions: &mut Definitions) -> Option<ResourceTemplate> {
        let mut sets = all.borrow_mut();
        for uri in &self.uris {
            if sets.iter().any(|set| set.uris.contains(uri)) {
                let problem = || ("skill", uri.clone().into(), "is in two catalogs".to_owned());
                definitions.item_problem.get_or_insert_with(problem);
            }
        }
        let at = sets.iter().position(|known| known.is_foreign && !self.is_foreign).unwrap_or(sets.len());
        sets.insert(at, Rc::new(self));
        let template = (sets.len() == 1).then(|| resources::template(all));
        definitions.extensions.insert(EXTENSION.to_owned(), object(vec![("directoryRead", true.into())]));
        template
    }
}
