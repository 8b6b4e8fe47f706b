//! Catalogues: which tools are listed, and which ones a model finds.

use edge_mcp::gateway::{Catalogue, Gateway, Mount};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Endpoint, Tool};
use serde_json::{Value, json};

use crate::peer::Answer;
use crate::servers::{Server, call, caller, endpoint, names, serving, tool, with_scopes};

const TOOLS: [&str; 3] = ["find-tools", "call-tool", "call-read-only-tool"];

fn issues() -> Server {
    let described = |name: &str, description: &str| json!({ "name": name, "description": description, "inputSchema": { "type": "object", "properties": { "n": {} } } });
    Server::with(json!({ "tools": [
        described("create_issue", "Opens an issue in a repository."),
        described("mergePullRequest", "Merges a branch."),
        described("list_labels", "Returns the labels of a repository."),
    ] }))
}

fn find(endpoint: &Endpoint, query: &str) -> Vec<Value> {
    let answer = call(endpoint, "find-tools", json!({ "query": query, "limit": 10 }));
    answer.text().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn found(endpoint: &Endpoint, query: &str) -> Vec<String> {
    find(endpoint, query).iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// All tools, chosen tools, or search, for all mounts or for one. A tool that is not listed can still be called.
#[test]
fn a_catalogue_decides_which_tools_are_listed() {
    let build = |catalogue: Catalogue, of_mount: Option<Catalogue>| {
        let mount = match of_mount {
            Some(catalogue) => issues().mount().catalogue(catalogue),
            None => issues().mount(),
        };
        let gateway = Gateway::builder("edge", "1").mount("hub", mount).mount("t", Server::tools(["t"]).mount());
        serving(gateway.catalogue(catalogue).build().expect("a gateway"), |it| it)
    };
    let all = ["hub_create_issue", "hub_mergePullRequest", "hub_list_labels", "t_t"];
    let chosen = || Catalogue::chosen(["hub_list_labels", "t_t", "none"]);
    for (endpoint, expected) in [
        (build(Catalogue::All, None), all.to_vec()),
        (build(Catalogue::Search, None), TOOLS.to_vec()),
        (build(chosen(), None), [&TOOLS[..], &all[2..]].concat()),
        (build(Catalogue::All, Some(Catalogue::Search)), [&TOOLS[..], &all[3..]].concat()),
        (build(Catalogue::Search, Some(Catalogue::All)), [&TOOLS[..], &all[..3]].concat()),
    ] {
        assert_eq!(names(&endpoint), expected);
        assert_eq!(call(&endpoint, "hub_create_issue", json!({})).text(), "create_issue {}");
    }
}

/// A search finds tools by words of names, titles and descriptions, the best first, with their schemas.
#[test]
fn a_search_finds_tools_by_words() {
    let endpoint =
        endpoint([("hub", issues().mount().catalogue(Catalogue::Search)), ("t", Server::tools(["t"]).mount())]);
    for (query, first) in [
        ("open an issue", "hub_create_issue"),
        ("pull requests", "hub_mergePullRequest"),
        ("merging", "hub_mergePullRequest"),
        ("labels", "hub_list_labels"),
        ("hub_list_labels", "hub_list_labels"),
    ] {
        assert_eq!(found(&endpoint, query).first().map(String::as_str), Some(first), "{query}");
    }
    let tool = find(&endpoint, "issue").remove(0);
    assert_eq!(
        tool,
        json!({
            "name": "hub_create_issue", "description": "Opens an issue in a repository.",
            "inputSchema": { "type": "object", "properties": { "n": {} } },
        })
    );
    for query in ["", "zebra", "\u{200b}", "\"'();--"] {
        let answer = call(&endpoint, "find-tools", json!({ "query": query }));
        assert_eq!(answer.text(), "No tool matches these words. Try other words.", "{query}");
    }
    for arguments in
        [json!({}), json!({ "query": 7 }), json!({ "query": "x", "limit": 0 }), json!({ "query": "x", "limit": 11 })]
    {
        assert!(call(&endpoint, "find-tools", arguments).is_error());
    }
    let long = call(&endpoint, "find-tools", json!({ "query": "é issue ".repeat(100_000) }));
    assert!(long.text().contains("hub_create_issue"));
}

/// A search finds only tools that this caller can call, and its order depends on no other tool.
#[test]
fn a_search_finds_only_what_the_caller_can_call() {
    let app = json!({ "name": "issue_form", "inputSchema": {}, "_meta": { "ui": { "resourceUri": "ui://hub/form" } } });
    let app_only = json!({ "name": "issue_refresh", "inputSchema": {}, "_meta": { "ui": { "visibility": ["app"] } } });
    let hidden: Vec<_> = (0..50)
        .map(|nth| json!({ "name": format!("issue{nth}"), "description": "An issue issue.", "inputSchema": {} }))
        .collect();
    let secret = || Server::with(json!({ "tools": hidden })).mount();
    let apps = || Server::with(json!({ "tools": [app, app_only, tool("issue_plain")] })).mount().apps();
    let mounts = |secret: Mount| {
        let gateway = Gateway::builder("edge", "1").catalogue(Catalogue::Search).mount("hub", issues().mount());
        let gateway = gateway.mount("secret", secret).mount("app", apps()).build().expect("a gateway");
        serving(gateway, |it| {
            it.tool(Tool::new("hub_list_labels", "An issue of the server itself.", || async { "local" }))
        })
    };
    let with = with_scopes(mounts(secret().scopes(["secret"])), &["secret"]);
    assert!(found(&with, "issue").iter().any(|name| name.starts_with("secret_")));
    let expected = found(&with_scopes(mounts(Server::tools([]).mount()), &[]), "open issue branch");
    assert!(expected.contains(&"hub_create_issue".to_owned()) && expected.contains(&"app_issue_plain".to_owned()));
    for mount in [
        secret().scopes(["secret"]),
        secret().tools(["none"]),
        secret().pins_only(),
        secret().each_tool(|tool| tool.visible_if(|_| false)),
        secret().each_tool(|tool| tool.scopes(["other"])),
    ] {
        let endpoint = with_scopes(mounts(mount), &[]);
        for query in ["issue", "open issue branch", "issue7", "labels of a repository"] {
            let names = found(&endpoint, query);
            assert!(
                names.iter().all(|name| !name.starts_with("secret_")
                    && !["app_issue_form", "app_issue_refresh", "hub_list_labels"].contains(&&**name)),
                "{names:?}"
            );
        }
        let order = find(&endpoint, "open issue branch");
        assert_eq!(order, find(&with_scopes(mounts(Server::tools([]).mount()), &[]), "open issue branch"));
    }
    let listed = testing::run(caller(&mounts(Server::tools([]).mount()), &TestHost::new()).list("tools"));
    assert!(
        listed.names().contains(&"app_issue_form"),
        "apps are listed, because clients show only a tool that is called directly: {listed:?}"
    );
}

/// C94: a server that fails is named after the tools that were found.
#[test]
fn a_search_names_servers_that_fail() {
    let down = Server::new(|_| Answer::new(500, "text/plain", "SECRET-4711"));
    let endpoint = endpoint([("hub", issues().mount().catalogue(Catalogue::Search)), ("down", down.mount())]);
    let answer = call(&endpoint, "find-tools", json!({ "query": "issue" }));
    let last = answer.text().lines().last().expect("a line");
    assert_eq!(last, "The server `down` failed (status 500).");
    assert!(found(&endpoint, "issue").contains(&"hub_create_issue".to_owned()));
}

/// The tools of a catalogue say what they can do.
#[test]
fn the_tools_of_a_catalogue_have_annotations() {
    let endpoint = endpoint([("hub", issues().mount().catalogue(Catalogue::Search))]);
    let listed = crate::servers::list(&endpoint, "tools");
    let hints: Vec<_> = listed.result()["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|it| {
            (
                it["annotations"]["readOnlyHint"] == true,
                it["annotations"]["destructiveHint"] == true,
                it["annotations"]["openWorldHint"] == true,
            )
        })
        .collect();
    assert_eq!(hints, [(true, false, true), (false, true, true), (true, false, true)]);
}

/// No server fills the results of a search: half of the places go to the best tools, and the other half first to servers that have none of them.
#[test]
fn a_server_with_many_tools_leaves_places_to_others() {
    let flood: Vec<_> = (0..60)
        .map(|nth| json!({ "name": format!("pay_invoice_{nth}"), "title": "Pay an invoice", "description": "Pay an invoice, pay an invoice.", "inputSchema": { "type": "object" } }))
        .collect();
    let one = |name: &str| json!({ "name": name, "description": "Pays an invoice of a supplier from an account of the company.", "inputSchema": { "type": "object" } });
    let builder = Gateway::builder("edge", "1").catalogue(Catalogue::Search);
    let builder = builder.mount("evil", Server::with(json!({ "tools": flood })).mount());
    let builder = builder.mount("bank", Server::with(json!({ "tools": [one("transfer")] })).mount());
    let builder = builder.mount("desk", Server::with(json!({ "tools": [one("settle")] })).mount());
    let endpoint = serving(builder.build().expect("a gateway"), |it| it);
    let names = found(&endpoint, "pay an invoice");
    assert_eq!(names.len(), 10);
    assert!(names[..5].iter().all(|name| name.starts_with("evil_")), "the best come first: {names:?}");
    assert_eq!(names[5..7], ["bank_transfer", "desk_settle"], "{names:?}");
}

/// The definitions of a result have a limit, in equal shares. A tool with a longer input schema has a note, and a search for it alone has the schema.
#[test]
fn the_result_of_a_search_is_bounded_in_bytes() {
    let tools: Vec<_> = (0..10)
        .map(|nth| {
            let schema = json!({ "type": "object", "$comment": "x".repeat(if nth == 9 { 10 } else { 60_000 }) });
            json!({ "name": format!("issue{nth}"), "description": "An issue.", "inputSchema": schema })
        })
        .collect();
    let endpoint = endpoint([("m", Server::with(json!({ "tools": tools })).mount().catalogue(Catalogue::Search))]);
    let answer = call(&endpoint, "find-tools", json!({ "query": "issue", "limit": 10 }));
    assert!(answer.text().len() < 64 << 10, "{}", answer.text().len());
    let tools = find(&endpoint, "issue");
    assert_eq!(tools.len(), 10);
    for tool in &tools {
        assert_eq!(tool.get("inputSchema").is_some(), tool["name"] == "m_issue9", "{tool}");
        assert_eq!(tool.get("note").is_none(), tool["name"] == "m_issue9", "{tool}");
    }
    let alone = call(&endpoint, "find-tools", json!({ "query": "issue0", "limit": 1 }));
    assert!(alone.text().contains("inputSchema") && alone.text().contains("m_issue0"));
}
