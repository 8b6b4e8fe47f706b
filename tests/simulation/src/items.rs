//! Prompts, resources, resource templates and completions of the program, and the requests of callers for them.
//!
//! Each content belongs to its caller. Items whose name has `vault` need the scope `secret`. Items whose name has `vip` are visible only to
//! callers with this scope. Items whose name has `asking` ask the caller.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::cache::{CacheHint, Cacheable};
use edge_mcp::{
    Completion, Context, HandlerError, McpServerBuilder, Prompt, PromptArgument, RequestInfo, Resource,
    ResourceDescription, ResourceTemplate,
};
use edge_mcp_test_support::random::Random;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::caller::{Caller, ROUNDS};
use crate::case::Plan;
use crate::identities::name_of;
use crate::ledger::{Invariant, mark};
use crate::parts::Reply;
use crate::passages::{RELATED, SEARCH};
use crate::rogue;
use crate::upstream;
use crate::world::World;

/// The most pages of a list.
const PAGES: usize = 60;
const PROMPTS: [&str; 4] = ["greet", "asking", "vault", "vip"];
const RESOURCES: [&str; 4] = ["sim://open", "sim://asking", "sim://vault", "sim://vip"];
const FOLDERS: [&str; 3] = ["notes", "vaults", "vips"];
/// The resources that a template lists.
const NOTES: [&str; 2] = ["one", "two"];

/// A kind of list.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// A request for an item.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum Item {
    /// Lists all items of a kind, page by page, this number of times.
    List(Kind, u32),
    /// Reads the resource at a URI.
    Read(String),
    /// Gets a prompt with an argument.
    Get(String, String),
    /// Completes the argument of a prompt.
    CompletePrompt(String, String),
    /// Completes the variable of a template.
    CompleteTemplate(String, String),
}

impl Item {
    pub fn new(random: &mut Random) -> Self {
        let word = format!("w{}", random.below(1000));
        match random.below(6) {
            0 | 1 => {
                let kind = [Kind::Tools, Kind::Prompts, Kind::Resources, Kind::Templates][random.below(4)];
                Self::List(kind, 1 + u32::from(random.once_in(2)))
            }
            2 | 3 => Self::Read(uri(random)),
            4 => Self::Get(prompt_name(random), word),
            _ if random.once_in(2) => Self::CompletePrompt(PROMPTS[random.below(PROMPTS.len())].to_owned(), word),
            _ => Self::CompleteTemplate(template(FOLDERS[random.below(FOLDERS.len())]), word),
        }
    }
}

/// Returns the URI of a resource of the program.
pub fn uri(random: &mut Random) -> String {
    if random.once_in(2) {
        return RESOURCES[random.below(RESOURCES.len())].to_owned();
    }
    format!("sim://{}/w{}", FOLDERS[random.below(FOLDERS.len())], random.below(1000))
}

/// Returns the name of a prompt of the program.
pub fn prompt_name(random: &mut Random) -> String {
    PROMPTS[random.below(PROMPTS.len())].to_owned()
}

fn template(folder: &str) -> String {
    format!("sim://{folder}/{{name}}")
}

pub fn content(name: &str, caller: &str) -> String {
    format!("{name} for {}", mark(caller, "item"))
}

/// Returns the suggestions for a text.
fn suggestions(typed: &str, caller: &str) -> Vec<String> {
    vec![format!("{typed}-1"), format!("{typed}-{}", mark(caller, "word"))]
}

fn is_vip(request: &RequestInfo) -> bool {
    request.caller().is_some_and(|caller| caller.has_scope("secret"))
}

/// Checks the caller of a handler, and lets others continue. Returns the name of the caller.
async fn enter(world: &World, name: &str, cx: &Context) -> Result<String, HandlerError> {
    let is_protected = name.contains("vault") || name.contains("vip");
    world.reached(cx, is_protected.then_some("secret"), name);
    world.schedule.sleep(1 + world.below(3) as u64).await;
    if name.contains("asking") {
        let reply = cx.elicit::<Reply>("item", format!("{name}:0")).await?.accepted();
        let is_own = reply.as_ref().is_some_and(|reply| reply.reply.starts_with(&format!("{name}:0#")));
        world.ledger.check(is_own, Invariant::OwnResult, || format!("{name} has the answer to another question"));
    }
    Ok(name_of(cx.caller()?))
}

/// Adds the items to the server of the program.
pub fn add(mut server: McpServerBuilder, world: &Rc<World>, plan: &Plan) -> McpServerBuilder {
    let is_served = |name: &&str| plan.has_vault || !(name.contains("vault") || name.contains("vip"));
    for name in PROMPTS.into_iter().filter(is_served) {
        server = server.prompt(prompt(name, world));
    }
    for uri in RESOURCES.into_iter().filter(is_served) {
        let world = world.clone();
        let read = move |cx: Context| {
            let world = world.clone();
            async move { Ok::<_, HandlerError>(content(uri, &enter(&world, uri, &cx).await?)) }
        };
        let resource = Resource::new(uri, read).name(uri);
        let resource = if uri.contains("vault") { resource.scopes(["secret"]) } else { resource };
        server = server.resource(if uri.contains("vip") { resource.visible_if(is_vip) } else { resource });
    }
    for folder in FOLDERS.into_iter().filter(is_served) {
        server = server.resource_template(notes(folder, world));
    }
    if let Some(size) = NonZeroUsize::new(plan.page_size) {
        server = server.page_size(size);
    }
    if plan.lists_all {
        server = server.list_all();
    }
    if !plan.has_vault {
        // The answers that depend on the caller must be private nevertheless.
        let hint = CacheHint::public(Duration::from_secs(90));
        for kind in [Cacheable::Prompts, Cacheable::Resources, Cacheable::ResourceTemplates, Cacheable::ReadResource] {
            server = server.cache_of(kind, hint);
        }
    }
    server
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Word {
    word: String,
}

#[derive(Deserialize)]
struct Note {
    name: String,
}

fn prompt(name: &'static str, world: &Rc<World>) -> Prompt {
    let (of_prompt, of_word) = (world.clone(), world.clone());
    let get = move |Word { word }: Word, cx: Context| {
        let world = of_prompt.clone();
        async move { Ok::<_, HandlerError>(content(&format!("{name} {word}"), &enter(&world, name, &cx).await?)) }
    };
    let complete = Completion::with(move |request, cx| {
        let world = of_word.clone();
        async move {
            let caller = cx.caller().map(name_of).unwrap_or_default();
            world.reached(&cx, (name.contains("vault") || name.contains("vip")).then_some("secret"), name);
            suggestions(&request.value, &caller)
        }
    });
    let prompt = Prompt::new(name, get).argument(PromptArgument::new("word")).complete("word", complete);
    let prompt = if name.contains("vault") { prompt.scopes(["secret"]) } else { prompt };
    if name.contains("vip") { prompt.visible_if(is_vip) } else { prompt }
}

fn notes(folder: &'static str, world: &Rc<World>) -> ResourceTemplate {
    let (of_read, of_list, of_word) = (world.clone(), world.clone(), world.clone());
    let read = move |Note { name }: Note, cx: Context| {
        let world = of_read.clone();
        async move {
            let uri = format!("sim://{folder}/{name}");
            Ok::<_, HandlerError>(content(&uri, &enter(&world, folder, &cx).await?))
        }
    };
    let list = move |cx: Context| {
        let world = of_list.clone();
        async move {
            let caller = enter(&world, folder, &cx).await?;
            let note = |name: &&str| {
                ResourceDescription::new(format!("sim://{folder}/{name}"), (*name).to_owned())
                    .description(mark(&caller, "listed"))
            };
            Ok::<_, HandlerError>(NOTES.iter().map(note).collect::<Vec<_>>())
        }
    };
    let complete = Completion::with(move |request, cx| {
        let world = of_word.clone();
        async move {
            let caller = cx.caller().map(name_of).unwrap_or_default();
            world.reached(&cx, (folder != "notes").then_some("secret"), folder);
            suggestions(&request.value, &caller)
        }
    });
    let template = ResourceTemplate::new(template(folder), read).name(folder).list(list).complete("name", complete);
    let template = if folder == "vaults" { template.scopes(["secret"]) } else { template };
    if folder == "vips" { template.visible_if(is_vip) } else { template }
}

impl Caller {
    /// Makes a request for an item.
    pub async fn item(&self, item: &Item) {
        match item {
            Item::List(kind, times) => {
                for _ in 0..*times {
                    self.list_all(*kind).await;
                }
            }
            Item::Read(uri) => {
                let Some(result) = self.asked(("resources/read", uri), json!({ "uri": uri }), uri).await else {
                    return;
                };
                let text = &result["contents"][0]["text"];
                self.check_own(*text == content(uri, self.name()), uri, &result);
            }
            Item::Get(name, word) => {
                let params = json!({ "name": name, "arguments": { "word": word } });
                let Some(result) = self.asked(("prompts/get", name), params, name).await else { return };
                let expected = content(&format!("{name} {word}"), self.name());
                self.check_own(result["messages"][0]["content"]["text"] == expected, name, &result);
            }
            Item::CompletePrompt(name, typed) => {
                self.complete(&json!({ "type": "ref/prompt", "name": name }), "word", typed, name).await;
            }
            Item::CompleteTemplate(uri, typed) => {
                self.complete(&json!({ "type": "ref/resource", "uri": uri }), "name", typed, uri).await;
            }
        }
    }

    async fn complete(&self, of: &Value, argument: &str, typed: &str, name: &str) {
        let params = json!({ "ref": of, "argument": { "name": argument, "value": typed } });
        let Some(answer) = self.post("completion/complete", params, None).await else { return };
        let Some(result) = self.permitted(&answer, name) else { return };
        self.check_own(result["completion"]["values"] == json!(suggestions(typed, self.name())), name, result);
    }

    /// Makes a request, and answers the questions of its handler. Returns the result.
    pub async fn asked(&self, (method, target): (&str, &str), mut params: Value, name: &str) -> Option<Value> {
        for _ in 0..ROUNDS {
            let answer = self.post(method, params.clone(), Some(target)).await?;
            let result = self.permitted(&answer, name)?;
            if result["resultType"] != "input_required" {
                return Some(result.clone());
            }
            self.open_links(&result["inputRequests"]).await;
            params["inputResponses"] = self.answers(&result["inputRequests"], false).into();
            params["requestState"] = result["requestState"].clone();
        }
        self.violate(Invariant::Budget, format!("{name} asks more than {ROUNDS} times"));
        None
    }

    /// Returns the result of an answer, if there is one and the caller may have it.
    fn permitted<'a>(&self, answer: &'a Value, name: &str) -> Option<&'a Value> {
        let is_protected = name.contains("vault") || name.contains("vip");
        let is_known = !is_protected || (self.world().plan().has_vault && self.has_scope("secret"));
        let result = &answer["result"];
        if result.is_object() && !is_known {
            self.violate(Invariant::OwnAccess, format!("{name} is answered without its scope: {answer}"));
        }
        if !result.is_object() && is_known {
            self.failed(answer, name);
        }
        self.check_public(result);
        result.is_object().then_some(result)
    }

    /// Checks that no result for one caller may be kept for all.
    fn check_public(&self, result: &Value) {
        let is_own = result.to_string().contains(&format!("Zq.{}.", self.name()));
        if result["cacheScope"] == "public" && is_own {
            self.violate(Invariant::NoLeak, format!("a result for one caller is public: {result}"));
        }
    }

    fn check_own(&self, is_own: bool, name: &str, result: &Value) {
        if !is_own {
            self.violate(Invariant::OwnResult, format!("{name} has the result of another request: {result}"));
        }
    }

    /// Lists all items of a kind, page by page.
    pub async fn list_all(&self, kind: Kind) {
        let (method, member, identity) = match kind {
            Kind::Tools => ("tools/list", "tools", "name"),
            Kind::Prompts => ("prompts/list", "prompts", "name"),
            Kind::Resources => ("resources/list", "resources", "uri"),
            Kind::Templates => ("resources/templates/list", "resourceTemplates", "uriTemplate"),
        };
        let mut listed = BTreeSet::new();
        let mut params = json!({});
        for _ in 0..PAGES {
            let Some(answer) = self.post(method, params, None).await else { return };
            let Some(items) = answer["result"][member].as_array() else {
                return self.failed(&answer, method);
            };
            self.check_public(&answer["result"]);
            for item in items {
                let name = item[identity].as_str().unwrap_or_default().to_owned();
                if !listed.insert(name.clone()) && kind != Kind::Tools {
                    self.violate(Invariant::OneAnswer, format!("{method} has {name} twice"));
                }
            }
            let Some(cursor) = answer["result"].get("nextCursor") else {
                return self.check_listed(kind, method, &listed);
            };
            params = json!({ "cursor": cursor });
        }
        self.violate(Invariant::Budget, format!("{method} has more than {PAGES} pages"));
    }

    fn check_listed(&self, kind: Kind, method: &str, listed: &BTreeSet<String>) {
        let has_secret = self.has_scope("secret");
        let plan = self.world().plan();
        let is_served = |name: &str| {
            // The scopes of a template also protect the resources that it lists.
            let is_listed = plan.lists_all && !NOTES.iter().any(|note| name.ends_with(&format!("/{note}")));
            let may_see = has_secret || (is_listed && !name.contains("vip"));
            !(name.contains("vault") || name.contains("vip")) || (plan.has_vault && may_see)
        };
        let mut expected: BTreeSet<String> = match kind {
            Kind::Tools => {
                let own = [
                    "approved",
                    "ask_clerk",
                    "direct",
                    "durable",
                    "job-cancel",
                    "job-result",
                    "later",
                    "measure",
                    "once",
                    "sub",
                ];
                let guarded =
                    if has_secret || plan.lists_all { ["guarded", "guarded-durable"].as_slice() } else { &[] };
                let searches = if plan.passages.is_some() { [SEARCH, RELATED].as_slice() } else { &[] };
                let rogue = if rogue::exists(plan) { [rogue::NAME].as_slice() } else { &[] };
                own.iter().chain(rogue).chain(guarded).chain(searches).map(|name| (*name).to_owned()).collect()
            }
            Kind::Prompts => PROMPTS.iter().map(|name| (*name).to_owned()).collect(),
            Kind::Resources => {
                let notes = FOLDERS.iter().flat_map(|folder| NOTES.map(|note| format!("sim://{folder}/{note}")));
                RESOURCES.iter().map(|uri| (*uri).to_owned()).chain(notes).collect()
            }
            Kind::Templates => FOLDERS.iter().map(|folder| template(folder)).collect(),
        };
        expected.retain(|name| is_served(name));
        let mut own = listed.clone();
        if kind == Kind::Tools {
            // The tools of a server that fails are missing.
            let of_sources: BTreeSet<_> = (0..if plan.has_source { plan.servers.len() } else { 0 })
                .map(|server| format!("{}_work", upstream::name(server)))
                .collect();
            own.retain(|name| !of_sources.contains(name));
            // So are those of a server to which the caller has not signed in.
            let is_out = |name: &str| name.strip_suffix("_work").is_some_and(|server| self.is_out(server));
            let missing: Vec<_> = of_sources.difference(listed).filter(|name| !is_out(name)).collect();
            if !missing.is_empty() && !self.has_faults() {
                self.violate(Invariant::Success, format!("{missing:?} are missing in {method} without a fault"));
            }
        }
        if own != expected {
            let invariant = if own.is_subset(&expected) { Invariant::OneAnswer } else { Invariant::OwnAccess };
            self.violate(invariant, format!("{method} has {own:?}, and must have {expected:?}"));
        }
    }
}
