//! `skills/list`, `skills/get` and `resources/directory/read`, the methods of the extension for skills.
//!
//! Source: ext-skills, specification.

use std::num::NonZeroUsize;
use std::rc::Rc;

use edge_json::write::Raw;
use futures::FutureExt;

use super::call::MethodCall;
use super::pagination::cursor;
use super::running::Work;
use super::target::{Item, wrong_target};
use super::{envelope, handler_error, params};
use crate::call::deadline::{DEADLINE, run_only};
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::server::builder::McpServerBuilder;
use crate::server::cache::Cacheable;
use crate::server::skills::resources::template;
use crate::server::skills::store::SkillFuture;
use crate::server::skills::{SkillSets, Skills, methods};

/// The skills of a server, and the function that starts one of the methods.
struct SkillMethods {
    sets: SkillSets,
    start: fn(&SkillSets, &MethodCall, &Request<'_>) -> Result<Work, RpcError>,
}

impl McpServerBuilder {
    /// Adds skills, and declares the extension `io.modelcontextprotocol/skills`. If two places have a skill at the same URI, the first one
    /// counts; two catalogs must not have the same URI.
    ///
    /// The files are resources: the `SKILL.md` of each skill is listed, and the other files can be read. A resource of the server at the same
    /// URI takes precedence.
    pub fn skills(mut self, skills: Skills) -> Self {
        let known = self.definitions.skill_methods.as_ref().and_then(|methods| methods.downcast_ref::<SkillMethods>());
        let sets = known.map(|methods| methods.sets.clone()).unwrap_or_default();
        self.definitions.skill_methods = Some(Rc::new(SkillMethods { sets: sets.clone(), start }));
        let are_first = skills.add_to(&sets, &mut self.definitions);
        if are_first { self.resource_template(template(&sets)) } else { self }
    }
}

/// Starts one of the methods. A server without skills does not have them.
pub(super) fn begin(call: &MethodCall, request: &Request<'_>, _: Item) -> Result<Work, RpcError> {
    let methods = call.server.definitions.skill_methods.as_ref();
    let methods = methods.and_then(|methods| methods.downcast_ref::<SkillMethods>());
    let SkillMethods { sets, start } = methods.ok_or_else(|| wrong_target(call))?;
    start(sets, call, request)
}

fn start(sets: &SkillSets, call: &MethodCall, request: &Request<'_>) -> Result<Work, RpcError> {
    let size = call.server.definitions.page_size.map_or(usize::MAX, NonZeroUsize::get);
    let cursor = || Ok::<_, RpcError>(cursor(request)?.map(Into::into));
    let uri = || params::string(request, "uri").map(Into::into);
    let (sets, cx) = (sets.clone(), call.cx.clone());
    let (work, cacheable) = match call.method {
        Some(Method::ListSkills) => (methods::list(sets, cursor()?, size, cx).boxed_local(), Cacheable::Skills),
        Some(Method::GetSkill) => (methods::get(sets, uri()?, cx).boxed_local(), Cacheable::Skill),
        _ => (methods::directory(sets, uri()?, cursor()?, size, cx).boxed_local(), Cacheable::Directory),
    };
    Ok(respond(call.clone(), cacheable, work).boxed_local())
}

async fn respond(
    call: MethodCall,
    cacheable: Cacheable,
    work: SkillFuture<String>,
) -> Result<Option<Vec<u8>>, RpcError> {
    let name = call.method_name();
    let result = run_only(&call.cx, DEADLINE, name, work).await?;
    let result = result.map_err(|error| handler_error::without_own_code(&call.cx, name, error))?;
    let hint = call.server.definitions.cache_of(cacheable);
    envelope::complete_cacheable(&call, Raw(&result), hint).map(Some)
}
