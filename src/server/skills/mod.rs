//! Skills: folders of instructions for a model, served as resources.
//!
//! A `catalog` has skills that are compiled into the program, and a `store` has them elsewhere. `sets` has the access rules. `methods`
//! answers the methods of the extension, and `resources` serves the files. `manifest` checks entries, and `digest` computes the digests of
//! files.
//!
//! Source: ext-skills, specification.

pub(crate) mod catalog;
pub(crate) mod digest;
pub(crate) mod manifest;
pub(crate) mod methods;
mod resources;
pub(crate) mod sets;
pub(crate) mod store;

use std::rc::Rc;

use edge_json::object;

use self::catalog::Catalog;
use self::sets::{SkillSet, SkillSets};
use self::store::SkillStore;
use super::access::{Access, access_methods};
use super::definitions::Definitions;
use super::resource::ResourceTemplate;

/// The name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// Skills from one place, for [`McpServerBuilder::skills`](crate::McpServerBuilder::skills).
pub struct Skills {
    store: Rc<dyn SkillStore>,
    access: Access,
    /// Whether the skills are those of other servers.
    is_foreign: bool,
    /// The URIs of the skills, if they are known.
    uris: Vec<String>,
}

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
    /// Adds the skills to those of the server, and declares the extension. Returns the template of their files, if it is not yet there.
    pub(crate) fn add_to(self, all: &SkillSets, definitions: &mut Definitions) -> Option<ResourceTemplate> {
        let Self { store, access, is_foreign, uris } = self;
        let mut sets = all.borrow_mut();
        for uri in &uris {
            if sets.iter().any(|set| set.uris.contains(uri)) {
                let problem = || ("skill", uri.clone().into(), "is in two catalogs".to_owned());
                definitions.item_problem.get_or_insert_with(problem);
            }
        }
        let set = SkillSet { store, access: Rc::new(access), is_foreign, uris: uris.into() };
        let at = sets.iter().position(|known| known.is_foreign && !is_foreign).unwrap_or(sets.len());
        sets.insert(at, set);
        let template = (sets.len() == 1).then(|| resources::template(all));
        definitions.extensions.insert(EXTENSION.to_owned(), object(vec![("directoryRead", true.into())]));
        template
    }
}
