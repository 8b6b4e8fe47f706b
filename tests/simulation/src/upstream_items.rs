//! The lists, resources and prompts of other servers, their notifications, and the checks of the requests of a connection.
//!
//! What a server says belongs to the caller whose token it gets: descriptions, cursors, contents and notifications.

use edge_mcp::client::Call;
use edge_mcp::protocol::LogLevel;
use edge_mcp::{Context, HandlerError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::faults::Point;
use crate::identities::name_of;
use crate::ledger::{Invariant, mark};
use crate::network::Sent;
use crate::parts::Running;
use crate::upstream::{Server, name};

/// The most requests of a connection, and the most pages of a list, as docs/limits.md has them.
const REQUESTS: u64 = 40;
const PAGES: u64 = 32;
/// The pages of a list, if a server has pages.
const PAGES_OF_LIST: u64 = 3;

/// What a server says about the time for which its lists can be kept.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Hint {
    Nothing,
    Private,
    /// A server can say so although its lists depend on the caller. The client must not share them.
    Public,
}

/// Returns the content of an item for a caller. Without tokens, all callers get the same.
fn content(server: usize, number: u32, caller: Option<&str>) -> String {
    let owned = caller.map(|caller| mark(caller, "remote")).unwrap_or_default();
    format!("item {number} of {} {owned}", name(server))
}

/// Returns the result of a part that reads from a server.
pub fn read_result(server: usize, number: u32) -> String {
    format!("<r{server}:{number}>")
}

impl Server {
    /// Checks that a connection does not send more requests than it may. A connection numbers its requests.
    pub fn check_budget(&self, message: &Value) {
        let number = message["id"].as_str().and_then(|id| id.parse().ok()).unwrap_or(0_u64);
        self.world.ledger.check(number <= REQUESTS, Invariant::Budget, || {
            format!("a connection sends the request {number} to {}", name(self.number))
        });
    }

    /// Returns the result of a request for a list or an item, or `None` if the method is another one.
    pub fn item(&self, request: &Sent, message: &Value) -> Option<Value> {
        let caller = self.caller_of(request);
        let params = &message["params"];
        let uri = params["uri"].as_str().or_else(|| params["arguments"]["number"].as_str()).unwrap_or_default();
        let number = uri.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        let content = content(self.number, number, caller.as_deref());
        let owned = caller.as_deref().map_or_else(String::new, |caller| mark(caller, "description"));
        let version = *self.version.borrow();
        Some(match message["method"].as_str()? {
            "tools/list" => {
                let about = format!("Works {version}. {owned}");
                let tool =
                    |name: &str| json!({ "name": name, "description": about, "inputSchema": { "type": "object" } });
                let mut tools = vec![tool("work"), tool("rest")];
                if version.is_multiple_of(2) {
                    tools.reverse();
                    tools.push(tool("new"));
                }
                self.list("tools", tools, params, caller.as_deref())
            }
            "resources/list" => {
                let note = |nth: u32| json!({ "uri": format!("note://{nth}"), "name": "note", "description": owned });
                self.list("resources", (0..4).map(note).collect(), params, caller.as_deref())
            }
            "prompts/list" => {
                let prompt = |nth: u32| json!({ "name": format!("p{nth}"), "description": owned });
                self.list("prompts", (0..4).map(prompt).collect(), params, caller.as_deref())
            }
            "resources/read" => json!({ "contents": [{ "uri": uri, "text": content }] }),
            "prompts/get" => {
                json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": content } }] })
            }
            _ => return None,
        })
    }

    /// Returns a page of a list. The cursor belongs to the caller.
    fn list(&self, member: &str, mut items: Vec<Value>, params: &Value, caller: Option<&str>) -> Value {
        if self.world.faults.at(Point::ServerChanges).is_some() {
            *self.version.borrow_mut() += 1;
        }
        let cursor = |page: u64| mark(caller.unwrap_or("state"), &format!("page-{page}-{member}"));
        let page = params["cursor"].as_str().map_or(0, |cursor| {
            cursor.split("page-").nth(1).and_then(|rest| rest.split('-').next()?.parse().ok()).unwrap_or(0)
        });
        self.world.ledger.check(page < PAGES, Invariant::Budget, || format!("page {page} of a list is requested"));
        let is_known = page == 0 || params["cursor"] == cursor(page);
        self.world.ledger.check(is_known, Invariant::NoLeak, || {
            format!("{} gets the cursor {} from {caller:?}", name(self.number), params["cursor"])
        });
        let is_endless = self.is_endless.get() || self.world.faults.at(Point::ServerListsForever).is_some();
        self.is_endless.set(is_endless);
        let mut result = json!({});
        if self.plan.has_pages || page > 0 || is_endless {
            let of_page = items.len().div_ceil(usize::try_from(PAGES_OF_LIST).unwrap_or(1));
            items = items
                .chunks(of_page.max(1))
                .nth(usize::try_from(page).unwrap_or(usize::MAX))
                .unwrap_or_default()
                .to_vec();
            if is_endless {
                // Each page of an endless list has another item.
                items = vec![
                    json!({ "name": format!("endless{page}"), "uri": format!("endless://{page}"), "inputSchema": { "type": "object" } }),
                ];
            }
            if is_endless || page + 1 < PAGES_OF_LIST {
                result["nextCursor"] = json!(cursor(page + 1));
            }
        }
        result[member] = items.into();
        if self.plan.hint != Hint::Nothing {
            result["ttlMs"] = json!(60_000);
            result["cacheScope"] = json!(if self.plan.hint == Hint::Public { "public" } else { "private" });
        }
        result
    }

    /// Returns the notifications before the answer to a call, as JSON texts.
    pub fn notifications(&self, request: &Sent, message: &Value) -> Vec<String> {
        let meta = &message["params"]["_meta"];
        let owned = self.caller_of(request).map(|caller| mark(&caller, "notification")).unwrap_or_default();
        let floods = self.world.faults.at(Point::ServerFloods).is_some();
        let count = if floods { 1200 } else { self.world.below(4) };
        let mut notifications = Vec::new();
        if let Some(token) = meta.get("progressToken") {
            let progress = |done: usize| json!({ "progressToken": token, "progress": done, "message": owned });
            notifications.extend((1..=count).map(|done| ("notifications/progress", progress(done))));
        }
        if meta.get("io.modelcontextprotocol/logLevel").is_some() {
            notifications.push(("notifications/message", json!({ "level": "notice", "data": owned })));
        }
        let write = |(method, params)| json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
        notifications.into_iter().map(write).collect()
    }
}

/// Reads an item of a server, or lists its items.
pub async fn read(running: &Running, server: usize, number: u32) -> Result<String, HandlerError> {
    let Running { world, client, cx, .. } = running;
    let peer = client.connect(cx).server(&name(server))?;
    let caller = name_of(cx.caller()?);
    let caller = world.plan().servers[server].has_callers().then_some(caller);
    let (text, number_of_content) = match number % 4 {
        0 => (peer.read_resource(&format!("note://{number}")).await?.text(), number),
        1 => {
            let result = peer.get_prompt("p1", json!({ "number": number.to_string() })).await?;
            let text: Value = serde_json::from_str(result.raw())?;
            (text["messages"][0]["content"]["text"].as_str().unwrap_or_default().to_owned(), number)
        }
        _ => {
            let list = if number % 4 == 2 { peer.list_resources().await? } else { peer.list_prompts().await? };
            let owned = caller.as_deref().map(|caller| mark(caller, "description")).unwrap_or_default();
            for item in list.items.iter().filter(|item| !item.name().starts_with("endless")) {
                world.ledger.check(item.description() == owned, Invariant::OwnResult, || {
                    format!("the list of {caller:?} has the item {}", item.raw())
                });
            }
            return Ok(read_result(server, number));
        }
    };
    let expected = content(server, number_of_content, caller.as_deref());
    world.ledger.check(text == expected, Invariant::OwnResult, || format!("{caller:?} reads {text}, not {expected}"));
    Ok(read_result(server, number))
}

/// Passes the notifications of a call on to the caller.
pub fn passing(call: Call, cx: &Context) -> Call {
    let (of_progress, of_log) = (cx.clone(), cx.clone());
    call.on_progress(move |it| of_progress.progress(it.progress, it.total, it.message.clone().unwrap_or_default()))
        .on_log(LogLevel::Info, move |it| of_log.log(it.level, &it.data))
}
