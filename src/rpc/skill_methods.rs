//! `skills/list`, `skills/get` and `resources/directory/read`, the methods of the extension for skills.
//!
//! Source: ext-skills, specification.

use std::num::NonZeroUsize;

use edge_json::write::Raw;
use futures::FutureExt;

use super::call::Call;
use super::pagination::cursor;
use super::prepared::{Outcome, Work};
use super::resolve::{Target, wrong_target};
use super::{envelope, handler_error, params};
use crate::call::deadline::{DEADLINE, run_only};
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::server::cache::Cacheable;
use crate::server::skills::sets::Asked;
use crate::server::skills::store::SkillFuture;

/// Starts one of the methods.
pub(super) fn start(call: &Call, request: &Request<'_>, _: Target) -> Result<Work, RpcError> {
    let size = call.server.definitions.page_size.map_or(usize::MAX, NonZeroUsize::get);
    let cursor = || Ok::<_, RpcError>(cursor(request)?.map(Into::into));
    let uri = || params::string(request, "uri").map(Into::into);
    let (asked, cacheable) = match call.method {
        Some(Method::ListSkills) => (Asked::List(cursor()?, size), Cacheable::Skills),
        Some(Method::GetSkill) => (Asked::Get(uri()?), Cacheable::Skill),
        _ => (Asked::Directory(uri()?, cursor()?, size), Cacheable::Directory),
    };
    let Some(skills) = &call.server.definitions.skills else { return Err(wrong_target(call)) };
    let work = (skills.answer)(&skills.sets, asked, call.cx.clone());
    Ok(respond(call.clone(), cacheable, work).boxed_local())
}

async fn respond(call: Call, cacheable: Cacheable, work: SkillFuture<String>) -> Result<Outcome, RpcError> {
    let name = call.method_name();
    let result = run_only(&call.cx, DEADLINE, name, work).await?;
    let result = result.map_err(|error| handler_error::without_own_code(&call, name, error))?;
    let hint = call.server.definitions.cache_of(cacheable);
    envelope::complete_cacheable(&call, Raw(&result), hint).map(Outcome::Response)
}
