//! Skills: folders of instructions for a model, served as resources.
//!
//! A `catalog` has skills that are compiled into the program, and a `store` has them elsewhere. `sets` has the access rules. `methods`
//! answers the methods of the extension, and `resources` serves the files. `digest` computes the digests of files.
//!
//! Source: ext-skills, specification.

pub(crate) mod catalog;
mod digest;
mod methods;
mod resources;
pub(crate) mod sets;
pub(crate) mod store;

use std::rc::Rc;

use edge_json::object;

use self::catalog::Catalog;
use self::sets::{SkillSet, SkillSets};
use self::store::SkillStore;
use super::access::{Access, access_methods};
use super::builder::McpServerBuilder;

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// Skills from one place, for [`McpServerBuilder::skills`].
pub struct Skills {
    store: Rc<dyn SkillStore>,
    access: Access,
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
        Self { store: Rc::new(store), access: Access::default(), uris: Vec::new() }
    }

    access_methods!();
}

impl McpServerBuilder {
    /// Adds skills, and declares the extension `io.modelcontextprotocol/skills`. If two places have a skill at the same URI, the first one
    /// counts; two catalogs must not have the same URI.
    ///
    /// The files are resources: `SKILL.md` of each skill is listed, and the other files can be read. A resource or a template of the server at
    /// the same URI takes precedence.
    pub fn skills(mut self, skills: Skills) -> Self {
        let Skills { store, access, uris } = skills;
        let set = SkillSet { store, access: Rc::new(access) };
        let definitions = &mut self.definitions;
        definitions.extensions.insert(EXTENSION.to_owned(), object(vec![("directoryRead", true.into())]));
        let mut sets = definitions.skills.take().map_or_else(
            || SkillSets {
                sets: Vec::new(),
                answer: methods::answer,
                resource: resources::resource,
                listed: resources::listed,
                uris: Vec::new(),
                duplicate: None,
            },
            Rc::unwrap_or_clone,
        );
        sets.sets.push(set);
        for uri in uris {
            if sets.uris.contains(&uri) {
                sets.duplicate.get_or_insert(uri);
            } else {
                sets.uris.push(uri);
            }
        }
        definitions.skills = Some(Rc::new(sets));
        self
    }
}
