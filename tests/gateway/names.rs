//! The names of mounted tools and prompts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use edge_mcp::Tool;
use edge_mcp::gateway::Gateway;
use edge_mcp::testing::{self, TestHost};
use edge_mcp_test_support::random::Random;
use serde_json::json;

use crate::servers::{Server, answer_of, assert_unknown, call, caller, endpoint, gateway, list, names, serving, tool};

/// C87: each tool has the name of its mount as a prefix, also with one mount. The first `_` divides.
#[test]
fn a_tool_has_the_name_of_its_mount_as_a_prefix() {
    let (one, two) = (Server::tools(["create_issue", "a_b_c"]), Server::tools(["create_issue"]));
    let both = endpoint([("github", one.mount()), ("git-hub", two.mount())]);
    assert_eq!(names(&both), ["github_create_issue", "github_a_b_c", "git-hub_create_issue"]);
    one.take();
    assert_eq!(call(&both, "github_a_b_c", json!({})).text(), "a_b_c {}");
    assert_eq!(one.methods(), ["tools/call"], "one request, without a list");
    two.take();
    assert_unknown(&both, "git_hub_create_issue");
    assert_unknown(&both, "GitHub_create_issue");
    assert_unknown(&both, "github_");
    assert!(one.take().is_empty() && two.take().is_empty(), "no server hears of a tool of another prefix");
    assert_eq!(names(&endpoint([("github", one.mount())])), ["github_create_issue", "github_a_b_c"]);
}

/// C87: mount names are plain, and differ also without regard to case. Only one mount can be without a prefix.
#[test]
fn the_names_of_mounts_are_checked() {
    let server = || Server::tools(["a"]).mount();
    let long = "m".repeat(25);
    for (mounts, problem) in [
        (vec![("", server())], "must begin with a letter"),
        (vec![("a_b", server())], "must begin with a letter"),
        (vec![("1a", server())], "must begin with a letter"),
        (vec![(&*long, server())], "at most 24 letters"),
        (vec![("github", server()), ("GitHub", server())], "twice"),
        (vec![("a", server().as_is()), ("b", server())], "is mounted as it is"),
        (vec![("a", server().rename("x", "y")), ("a2", server().rename("x", "y").rename("z", "y"))], "twice"),
        (vec![("a", server().rename("x", "y z"))], "must be named"),
        (vec![("a", server().scopes(["a b"]))], "scope"),
    ] {
        let named = mounts
            .into_iter()
            .fold(Gateway::builder("edge", "1"), |it, (name, mount)| it.mount(name.to_owned(), mount));
        let error = named.build().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(problem), "{problem}: {error}");
    }
    for longest in [0, 39, 65] {
        assert!(Gateway::builder("edge", "1").longest_name(longest).build().is_err());
    }
    assert!(Gateway::builder("", "1").build().is_err() && Gateway::builder("x".repeat(129), "1").build().is_err());
}

fn random_name(random: &mut Random) -> String {
    const PARTS: [&str; 14] = [
        "a",
        "B",
        "9",
        "_",
        "-",
        ".",
        " ",
        "/",
        "é",
        "日",
        "_0123abcd",
        "create_issue",
        "0123456789012345678901234567890",
        "\u{1F600}",
    ];
    let mut name = String::new();
    for _ in 0..=random.below(5) {
        name.push_str(PARTS[random.below(PARTS.len())]);
    }
    name
}

/// C87, C88, C89, C101: names are different and at most as long as the limit, they are the same in any order of the list and with other
/// tools around, and each leads back to its tool.
#[test]
fn names_are_different_short_and_stable() {
    let mut random = Random::new(36);
    for round in 0..20 {
        let longest = 40 + random.below(25);
        let mut all: Vec<String> = (0..10).map(|_| random_name(&mut random)).collect();
        all.sort();
        all.dedup();
        let shown = |names: &[String]| {
            let server = Server::tools(names.iter().map(String::as_str));
            let gateway =
                Gateway::builder("edge", "1").longest_name(longest).mount("mount-with-a-long-name", server.mount());
            let endpoint = serving(gateway.build().expect("a gateway"), |it| it);
            let shown: Vec<_> = crate::servers::names(&endpoint);
            assert!(shown.iter().all(|name| name.len() <= longest), "{shown:?}");
            assert!(shown.iter().all(|name| name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-".contains(&it))));
            let called = shown.iter().map(|name| {
                let answer = call(&endpoint, name, json!({}));
                (answer.text().strip_suffix(" {}").expect("a result").to_owned(), name.clone())
            });
            called.collect::<BTreeMap<_, _>>()
        };
        let whole = shown(&all);
        assert_eq!(
            whole.keys().collect::<Vec<_>>(),
            all.iter().collect::<Vec<_>>(),
            "round {round}: each name leads back"
        );
        let reversed: Vec<_> = all.iter().rev().cloned().collect();
        assert_eq!(shown(&reversed), whole, "round {round}");
        let half: Vec<_> = all.iter().step_by(2).cloned().collect();
        assert!(shown(&half).iter().all(|(own, name)| whole[own] == *name), "round {round}");
    }
}

/// C88: a renamed tool has only its new name, also if the server has another tool of this name or does not have the renamed one now.
#[test]
fn a_renamed_tool_has_only_its_new_name() {
    let long = "x".repeat(60);
    for own in [vec![&*long, "short", "other"], vec!["short", &long, "other"]] {
        let server = Server::tools(own);
        let endpoint = endpoint([("m", server.mount().rename(long.clone(), "short"))]);
        let mut shown = names(&endpoint);
        shown.sort();
        assert_eq!(shown, ["m_other", "m_short"]);
        assert_eq!(call(&endpoint, "m_short", json!({})).text(), format!("{long} {{}}"));
    }
    // The server does not have the renamed tool. A call still asks for this tool, and never for the other one.
    let endpoint = endpoint([("m", Server::tools(["short"]).mount().rename(long.clone(), "short"))]);
    assert!(names(&endpoint).is_empty());
    assert_eq!(call(&endpoint, "m_short", json!({})).text(), format!("{long} {{}}"));
}

/// C88, C100: neither a filter nor a rename can be avoided by another spelling of a name.
#[test]
fn a_hidden_tool_has_no_other_name() {
    let long = "delete/".repeat(9);
    let lists = Server::tools([&*long, "drop", "keep"]);
    let shown = names(&endpoint([("m", lists.mount())]));
    let hashed = shown.iter().find(|name| name.starts_with("m_delete")).expect("the long name").clone();
    let hidden = endpoint([("m", lists.mount().without([long.clone(), "drop".into()]))]);
    assert_eq!(names(&hidden), ["m_keep"]);
    let only = endpoint([("m", lists.mount().tools(["keep"]))]);
    assert_eq!(names(&only), ["m_keep"]);
    let renamed =
        endpoint([("m", lists.mount().rename("drop", "remove").rename(long.clone(), "wipe").without([long.clone()]))]);
    assert_eq!(names(&renamed), ["m_remove", "m_keep"]);
    lists.take();
    for endpoint in [&hidden, &only, &renamed] {
        for name in ["m_drop", &hashed, &format!("m_{long}"), "drop", "M_drop"] {
            assert_unknown(endpoint, name);
        }
        assert!(lists.methods().iter().all(|method| method == "tools/list"));
    }
    assert_unknown(&renamed, "m_wipe");
}

/// C89: an upstream name that is empty, too long or not a string is left out.
#[test]
fn names_that_are_not_valid_are_left_out() {
    let tools = json!([
        tool("a"), { "name": "", "inputSchema": {} }, { "name": 7, "inputSchema": {} }, { "inputSchema": {} },
        { "name": "x".repeat(10_000), "inputSchema": {} }, { "name": "no schema" }, 7,
    ]);
    assert_eq!(names(&endpoint([("m", Server::with(json!({ "tools": tools })).mount())])), ["m_a"]);
}

/// C90: a tool of the server itself takes precedence, in the list and in calls, and the log says so.
#[test]
fn a_tool_of_the_server_itself_takes_precedence() {
    let server = Server::tools(["track", "lose"]);
    let endpoint = serving(gateway([("parcels", server.mount())]), |it| {
        it.tool(Tool::new("parcels_track", "The local one.", || async { "local" }))
    });
    let host = TestHost::new();
    let tools = testing::run(caller(&endpoint, &host).list("tools"));
    assert_eq!(tools.names(), ["parcels_track", "parcels_lose"]);
    assert_eq!(tools.result()["tools"][0]["description"], "The local one.");
    assert!(host.log_text().contains("`parcels_track` of a source is left out"), "{}", host.log_text());
    server.take();
    assert_eq!(call(&endpoint, "parcels_track", json!({})).text(), "local");
    assert!(server.take().is_empty());
}

/// C90: of two tools of a server that come to one name, one exists, whatever the order of the list.
#[test]
fn of_two_tools_with_one_name_one_exists() {
    let long = "x".repeat(60);
    let hashed = names(&endpoint([("m", Server::tools([&*long]).mount())])).pop().expect("a name");
    let twin = hashed.strip_prefix("m_").expect("a prefix");
    for own in [[&*long, twin, "other"], [twin, &long, "other"]] {
        let server = Server::tools(own);
        let (endpoint, host) = (endpoint([("m", server.mount())]), TestHost::new());
        let mut shown: Vec<_> =
            testing::run(caller(&endpoint, &host).list("tools")).names().iter().map(|it| (*it).to_owned()).collect();
        shown.sort();
        assert_eq!(shown, ["m_other", &hashed]);
        assert_eq!(call(&endpoint, &hashed, json!({})).text(), format!("{twin} {{}}"), "the first one in the alphabet");
    }
}

/// C87, C88: prompts have names of the same form, and each leads back.
#[test]
fn prompts_have_names_of_the_same_form() {
    let long = "p".repeat(70);
    for own in [[&*long, "hello", "grüße"], ["grüße", &long, "hello"]] {
        let prompts: Vec<_> = own.iter().map(|name| json!({ "name": name })).collect();
        let endpoint = endpoint([("m", Server::with(json!({ "prompts": prompts })).mount())]);
        let listed = list(&endpoint, "prompts");
        let mut shown = listed.names();
        shown.sort_unstable();
        assert!(shown[0].starts_with("m_gr__e_") && shown[1] == "m_hello" && shown[2].len() == 48, "{shown:?}");
        for (name, own) in shown.iter().zip(["grüße", "hello", &long]) {
            let got = testing::run(caller(&endpoint, &TestHost::new()).prompt(name, json!({ "x": "1" })));
            assert_eq!(got.text(), format!("{} {{\"x\":\"1\"}}", json!(own)));
        }
        let got = testing::run(caller(&endpoint, &TestHost::new()).prompt("m_none_01234567", json!({})));
        assert_eq!(got.error().map(|(code, _)| code), Some(-32_602), "{got:?}");
    }
}

/// C87: a single mount can have no prefix.
#[test]
fn a_single_mount_can_be_as_it_is() {
    let server = Server::tools(["create_issue", "a b"]);
    let endpoint = endpoint([("github", server.mount().as_is())]);
    let shown = names(&endpoint);
    assert!(shown[0] == "create_issue" && shown[1].starts_with("a_b_"), "{shown:?}");
    assert_eq!(call(&endpoint, &shown[0], json!({})).text(), "create_issue {}");
    assert_eq!(call(&endpoint, &shown[1], json!({})).text(), "a b {}");
    assert_unknown(&endpoint, "a b");
}

/// A pinned tool owns the name by which callers know it: no other tool of its server gets this name, also while the pin holds the tool back.
#[test]
fn a_pin_owns_the_name_that_callers_see() {
    let (long, host) = ("a".repeat(60), TestHost::new());
    let hashed = names(&endpoint([("m", Server::tools([&*long]).mount())])).pop().expect("a name");
    let twin = hashed.strip_prefix("m_").expect("a prefix").to_owned();
    let description = Rc::new(RefCell::new("Reads."));
    let shown = description.clone();
    let server = Server::new(move |message| {
        let mut pinned = tool(&"a".repeat(60));
        pinned["description"] = json!(*shown.borrow());
        answer_of(&json!({ "tools": [pinned, tool(&twin)] }), message)
    });
    let unpinned = gateway([("m", server.mount())]);
    let code = testing::run(host.run(unpinned.pins(&testing::context(&host)))).expect("the pins");
    let line = code.lines().find(|line| line.contains(&format!("{long:?}"))).expect("a pin");
    let digest = line.split('"').nth(3).expect("a digest").to_owned();
    let endpoint = endpoint([("m", server.mount().pin(long.clone(), digest))]);
    assert_eq!(names(&endpoint), [&*hashed]);
    assert_eq!(list(&endpoint, "tools").result()["tools"][0]["description"], "Reads.");
    assert_eq!(call(&endpoint, &hashed, json!({})).text(), format!("{long} {{}}"));
    description.replace("Sends.");
    assert!(names(&endpoint).is_empty());
    server.take();
    assert_unknown(&endpoint, &hashed);
    assert_eq!(server.methods(), ["tools/list"]);
}

/// A server may read another spelling of a name as the same tool. So a name that differs only in case or punctuation from one that is hidden,
/// renamed or pinned must be in the list of the server.
#[test]
fn a_name_that_resembles_another_one_is_looked_up() {
    let server = Server::tools(["delete_repository", "track", "pay", "list"]);
    let pin = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    let mount = || server.mount().without(["delete_repository"]).rename("track", "find").pin("pay", pin);
    let endpoint = endpoint([("hub", mount())]);
    for name in [
        "DELETE_repository",
        "delete_repository.",
        "deleteRepository",
        "-delete_repository",
        "TRACK",
        "t.rack",
        "Pay",
        "pay_",
    ] {
        server.take();
        assert_unknown(&endpoint, &format!("hub_{name}"));
        assert_eq!(server.methods(), ["tools/list"], "{name}");
    }
    assert_eq!(call(&endpoint, "hub_list", json!({})).text(), "list {}");
    assert_eq!(server.methods(), ["tools/call"], "another name needs no list");
    let both = Server::tools(["delete_repository", "deleteRepository"]);
    let endpoint = self::endpoint([("hub", both.mount().without(["delete_repository"]))]);
    assert_eq!(call(&endpoint, "hub_deleteRepository", json!({})).text(), "deleteRepository {}", "the server has it");
}
