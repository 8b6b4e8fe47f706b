//! Suggestions for the arguments of prompts and the variables of resource templates.
//!
//! Source: 2025-11-25 and 2026-07-28, server/utilities/completion.

use std::collections::BTreeMap;
use std::future::{Future, ready};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::{Map, Value};

use super::list::IntoList;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::COMPLETION_VALUES;
use crate::text::Text;

/// A request for suggestions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// The name of the argument or the variable.
    pub argument: String,
    /// The text that the user has typed so far.
    pub value: String,
    /// The values of other arguments that the client sent.
    pub arguments: BTreeMap<String, String>,
}

/// The suggestions for an argument, and the `_meta` of the result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suggestions {
    pub values: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    pub has_more: bool,
    #[serde(skip)]
    pub meta: Option<Map<String, Value>>,
}

impl Suggestions {
    /// Creates suggestions from all values, of which the client gets the first 100.
    pub(crate) fn of_all(mut values: Vec<String>) -> Self {
        let (total, has_more) = (values.len() as u64, values.len() > COMPLETION_VALUES);
        values.truncate(COMPLETION_VALUES);
        Self { values, total: Some(total), has_more, meta: None }
    }
}

pub(crate) type SuggestionsFuture = LocalBoxFuture<'static, Result<Suggestions, HandlerError>>;
type Suggest = Box<dyn Fn(CompletionRequest, Context) -> SuggestionsFuture>;

/// Suggests values for one argument. The client gets the first 100, and their total number.
///
/// ```
/// use edge_mcp::Completion;
///
/// let sizes = Completion::fixed(["small", "large"]);
/// let languages = Completion::prefix(["Python", "Rust", "Ruby"]);
/// let cities = Completion::with(|request, _| async move {
///     let country = request.arguments.get("country").cloned().unwrap_or_default();
///     if country == "France" { vec!["Lyon".to_owned(), "Paris".to_owned()] } else { Vec::new() }
/// });
/// ```
pub struct Completion(pub(crate) Suggest);

impl Completion {
    /// Creates a completion that always suggests all `values`.
    pub fn fixed<T: Into<Text>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::from_list(values, |_, _| true)
    }

    /// Creates a completion that suggests the `values` that start with the typed text. Case is ignored.
    pub fn prefix<T: Into<Text>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::from_list(values, |value, typed| value.to_lowercase().starts_with(typed))
    }

    /// Creates a completion from an async function.
    pub fn with<F, Fut>(complete: F) -> Self
    where
        F: Fn(CompletionRequest, Context) -> Fut + 'static,
        Fut: Future + 'static,
        Fut::Output: IntoList<String>,
    {
        Self(Box::new(move |request, cx| {
            complete(request, cx).map(|values| values.into_list().map(Suggestions::of_all)).boxed_local()
        }))
    }

    fn from_list<T: Into<Text>>(values: impl IntoIterator<Item = T>, fits: fn(&str, &str) -> bool) -> Self {
        let values: Vec<Text> = values.into_iter().map(Into::into).collect();
        Self(Box::new(move |request, _| {
            let typed = request.value.to_lowercase();
            let fitting = values.iter().filter(|value| fits(value, &typed));
            let fitting = fitting.map(|value| value.clone().into_owned()).collect();
            ready(Ok(Suggestions::of_all(fitting))).boxed_local()
        }))
    }
}

/// The completions of a prompt or template, by argument.
#[derive(Default)]
pub(crate) struct Completions {
    by_argument: Vec<(Text, Completion)>,
    /// The completion of every argument, for items of a source whose arguments are not known.
    pub(crate) all: Option<Completion>,
}

impl Completions {
    pub(crate) fn add(&mut self, argument: Text, completion: Completion) {
        self.by_argument.push((argument, completion));
    }

    pub(crate) fn of(&self, argument: &str) -> Option<&Completion> {
        self.by_argument.iter().find(|(name, _)| name == argument).map(|(_, completion)| completion)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_argument.is_empty()
    }

    /// Returns the first name that is not the name of an argument, or that has two completions.
    pub(crate) fn first_invalid(&self, exists: impl Fn(&str) -> bool) -> Option<&str> {
        let names = self.by_argument.iter().map(|(name, _)| &**name);
        names
            .clone()
            .enumerate()
            .find(|(at, name)| !exists(name) || names.clone().take(*at).any(|other| other == *name))
            .map(|(_, name)| name)
    }
}
