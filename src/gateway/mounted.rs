//! A mounted server: its settings, its circuit breaker, and the requests to it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};
use sha2::{Digest, Sha256};

use super::breaker::Breakers;
use super::mount::Settings;
use super::names::full_name;
use crate::auth::rate_limit::{key_of_address, key_of_principal};
use crate::base64::URL_SAFE;
use crate::call::context::Context;
use crate::client::{ClientError, Definition, Failure, Listing, McpClient, Peer, connection_to, gateways};
use crate::host::log;
use crate::limits::{GATEWAY_META_BYTES, GATEWAY_NAME, GATEWAY_SERVER_SECONDS, GATEWAYS};
use crate::protocol::method::Method;
use crate::server::access::Access;
use crate::server::check::name_problem;
use crate::server::list::ListKind;
use crate::text::{Text, shortened};

const IN_USE: &str = "it comes to a name that is in use";

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
    /// Whether the gateway shows apps, of this server or of another one.
    pub(super) is_beside_apps: bool,
    pub(super) breakers: Breakers,
}

/// Logs that a list cannot be read. The link of a sign-in is only for the caller.
pub(super) fn log_failure(error: &ClientError, cx: &Context) {
    if !matches!(error.failure(), Failure::SignInRequired { .. }) {
        log::warning(cx.host(), "gateway", &error.to_string());
    }
}

/// Returns the method of a list.
fn method_of(kind: ListKind) -> Method {
    match kind {
        ListKind::Tools => Method::ListTools,
        ListKind::Resources => Method::ListResources,
        ListKind::ResourceTemplates => Method::ListResourceTemplates,
        ListKind::Prompts => Method::ListPrompts,
    }
}

/// Returns the key of the caller of `cx`, whose requests have a circuit breaker of their own. It has the identity or the address, and the headers
/// that the server gets: a header that is passed on can be the credential of the caller.
fn caller_key(peer: &Peer, cx: &Context) -> String {
    let identity = match cx.request().checked_caller() {
        Some(caller) => key_of_principal(caller),
        None => key_of_address(cx.request().client_address()),
    };
    let mut digest = Sha256::new();
    for (name, value) in peer.own_headers().iter() {
        for part in [name.as_str().as_bytes(), b"\0", value.as_bytes(), b"\0"] {
            digest.update(part);
        }
    }
    format!("{identity} {}", URL_SAFE.encode(digest.finalize()))
}

/// Returns whether an expired list may replace a list after this failure: the server failed, or was not asked. A server that rejects the caller
/// has answered.
fn may_be_stale(failure: &Failure) -> bool {
    failure.is_outage() || matches!(failure, Failure::Local(_))
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

    /// Returns whether the gateway shows the prompts of the server.
    pub(super) fn shows_prompts(&self) -> bool {
        self.settings.has_prompts && !self.settings.pins.excludes_others
    }

    /// Returns the access rules of each item.
    pub(super) fn access(&self) -> Access {
        Access { shown: None, scopes: self.settings.scopes.clone() }
    }

    /// Creates a connection to the server for the call of `cx`. It sends nothing.
    ///
    /// # Errors
    /// The request comes from this gateway itself, or its path or its `_meta` is too long.
    pub(super) fn connect(&self, cx: &Context) -> Result<Peer, ClientError> {
        self.check_path(cx)?;
        connection_to(&self.client, self.nth, cx).ok_or_else(|| self.not_asked("is not known to this program."))
    }

    /// Sends requests on a connection to the server, unless a circuit breaker holds them back.
    ///
    /// # Errors
    /// The error of the request, or the reason why it was not sent.
    pub(super) async fn guard<T>(
        &self,
        peer: &Peer,
        cx: &Context,
        asking: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let permits = self.breakers.permit(caller_key(peer, cx), cx.now_ms()).map_err(|rest| {
            let seconds = rest.as_millis().div_ceil(1000);
            self.not_asked(&format!("is not asked now, because it failed before. Try again in {seconds} s."))
        })?;
        let outcome = asking.await;
        if peer.has_sent() {
            let failure = outcome.as_ref().err().map(ClientError::failure);
            permits.note(failure, &self.name, self.settings.is_untrusted, cx.host());
        }
        outcome
    }

    /// Checks that the request does not come from this gateway itself.
    fn check_path(&self, cx: &Context) -> Result<(), ClientError> {
        // Each request to a server reads it again.
        if cx.request().meta().is_some_and(|meta| meta.len() > GATEWAY_META_BYTES) {
            let problem =
                format!("is not asked, because the `_meta` of the request has more than {GATEWAY_META_BYTES} bytes.");
            return Err(self.not_asked(&problem));
        }
        let mut count = 0_usize;
        for gateway in gateways(cx) {
            count = count.saturating_add(1);
            if *gateway == *self.gateway {
                return Err(self.not_asked("is not asked, because this gateway is mounted in itself."));
            }
            if count >= GATEWAYS || gateway.len() > GATEWAY_NAME {
                return Err(
                    self.not_asked(&format!("is not asked, because the request went through {GATEWAYS} gateways."))
                );
            }
        }
        Ok(())
    }

    fn not_asked(&self, problem: &str) -> ClientError {
        ClientError::new(&self.name, "connect".into(), Failure::Local(problem.to_owned()))
    }

    /// Returns the tools of a list that exist here, with their names. Of two tools that come to one name, the one whose name at the server is
    /// the first in the alphabet counts, so that the order of the list does not matter.
    pub(super) fn tools<'l>(&self, list: &'l Listing, cx: &Context) -> Vec<(String, &'l Definition)> {
        let owners = self.owners();
        let mut tools: Vec<(String, &Definition)> = Vec::with_capacity(list.items.len());
        let mut places = BTreeMap::new();
        for tool in list.items.iter().filter(|tool| self.has_tool(tool)) {
            let name = self.tool_name(tool.name());
            if !self.is_as_pinned(tool, cx) {
                continue;
            }
            if name_problem(&name).is_some() || tool.input().is_none() {
                self.left_out(cx, tool.name(), "it has no input schema of an object, or no valid name");
                continue;
            }
            if owners.get(&name).is_some_and(|owner| *owner != tool.name()) {
                self.left_out(cx, tool.name(), IN_USE);
                continue;
            }
            let before = *places.entry(name.clone()).or_insert(tools.len());
            let Some((_, known)) = tools.get_mut(before) else {
                tools.push((name, tool));
                continue;
            };
            self.left_out(cx, tool.name().max(known.name()), IN_USE);
            if tool.name() < known.name() {
                *known = tool;
            }
        }
        tools
    }

    /// Returns the names of the tools that the program renames or pins, with the names at the server. No other tool of the server gets such a name,
    /// also if the server does not have the named tool now, or if its pin holds it back.
    fn owners(&self) -> BTreeMap<String, &str> {
        let mut owners = BTreeMap::new();
        for name in self.settings.renamed_tools().chain(self.settings.pins.names()) {
            owners.entry(self.tool_name(name)).or_insert(name);
        }
        owners
    }

    /// Returns the prompts of a list, with their names. Of two prompts that come to one name, one counts, as for [`tools`](Self::tools).
    pub(super) fn prompts<'l>(&self, list: &'l Listing) -> Vec<(String, &'l Definition)> {
        let mut prompts: Vec<(String, &Definition)> = Vec::with_capacity(list.items.len());
        let mut places = BTreeMap::new();
        for prompt in &list.items {
            let name = self.prompt_name(prompt.name());
            let before = *places.entry(name.clone()).or_insert(prompts.len());
            match prompts.get_mut(before) {
                None => prompts.push((name, prompt)),
                Some((_, known)) if prompt.name() < known.name() => *known = prompt,
                Some(_) => {}
            }
        }
        prompts
    }

    /// Returns whether a tool exists here. Clients would offer a tool for user interfaces to models, if they do not know what it is for.
    fn has_tool(&self, tool: &Definition) -> bool {
        self.settings.has_tool(tool.name()) && (self.settings.shows_apps || !tool.is_for_app_only())
    }

    /// Returns whether a tool has the definition that the program pinned. Otherwise, the log has both digests.
    fn is_as_pinned(&self, tool: &Definition, cx: &Context) -> bool {
        let check = self.settings.pins.check(tool.name(), || super::pins::of_definition(tool.raw()));
        check.inspect_err(|problem| self.held_back(tool.name(), problem, cx)).is_ok()
    }

    /// Logs that an item is held back, once for each item. An item that is not pinned, if only pinned ones exist, is no problem.
    ///
    /// These warnings have an event of their own, so other warnings about the server do not use up their number.
    pub(super) fn held_back(&self, name: &str, problem: &str, cx: &Context) {
        if self.settings.pins.has(name) {
            let problem = format!("`{}` of the server `{}` is held back: {problem}", shortened(name), self.name);
            log::warning_once_about(cx.host(), "pin", [&self.name, name], &problem);
        }
    }

    /// Logs a warning about the server, once.
    pub(super) fn warn(&self, cx: &Context, problem: &str) {
        let text = format!("the server `{}`: {problem}", self.name);
        log::warning_once_about(cx.host(), "gateway", [&self.name, problem], &text);
    }

    /// Logs the items of a list that the client could not read, or that are too many.
    pub(super) fn warn_of_left_out(&self, list: &Listing, cx: &Context) {
        if list.is_truncated {
            self.warn(cx, "items are left out: a list is longer than the limits");
        }
        for problem in &list.left_out {
            self.warn(cx, problem);
        }
    }

    /// Logs that an item of the server is left out, once for each item.
    pub(super) fn left_out(&self, cx: &Context, name: &str, reason: &str) {
        let problem = format!("`{}` of the server `{}` is left out: {reason}", shortened(name), self.name);
        log::warning_once_about(cx.host(), "gateway", [&self.name, name], &problem);
    }

    /// Returns the list `kind` of the server: from the cache, or from the server. An expired list may replace the list of a server that fails
    /// or is not asked now.
    ///
    /// # Errors
    /// The failure of the server, without any text of it: models read the failures of lists, also those of servers that nobody called. The log has
    /// the text.
    pub(super) async fn list(&self, kind: ListKind, cx: &Context) -> Result<Rc<Listing>, ClientError> {
        let log = |error: &ClientError| log_failure(error, cx);
        let peer = self.connect(cx).inspect_err(log)?;
        let stale = match peer.cached_list(kind).await.inspect_err(log)? {
            Some(list) if !list.is_stale => return Ok(list),
            stale => stale,
        };
        let list = self.guard(&peer, cx, self.in_time(cx, method_of(kind), peer.new_list(kind))).await.inspect_err(log);
        match (list, stale) {
            (Err(error), Some(stale)) if may_be_stale(error.failure()) => Ok(stale),
            (list, _) => list.map_err(ClientError::without_text),
        }
    }

    /// Reads a list from the server within 5 s, with all repetitions of the request: a slow server must not delay the lists of the others.
    pub(super) async fn in_time<T>(
        &self,
        cx: &Context,
        method: Method,
        list: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let time = Duration::from_secs(GATEWAY_SERVER_SECONDS);
        match select(list.boxed_local(), cx.host().sleep(time)).await {
            Either::Left((list, _)) => list,
            Either::Right(_) => Err(ClientError::new(&self.name, method.name().into(), Failure::Timeout(time))),
        }
    }

    /// Returns a fresh list of the server, for a call on the same connection. The errors are those of [`list`](Self::list).
    pub(super) async fn fresh_list(&self, kind: ListKind, peer: &Peer) -> Result<Rc<Listing>, ClientError> {
        match peer.cached_list(kind).await? {
            Some(list) if !list.is_stale => Ok(list),
            _ => peer.new_list(kind).await.map_err(ClientError::without_text),
        }
    }
}
