//! The choice of the store of a call.

use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use super::store::SearchStore;
use crate::call::context::Context;
use crate::call::error::{Details, HandlerError};

/// Chooses the store in which a call searches.
///
/// An `Rc` of a store, also an `Rc<dyn SearchStore>`, is the store of every call. An async function of the [`Context`] chooses the store for each call, for example a
/// database for each plan. The caller gets a fixed sentence if the function fails, and the log gets the cause.
///
/// ```
/// use std::rc::Rc;
///
/// use edge_mcp::rag::{MemoryStore, Retriever, SearchStore, SearchTool};
/// use edge_mcp::{Context, HandlerError};
///
/// struct Databases {
///     free: Rc<MemoryStore>,
///     paid: Rc<MemoryStore>,
/// }
///
/// async fn store(cx: Context) -> Result<Rc<dyn SearchStore>, HandlerError> {
///     let databases = cx.state::<Databases>()?;
///     let is_paid = cx.caller().is_ok_and(|caller| caller.has_scope("paid"));
///     Ok(if is_paid { databases.paid.clone() } else { databases.free.clone() })
/// }
///
/// let tool = SearchTool::new(Retriever::new("docs", store)).tool();
/// ```
pub trait StoreSource {
    /// Returns the store of a call.
    ///
    /// # Errors
    /// There is no store for the caller.
    fn store(&self, cx: &Context) -> LocalBoxFuture<'static, Result<Rc<dyn SearchStore>, HandlerError>>;
}

impl<S: SearchStore + 'static> StoreSource for Rc<S> {
    fn store(&self, _: &Context) -> LocalBoxFuture<'static, Result<Rc<dyn SearchStore>, HandlerError>> {
        let store: Rc<dyn SearchStore> = self.clone();
        ready(Ok(store)).boxed_local()
    }
}

impl StoreSource for Rc<dyn SearchStore> {
    fn store(&self, _: &Context) -> LocalBoxFuture<'static, Result<Self, HandlerError>> {
        ready(Ok(self.clone())).boxed_local()
    }
}

impl<F, Fut> StoreSource for F
where
    F: Fn(Context) -> Fut,
    Fut: Future<Output = Result<Rc<dyn SearchStore>, HandlerError>> + 'static,
{
    fn store(&self, cx: &Context) -> LocalBoxFuture<'static, Result<Rc<dyn SearchStore>, HandlerError>> {
        let chosen = self(cx.clone());
        async move {
            chosen.await.map_err(|HandlerError(error)| {
                let Details { cause, message, .. } = *error;
                let cause = cause.unwrap_or_else(|| message.into_owned());
                HandlerError::new("No search index is configured for this caller.").because(cause)
            })
        }
        .boxed_local()
    }
}
