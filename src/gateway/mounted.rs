//! A mounted server: its settings, its circuit breaker, and the requests to it.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use super::breaker::Breaker;
use super::mount::Settings;
use super::names::full_name;
use crate::call::context::Context;
use crate::client::{ClientError, Definition, Failure, Listing, McpClient, Peer, connection_to, gateways};
use crate::host::{Level, warning};
use crate::limits::GATEWAYS;
use crate::server::access::Access;
use crate::server::check::name_problem;
use crate::server::list::ListKind;
use crate::text::{Text, shortened};

/// A request to a server, on a connection to it.
pub(super) type Asking<'a, T> = LocalBoxFuture<'a, Result<T, ClientError>>;

pub(super) struct Mounted {
    pub(super) name: Text,
    /// The position of the server in the client.
    pub(super) nth: usize,
    pub(super) settings: Settings,
    pub(super) client: McpClient,
    /// The name of the gateway.
    pub(super) gateway: Text,
    /// The longest name of a tool or a prompt, in bytes.
    pub(super) longest_name: usize,
    pub(super) breaker: Breaker,
}

impl Mounted {
    /// Returns the prefix of names and URIs.
    pub(super) fn prefix(&self) -> Option<&str> {
        self.settings.has_prefix.then_some(&*self.name)
    }

    /// Returns the name by which callers know the tool `name` of the server.
    pub(super) fn tool_name(&self, name: &str) -> String {
        full_name(self.prefix(), self.settings.shown_name(name), self.longest_name)
    }

    /// Returns the name by which callers know the prompt `name` of the server.
    pub(super) fn prompt_name(&self, name: &str) -> String {
        full_name(self.prefix(), name, self.longest_name)
    }

    /// Returns the access rules of each item.
    pub(super) fn access(&self) -> Access {
        Access { shown: None, scopes: self.settings.scopes.clone() }
    }

    /// Sends requests to the server for the call of `cx`, unless the circuit breaker holds them back. Only the server of the request can be
    /// affected by a failure.
    ///
    /// # Errors
    /// The error of the request, or the reason why it was not sent.
    pub(super) async fn ask<'a, T: 'a>(
        &'a self,
        cx: &'a Context,
        ask: impl FnOnce(Peer) -> Asking<'a, T>,
    ) -> Result<T, ClientError> {
        self.check_path(cx)?;
        let permit = self.breaker.permit(cx.now_ms()).map_err(|rest| {
            let seconds = rest.as_secs().saturating_add(1);
            self.not_asked(&format!("is not asked now, because it failed before. Try again in {seconds} s."))
        })?;
        let asked = match connection_to(&self.client, self.nth, cx) {
            Some(peer) => ask(peer),
            None => ready(Err(self.not_asked("is not known to this program."))).boxed_local(),
        };
        let outcome = asked.await;
        self.breaker.note(permit, &outcome, &self.name, cx.host());
        outcome
    }

    /// Checks that the request does not come from this gateway itself.
    fn check_path(&self, cx: &Context) -> Result<(), ClientError> {
        let mut count = 0_usize;
        for gateway in gateways(cx) {
            count = count.saturating_add(1);
            if *gateway == *self.gateway {
                return Err(self.not_asked("is not asked, because this gateway is mounted in itself."));
            }
            if count >= GATEWAYS {
                return Err(
                    self.not_asked(&format!("is not asked, because the request went through {GATEWAYS} gateways."))
                );
            }
        }
        Ok(())
    }

    fn not_asked(&self, problem: &str) -> ClientError {
        ClientError::new(&self.name, "connect", Failure::Local(problem.to_owned()))
    }

    /// Returns the tools of a list that exist here, with their names. Of two tools that come to one name, a renamed one counts, and else the one
    /// whose name at the server is the first in the alphabet, so that the order of the list does not matter.
    pub(super) fn tools<'l>(&self, list: &'l Listing, cx: &Context) -> Vec<(String, &'l Definition)> {
        let mut tools: Vec<(String, &Definition)> = Vec::with_capacity(list.items.len());
        let mut names = std::collections::BTreeMap::new();
        for tool in list.items.iter().filter(|tool| self.settings.has_tool(tool.name())) {
            let name = self.tool_name(tool.name());
            if name_problem(&name).is_some() || tool.input().is_none() || !self.is_as_pinned(tool, cx) {
                self.warn(cx, "tools are left out: they have no input schema, no valid name, or a definition that differs from its pin");
                continue;
            }
            let rank = |name: &str| (self.settings.shown_name(name) == name, name.to_owned());
            let place = tools.len();
            match names.insert(name.clone(), place) {
                None => tools.push((name, tool)),
                Some(before) => {
                    self.warn(cx, "tools are left out: they come to a name that is in use");
                    names.insert(name, before);
                    if let Some((_, known)) =
                        tools.get_mut(before).filter(|(_, known)| rank(tool.name()) < rank(known.name()))
                    {
                        *known = tool;
                    }
                }
            }
        }
        tools
    }

    /// Returns whether a tool has the definition that the program pinned. Otherwise, the log has both digests.
    fn is_as_pinned(&self, tool: &Definition, cx: &Context) -> bool {
        let check = self.settings.pins.check(tool.name(), || super::pins::of_definition(tool.raw()));
        check.inspect_err(|problem| self.held_back(tool.name(), problem, cx)).is_ok()
    }

    /// Logs that an item is held back. An item that is not pinned, if only pinned ones exist, is no problem.
    pub(super) fn held_back(&self, name: &str, problem: &str, cx: &Context) {
        if self.settings.pins.concern(name) {
            let problem = format!("`{}` of the server `{}` is held back: {problem}", shortened(name), self.name);
            warning::once(cx.host(), "gateway", &problem);
        }
    }

    /// Logs a warning about the server, once. The text does not depend on its answers: the number of different warnings is limited.
    pub(super) fn warn(&self, cx: &Context, problem: &str) {
        warning::once(cx.host(), "gateway", &format!("the server `{}`: {problem}", self.name));
    }

    /// Reads the list `kind` of the server.
    pub(super) async fn list(&self, kind: ListKind, cx: &Context) -> Result<Rc<Listing>, ClientError> {
        let asked = self.ask(cx, |peer| async move { peer.list(kind).await }.boxed_local()).await;
        asked.inspect_err(|error| warning::log(cx.host(), Level::Warning, "gateway", &error.to_string()))
    }
}
