//! The methods of extensions.
//!
//! Source: 2026-07-28, basic/versioning, "Extension Negotiation"; basic/index, "ResultType" and "Error Codes".

use std::fmt::Display;
use std::rc::Rc;

use edge_json::write::{ObjectWriter, Raw};
use edge_json::{Document, JsonLimits, object};
use futures::FutureExt;

use super::call::MethodCall;
use super::running::Work;
use super::{envelope, handler_error, input_required};
use crate::call::context::Context;
use crate::call::deadline::{run_only, run_or_ask};
use crate::call::failure;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::Request;
use crate::protocol::revision::Era;
use crate::server::builder::McpServerBuilder;
use crate::server::extension::{
    Extension, ExtensionMethod, ExtensionMethods, ExtensionResult, ExtensionWork, MethodFuture,
};

impl McpServerBuilder {
    /// Adds an extension of the protocol with its methods, and declares it. [`extension`](Self::extension) only declares one.
    pub fn serve(mut self, extension: Extension) -> Self {
        let definitions = &mut self.definitions;
        if let Some(problem) = extension.problem(&definitions.extension_methods.all) {
            definitions.item_problem.get_or_insert_with(|| ("extension", extension.id.clone(), problem));
        }
        definitions.extensions.insert(extension.id.into_owned(), extension.settings);
        definitions.extension_methods.all.extend(extension.methods.into_iter().map(Rc::new));
        enable_extension_methods(&mut definitions.extension_methods);
        self
    }
}

/// Makes a server answer the methods of its extensions.
pub(crate) fn enable_extension_methods(methods: &mut ExtensionMethods) {
    methods.start = Some(start);
}

/// Starts a method, or returns `None` if the server has none of an extension.
pub(super) fn begin(
    call: &MethodCall,
    request: &Request<'_>,
    method: Rc<ExtensionMethod>,
) -> Option<Result<Work, RpcError>> {
    let start = call.server.definitions.extension_methods.start?;
    Some(start(&call.cx, request, method.clone()).map(|work| respond(call.clone(), method, work).boxed_local()))
}

async fn respond(
    call: MethodCall,
    method: Rc<ExtensionMethod>,
    work: ExtensionWork,
) -> Result<Option<Vec<u8>>, RpcError> {
    let Some(result) = work.await? else { return Ok(None) };
    let result_type = result.result_type.as_deref().unwrap_or("complete");
    let hint = result.cache.map(|hint| if method.access.is_general() { hint } else { hint.for_this_caller() });
    envelope::of_extension(&call, Raw(result.json.get()), result_type, hint, result.meta.as_ref()).map(Some)
}

/// Checks the parameters, and calls the handler. See [`StartMethod`].
fn start(cx: &Context, request: &Request<'_>, method: Rc<ExtensionMethod>) -> Result<ExtensionWork, RpcError> {
    if method.requires_client && !cx.client_supports(&method.extension).is_yes() {
        return Err(unsupported_by_client(cx, &method));
    }
    if method.asks {
        input_required::resume(cx, request)?;
    }
    let mut params = ObjectWriter::new();
    // The rest are members of every request.
    for (name, value) in request.params.into_iter().flat_map(edge_json::Value::members) {
        let is_common = name == "_meta" || (method.asks && (name == "inputResponses" || name == "requestState"));
        if !is_common {
            params = params.json(&name, value.text());
        }
    }
    let params = params.finish();
    let internal = |error: &dyn Display| failure::internal(cx.host(), &method.name, &error.to_string());
    let document = Document::parse(params.as_bytes(), JsonLimits::MOST).map_err(|error| internal(&error))?;
    let schema = method.input_schema().map_err(|error| internal(&error))?;
    let mistakes = schema.validate_within(document.root(), cx.request().argument_steps());
    if !mistakes.is_empty() {
        return Err(invalid(&method, &mistakes.join("\n- ")));
    }
    let work = method.call(document.root(), cx.clone()).map_err(|mistake| invalid(&method, &mistake))?;
    Ok(run(cx.clone(), method, work).boxed_local())
}

fn invalid(method: &ExtensionMethod, mistakes: &str) -> RpcError {
    RpcError::invalid_params(format!("The parameters of {} are not valid:\n- {mistakes}", method.name))
}

/// Returns the error for a client that does not declare the extension. Older revisions have no error code for that.
fn unsupported_by_client(cx: &Context, method: &ExtensionMethod) -> RpcError {
    let ExtensionMethod { name, extension, .. } = method;
    if cx.revision().era() == Era::Legacy {
        let reason = format!("The method {name} needs a client of 2026-07-28 that declares the extension {extension}.");
        return RpcError::new(ErrorCode::MethodNotFound, reason);
    }
    let declared = object(vec![(&**extension, object(Vec::new()))]);
    let required = object(vec![("extensions", declared)]);
    RpcError::new(
        ErrorCode::MissingCapability,
        format!("The method {name} needs a client that declares the extension {extension}."),
    )
    .with_data(object(vec![("requiredCapabilities", required)]))
}

async fn run(
    cx: Context,
    method: Rc<ExtensionMethod>,
    work: MethodFuture,
) -> Result<Option<ExtensionResult>, RpcError> {
    let result = if method.asks {
        match run_or_ask(&cx, method.deadline, work).await? {
            Some(result) => result,
            None => return Ok(None),
        }
    } else {
        run_only(&cx, method.deadline, &method.name, work).await?
    };
    let result = result.map_err(|error| handler_error::without_own_code(&cx, &method.name, error))?;
    check_type(&cx, &method, &result)?;
    Ok(Some(result))
}

/// Checks the type of a result. A client rejects a result of a type that it does not know. In older revisions, results have no type, so a client
/// would take it for an ordinary result.
fn check_type(cx: &Context, method: &ExtensionMethod, result: &ExtensionResult) -> Result<(), RpcError> {
    let result_type = result.result_type.as_deref().unwrap_or("complete");
    let is_declared = method.result_types.iter().any(|declared| declared == result_type);
    if result_type == "complete" || is_declared && cx.client_supports(&method.extension).is_yes() {
        return Ok(());
    }
    let problem = if is_declared { "the client does not know" } else { "the method does not declare" };
    let cause = format!("the result has the type `{result_type}`, which {problem}");
    Err(failure::internal(cx.host(), &method.name, &cause))
}
