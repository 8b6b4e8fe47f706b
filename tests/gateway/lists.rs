//! The lists of a gateway.

use std::time::Duration;

use edge_mcp::cache::CacheHint;
use edge_mcp::client::Upstream;
use edge_mcp::gateway::Mount;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Endpoint, McpServer, Tool};
use serde_json::{Value, json};

use crate::peer::{Answer, End, json_answer};
use crate::servers::{Server, call, caller, complete, endpoint, gateway, list, names, serving, tool, with_scopes};

const KINDS: [&str; 4] = ["tools", "resources", "resources/templates", "prompts"];

fn all_kinds() -> Value {
    json!({
        "tools": [tool("t2"), tool("t1")],
        "resources": [{ "uri": "a://x", "name": "x" }],
        "resourceTemplates": [{ "uriTemplate": "a://{x}", "name": "x" }],
        "prompts": [{ "name": "p" }],
    })
}

/// C93: local items are first, then those of the mounts in the order of registration and of their servers.
#[test]
fn items_have_the_order_of_the_mounts() {
    let slow = Server::with(all_kinds()).slow(Duration::from_secs(1));
    let gateway = gateway([("b", slow.mount()), ("a", Server::with(all_kinds()).mount())]);
    let endpoint = serving(gateway, |it| it.tool(Tool::new("z", "Z.", || async {})));
    assert_eq!(names(&endpoint), ["z", "b_t2", "b_t1", "a_t2", "a_t1"]);
    let expected = [vec![], vec!["b+a://x", "a+a://x"], vec!["b+a://{x}", "a+a://{x}"], vec!["b_p", "a_p"]];
    for (kind, names) in KINDS.into_iter().zip(expected).skip(1) {
        assert_eq!(list(&endpoint, kind).names(), names);
    }
}

/// C93: at most 6 servers are asked at the same time, each once.
#[test]
fn servers_are_asked_at_the_same_time() {
    let own: Vec<_> = (0..50).map(|nth| format!("t{nth}")).collect();
    let server = || Server::tools(own.iter().map(String::as_str)).slow(Duration::from_millis(50));
    let servers: Vec<_> = (0..20).map(|_| server()).collect();
    let gateway =
        servers.iter().enumerate().fold(edge_mcp::gateway::Gateway::builder("edge", "1"), |it, (nth, server)| {
            it.mount(format!("m{nth}"), server.mount())
        });
    let (endpoint, host) = (serving(gateway.build().expect("a gateway"), |it| it), TestHost::new());
    let tools = testing::run(caller(&endpoint, &host).list("tools"));
    assert_eq!(tools.names().len(), 1000);
    assert_eq!(servers.iter().map(|server| server.take().len()).sum::<usize>(), 20);
    assert_eq!(host.waits(), [Duration::from_millis(50); 4], "4 waves of 6");
}

/// Servers that fail in different ways.
fn failing() -> Vec<(&'static str, Mount, &'static str)> {
    let answering = |answer: Answer| Server::new(move |_| answer.clone()).mount();
    vec![
        ("silent", Server::silent().mount(), "did not answer within 5 s"),
        ("down", answering(Answer::new(200, "", "").end(End::NoHead)), "cannot be reached"),
        ("login", answering(Answer::new(200, "text/html", "<p>SECRET-4711</p>")), "web page"),
        ("locked", answering(Answer::new(401, "text/plain", "SECRET-4711")), "requires a valid access token"),
        ("broken", answering(Answer::new(500, "text/plain", "SECRET-4711")), "failed (status 500)"),
        ("busy", answering(Answer::new(503, "", "").header("retry-after", "7")), "Try again after 7 s"),
        ("hostile", answering(Answer::new(200, "application/json", "[".repeat(1_000_000))), "invalid answer"),
        (
            "endless",
            answering(Answer::new(200, "application/json", "[1,".repeat(1000)).end(End::Endless)),
            "exceeded a limit",
        ),
        ("empty", answering(complete(json!({}))), "without the list"),
        (
            "error",
            answering(json_answer(
                200,
                json!({ "jsonrpc": "2.0", "id": "$id", "error": { "code": -1, "message": "no" } }),
            )),
            "answers with the error -1",
        ),
    ]
}

/// C93, C94: a server that fails contributes nothing and costs nothing. It is named, and the list can be cached for at most 5 s.
#[test]
fn a_server_that_fails_does_not_affect_the_others() {
    for kind in KINDS {
        for (name, mount, problem) in failing() {
            let healthy = Server::with(all_kinds());
            let gateway = gateway([(name, mount), ("well", healthy.mount())]);
            let endpoint = testing::endpoint(move |_| {
                McpServer::builder("edge", "1")
                    .cache(CacheHint::public(Duration::from_mins(1)))
                    .gateway(&gateway)
                    .build()
            });
            let host = TestHost::new();
            let answer = testing::run(caller(&endpoint, &host).list(kind));
            assert_eq!(
                answer.names(),
                list(&self::endpoint([("well", healthy.mount())]), kind).names(),
                "{name} {kind}"
            );
            let result = answer.result();
            let missing = &result["_meta"]["edge-mcp/missing"];
            assert_eq!(missing.as_object().map(serde_json::Map::len), Some(1), "{name}: {result}");
            let sentence = missing[name].as_str().expect("a sentence");
            assert!(sentence.starts_with(&format!("The server `{name}` ")) && sentence.contains(problem), "{sentence}");
            assert!(!sentence.contains("executed"), "a list has no effects: {sentence}");
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(5000), &json!("private")));
            assert!(
                host.log_text().contains(sentence.trim_end_matches('.'))
                    || host.log_text().contains(r#"answers: \"no\""#),
                "{}",
                host.log_text()
            );
            let everything = format!("{}{}", host.log_text(), String::from_utf8_lossy(answer.body()));
            assert!(!everything.contains("SECRET-4711"), "{everything}");
            assert!(host.waits().iter().sum::<Duration>() <= Duration::from_secs(6), "{name}: {:?}", host.waits());
        }
    }
}

/// C93: many silent servers take at most 8 s together, and a server is not asked after this time.
#[test]
fn many_silent_servers_take_at_most_8_s() {
    let silent: Vec<_> = (0..30).map(|_| Server::silent()).collect();
    let builder =
        silent.iter().enumerate().fold(edge_mcp::gateway::Gateway::builder("edge", "1"), |it, (nth, server)| {
            it.mount(format!("m{nth}"), server.mount())
        });
    let first = Server::tools(["t"]);
    let (gateway, host) = (builder.mount("well", first.mount()).build().expect("a gateway"), TestHost::new());
    let endpoint = serving(gateway, |it| it.tool(Tool::new("z", "Z.", || async {})));
    let answer = testing::run(caller(&endpoint, &host).list("tools"));
    assert_eq!(answer.names(), ["z"]);
    assert_eq!(answer.result()["_meta"]["edge-mcp/missing"].as_object().map(serde_json::Map::len), Some(31));
    assert_eq!(host.waits().iter().sum::<Duration>(), Duration::from_secs(8));
    assert_eq!(
        silent.iter().filter(|server| !server.take().is_empty()).count(),
        12,
        "the others are not asked any more"
    );
    assert!(silent.iter().all(|server| server.waiting() == 0), "no request is left");
}

/// C94: if all servers fail and there is nothing else, the answer is an error, and never an empty list.
#[test]
fn if_all_servers_fail_the_list_is_an_error() {
    let broken = || Server::new(|_| Answer::new(500, "", "")).mount();
    for kind in KINDS {
        let endpoint = endpoint([("one", broken()), ("two", Server::silent().mount())]);
        let answer = list(&endpoint, kind);
        let (code, message) = answer.error().expect("an error");
        assert_eq!(code, -32_603);
        assert!(message.contains("`one` failed (status 500)") && message.contains("`two` "), "{message}");
    }
    // A server that answers with an empty list does answer.
    let endpoint = endpoint([("one", broken()), ("two", Server::tools([]).mount())]);
    assert_eq!(list(&endpoint, "tools").error(), None);
    let endpoint = serving(gateway([("one", broken())]), |it| it.tool(Tool::new("z", "Z.", || async {})));
    assert_eq!(names(&endpoint), ["z"]);
}

/// C95: the whole list is divided into pages of this server.
#[test]
fn lists_are_divided_into_pages() {
    let own: Vec<_> = (0..7).map(|nth| format!("t{nth}")).collect();
    let server = || Server::tools(own.iter().map(String::as_str));
    let (one, two) = (server(), server());
    let endpoint = serving(gateway([("a", one.mount()), ("b", two.mount())]), |it| {
        it.page_size(std::num::NonZeroUsize::new(4).expect("not zero"))
    });
    let all = list(&endpoint, "tools");
    let expected: Vec<_> =
        ["a", "b"].iter().flat_map(|mount| own.iter().map(move |name| format!("{mount}_{name}"))).collect();
    assert_eq!(all.names(), expected);
    assert_eq!(one.take().len(), 4, "a page is gathered again, if the server does not permit a cache");
}

/// C96: a list with mounted items is private, whatever the servers and the program say. Without a failure, the time is that of the program.
#[test]
fn a_list_with_mounted_items_is_private() {
    let server = Server::new(|_| complete(json!({ "tools": [], "ttlMs": 1_000_000, "cacheScope": "public" })));
    let gateway = gateway([("a", server.mount())]);
    let endpoint = testing::endpoint(move |_| {
        McpServer::builder("edge", "1").cache(CacheHint::public(Duration::from_mins(1))).gateway(&gateway).build()
    });
    let answer = list(&endpoint, "tools");
    assert_eq!((&answer.result()["ttlMs"], &answer.result()["cacheScope"]), (&json!(60_000), &json!("private")));
}

/// C94: an expired list replaces the list of a server that fails, also while its circuit breaker is open.
#[test]
fn an_expired_list_replaces_that_of_a_server_that_fails() {
    let is_down = std::rc::Rc::new(std::cell::Cell::new(false));
    let down = is_down.clone();
    let lists = json!({ "tools": [tool("t")], "ttlMs": 1000 });
    let server =
        Server::new(
            move |message| {
                if down.get() { Answer::new(500, "", "") } else { crate::servers::answer_of(&lists, message) }
            },
        );
    let (endpoint, host) = (endpoint([("a", server.mount())]), TestHost::new());
    let names = || testing::run(caller(&endpoint, &host).list("tools")).names().join(" ");
    assert_eq!((names(), names()), ("a_t".to_owned(), "a_t".to_owned()));
    assert_eq!(server.take().len(), 1, "the server permits a cache");
    is_down.set(true);
    host.advance(Duration::from_secs(2));
    for _ in 0..5 {
        assert_eq!(names(), "a_t");
    }
    assert!(
        host.log_text().contains("failed 3 times in a row"),
        "a list from the cache is not a success: {}",
        host.log_text()
    );
    assert!(server.take().len() <= 6, "the circuit breaker is open");
    host.advance(Duration::from_secs(700));
    let answer = testing::run(caller(&endpoint, &host).list("tools"));
    assert_eq!(answer.error().map(|(code, _)| code), Some(-32_603), "the list is too old: {answer:?}");
}

/// C94: an expired list does not replace that of a server that rejects the caller.
#[test]
fn an_expired_list_does_not_replace_a_rejection() {
    for status in [401, 403] {
        let is_rejecting = std::rc::Rc::new(std::cell::Cell::new(false));
        let rejecting = is_rejecting.clone();
        let lists = json!({ "tools": [tool("t")], "ttlMs": 1000 });
        let server = Server::new(move |message| {
            if rejecting.get() { Answer::new(status, "", "") } else { crate::servers::answer_of(&lists, message) }
        });
        let (endpoint, host) = (endpoint([("a", server.mount())]), TestHost::new());
        assert_eq!(testing::run(caller(&endpoint, &host).list("tools")).names(), ["a_t"]);
        is_rejecting.set(true);
        host.advance(Duration::from_secs(2));
        assert!(testing::run(caller(&endpoint, &host).list("tools")).error().is_some(), "{status}");
    }
}

/// C97, C98, C99: hidden characters are removed, long texts are cut, and hints of a server that is not trusted do not count.
#[test]
fn definitions_are_cleaned() {
    let definition = json!({
        "name": "wipe", "title": "Wi\u{202E}pe", "description": format!("\u{E0041}a\u{200B}b\u{1b}[1m\n\t{}é", "x".repeat(4095)),
        "inputSchema": { "type": "object", "properties": { "x": { "description": "\u{200B}y", "const": 1.50 } } },
        "annotations": { "title": "T", "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false, "idempotentHint": true },
        "icons": [
            { "src": "http://a.example/i.png" }, { "src": "javascript:1" }, { "src": "data:image/svg+xml,x" },
            { "src": "https://a.example/i.png" }, { "src": "data:image/png;base64,AA==" },
        ],
        "_meta": { "edge-mcp/x": 1, "example.com/x": 1 },
    });
    let server = Server::with(json!({ "tools": [definition] }));
    for is_trusted in [false, true] {
        let upstream = if is_trusted { server.upstream().trusted() } else { server.upstream() };
        let endpoint = endpoint([("m", Mount::new(upstream))]);
        let answer = list(&endpoint, "tools");
        let shown = &answer.result()["tools"][0];
        assert_eq!(shown["title"], "Wipe");
        let description = shown["description"].as_str().expect("a text");
        assert!(description.starts_with("ab[1m\n\t"), "{description:?}");
        assert!(description.ends_with("x…") && description.len() <= (4 << 10) + 3, "{}", description.len());
        let hints = &shown["annotations"];
        if is_trusted {
            assert_eq!(
                (&hints["readOnlyHint"], &hints["destructiveHint"], &hints["idempotentHint"]),
                (&json!(true), &json!(false), &json!(true))
            );
        } else {
            let expected =
                json!({ "title": "T", "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true });
            assert_eq!(*hints, expected, "a title is no hint about effects");
        }
        let icons: Vec<_> = shown["icons"].as_array().expect("icons").iter().map(|icon| icon["src"].clone()).collect();
        assert_eq!(icons, ["https://a.example/i.png", "data:image/png;base64,AA=="]);
        assert_eq!(shown["_meta"], json!({ "example.com/x": 1 }));
        assert_eq!(shown["inputSchema"]["properties"]["x"], json!({ "description": "y", "const": 1.5 }));
    }
}

/// C98: the instructions and the name of a server do not reach callers.
#[test]
fn instructions_of_a_server_are_dropped() {
    let inner = testing::endpoint(|_| {
        McpServer::builder("inner-name", "9")
            .instructions("INSTRUCTIONS-4711")
            .tool(Tool::new("t", "T.", || async {}))
            .build()
    });
    let endpoint = endpoint([("m", Server::endpoint(inner).mount())]);
    for (method, params) in
        [("server/discover", json!({})), ("tools/list", json!({})), ("tools/call", json!({ "name": "m_t" }))]
    {
        let answer = testing::run(caller(&endpoint, &TestHost::new()).request(method, params));
        let body = String::from_utf8_lossy(answer.body()).into_owned();
        assert!(!body.contains("INSTRUCTIONS") && !body.contains("inner-name"), "{body}");
        assert_eq!(answer.result()["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "edge", "{body}");
    }
}

/// C100, C102: items of a mount need its scopes. A caller without them does not see the items, and gets a 403 with these scopes.
#[test]
fn items_of_a_mount_need_its_scopes() {
    let server = Server::with(all_kinds());
    let mounts = || [("a", server.mount().scopes(["a:use"])), ("b", Server::with(all_kinds()).mount())];
    let (with, without) = (with_scopes(endpoint(mounts()), &["a:use"]), with_scopes(endpoint(mounts()), &[]));
    for kind in KINDS {
        let count =
            |endpoint: &Endpoint| list(endpoint, kind).names().iter().filter(|name| name.starts_with('a')).count();
        assert!(count(&with) > 0 && count(&without) == 0, "{kind}");
    }
    server.take();
    for (method, params) in [
        ("tools/call", json!({ "name": "a_t1" })),
        ("tools/call", json!({ "name": "a_x_01234567" })),
        ("resources/read", json!({ "uri": "a+a://x" })),
        ("prompts/get", json!({ "name": "a_p" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "a_p" }, "argument": { "name": "x", "value": "" } }),
        ),
    ] {
        let answer = testing::run(caller(&without, &TestHost::new()).request(method, params.clone()));
        let challenge = answer.header("www-authenticate").unwrap_or_default();
        assert_eq!(answer.status(), 403, "{method}");
        assert!(challenge.contains("scope=\"a:use\"") && challenge.contains("insufficient_scope"), "{challenge}");
        assert!(server.take().is_empty(), "{method}");
        assert_eq!(testing::run(caller(&with, &TestHost::new()).request(method, params)).status(), 200);
        server.take();
    }
}

/// C94, C100: a caller who lacks the scopes of a mount does not learn that its server fails.
#[test]
fn a_failure_is_named_only_to_callers_with_the_scopes() {
    let down = || Server::new(|_| Answer::new(500, "", "")).mount().scopes(["a:use"]);
    for (scopes, is_named) in [(&["a:use"][..], true), (&[], false)] {
        for kind in KINDS {
            let mounts = [("secret", down()), ("b", Server::with(all_kinds()).mount())];
            let answer = list(&with_scopes(endpoint(mounts), scopes), kind);
            let body = String::from_utf8_lossy(answer.body()).into_owned();
            assert_eq!((body.contains("secret"), answer.names().is_empty()), (is_named, false), "{body}");
        }
        let search = down().catalogue(edge_mcp::gateway::Catalogue::Search);
        let endpoint = with_scopes(endpoint([("secret", search), ("b", Server::with(all_kinds()).mount())]), scopes);
        let found = call(&endpoint, "find-tools", json!({ "query": "t1" }));
        assert_eq!(found.text().contains("secret"), is_named, "{found:?}");
    }
}

/// A list of a server has a limit, and so have the lists of all servers together. Several servers with long lists do not affect the others.
#[test]
fn lists_are_bounded_in_bytes() {
    let with = |count: usize| {
        let schema = json!({ "type": "object", "$comment": "x".repeat(60_000) });
        let tools: Vec<_> = (0..count).map(|nth| json!({ "name": format!("t{nth}"), "inputSchema": schema })).collect();
        Server::with(json!({ "tools": tools })).mount()
    };
    let (well, names) = (|| Server::tools(["t"]).mount(), ["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    for (count, long, problem) in
        [(20, 4, "because its list is too long"), (16, 9, "because the lists of all servers are too long")]
    {
        let builder = edge_mcp::gateway::Gateway::builder("edge", "1");
        let builder = names.iter().take(long).fold(builder, |it, name| it.mount(*name, with(count)));
        let endpoint = serving(builder.mount("well", well()).build().expect("a gateway"), |it| it);
        let answer = list(&endpoint, "tools");
        let missing = &answer.result()["_meta"]["edge-mcp/missing"];
        let last = missing[names[long - 1]].as_str().unwrap_or_default();
        assert!(last.contains(problem), "{missing}");
        assert!(answer.names().contains(&"well_t"), "{missing}");
    }
}

/// C96, C103: a list that depends on what the program passes on from a caller is cached for this caller only.
#[test]
fn a_cached_list_belongs_to_what_is_passed_on() {
    let server = Server::new(|message| {
        let tenant = message["params"]["_meta"]["example.com/tenant"].as_str().unwrap_or("none").to_owned();
        complete(json!({ "tools": [tool(&tenant)], "ttlMs": 60_000, "cacheScope": "public" }))
    });
    let upstream = server.upstream().forward_meta("example.com/tenant").expect("a name");
    let upstream = upstream.forward_header("x-tenant").expect("a name");
    let (endpoint, host) = (endpoint([("m", Mount::new(upstream))]), TestHost::new());
    testing::run(async {
        for _ in 0..2 {
            for (tenant, header) in [("red", "1"), ("blue", "1"), ("blue", "2")] {
                let client =
                    caller(&endpoint, &host).meta("example.com/tenant", json!(tenant)).header("x-tenant", header);
                assert_eq!(client.list("tools").await.names(), [format!("m_{tenant}")]);
            }
        }
    });
    assert_eq!(server.take().len(), 3, "one request for each");
}

/// Servers of each revision are mounted.
#[test]
fn servers_of_each_revision_are_mounted() {
    for revision in edge_mcp::protocol::Revision::ALL {
        let inner = testing::endpoint(|_| {
            McpServer::builder("inner", "1").tool(Tool::new("t", "T.", || async { "done" })).build()
        });
        let mount = Mount::new(Server::endpoint(inner).upstream().revision(revision));
        let endpoint = endpoint([("m", mount)]);
        assert_eq!(names(&endpoint), ["m_t"], "{revision}");
        assert_eq!(call(&endpoint, "m_t", json!({})).text(), "done", "{revision}");
    }
    // Nothing is known of the server.
    let server = Server::tools(["t"]);
    let endpoint = endpoint([("m", Mount::new(Upstream::via("http://localhost/mcp", server).expect("a URL")))]);
    assert_eq!(names(&endpoint), ["m_t"]);
}

/// Strict clients reject a list with one tool whose input schema is not that of an object, or whose properties are not objects. Such a schema is
/// replaced by one with the same meaning, or the tool is left out, and the log names it.
#[test]
fn no_schema_of_a_server_breaks_the_list_for_strict_clients() {
    let schemas = [
        (json!({}), Some(json!({ "type": "object" }))),
        (json!({ "properties": { "a": {} } }), Some(json!({ "type": "object", "properties": { "a": {} } }))),
        (json!({ "type": null, "required": null, "x": 1 }), Some(json!({ "type": "object", "x": 1 }))),
        (
            json!({ "type": "object", "properties": { "a": true, "b": false, "c": { "type": "string" } }, "required": ["c"] }),
            Some(
                json!({ "type": "object", "properties": { "a": {}, "b": { "not": {} }, "c": { "type": "string" } }, "required": ["c"] }),
            ),
        ),
        (json!({ "type": ["object", "null"] }), None),
        (json!({ "type": "array" }), None),
        (json!({ "type": "object", "properties": [] }), None),
        (json!({ "type": "object", "properties": { "a": 7 } }), None),
        (json!({ "type": "object", "required": "a" }), None),
        (json!({ "type": "object", "required": [1] }), None),
        (json!(true), None),
        (json!(null), None),
        (json!([]), None),
    ];
    for (nth, (schema, expected)) in schemas.into_iter().enumerate() {
        let name = format!("odd{nth}");
        let odd = Server::with(json!({ "tools": [{ "name": name, "inputSchema": schema }] }));
        let (endpoint, host) =
            (endpoint([("odd", odd.mount()), ("well", Server::tools(["t"]).mount())]), TestHost::new());
        let answer = testing::run(caller(&endpoint, &host).list("tools"));
        let tools = answer.result()["tools"].as_array().expect("tools").clone();
        assert_eq!(tools.last().expect("a tool")["name"], "well_t");
        let shown =
            tools.iter().find(|tool| tool["name"] == format!("odd_{name}")).map(|tool| tool["inputSchema"].clone());
        assert_eq!(shown, expected, "{schema}");
        assert_eq!(
            host.log_text().contains(&format!("`{name}` of the server `odd` is left out")),
            expected.is_none(),
            "{schema}"
        );
    }
}

/// Some JSON readers reject a text because of a number with thousands of digits.
#[test]
fn no_number_of_a_server_breaks_the_list() {
    let number = "1".repeat(2000);
    let odd = format!(r#"{{ "name": "odd", "inputSchema": {{ "type": "object", "maximum": {number} }} }}"#);
    let tools = format!("[{odd}, {}]", tool("well"));
    let server = Server::new(move |message| {
        let result =
            format!(r#"{{ "resultType": "complete", "tools": {tools}, "ttlMs": 0, "cacheScope": "private" }}"#);
        let id = &message["id"];
        Answer::new(200, "application/json", format!(r#"{{ "jsonrpc": "2.0", "id": {id}, "result": {result} }}"#))
    });
    assert_eq!(names(&endpoint([("m", server.mount())])), ["m_well"]);
}

/// The same holds for output schemas. The tool stays without its schema.
#[test]
fn no_output_schema_of_a_server_breaks_the_list_for_strict_clients() {
    for (schema, is_shown) in [
        (json!({ "type": "object", "properties": { "a": {} } }), true),
        (json!({ "type": "object", "properties": { "a": true } }), false),
        (json!({ "type": "string" }), true),
        (json!(true), false),
    ] {
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
        let endpoint = endpoint([("m", Server::with(json!({ "tools": [tool] })).mount())]);
        let listed = list(&endpoint, "tools");
        assert_eq!(listed.names(), ["m_t"]);
        assert_eq!(listed.result()["tools"][0].get("outputSchema").is_some(), is_shown, "{schema}");
    }
}

/// A strict client rejects a list with one URI that is no URL.
#[test]
fn no_uri_of_a_server_breaks_the_list_for_strict_clients() {
    let bad = [
        "readme",
        "/etc/x",
        "1a:b",
        "x://[::1",
        "x://[no]/",
        "x://h:port/",
        "x://h:99999/",
        "x://:80/",
        "x://u@/",
        "x://h]/",
    ];
    let good = ["file:///a", "x:y", "x://", "x://h", "x://h:80/", "x://u:p@h:80/?q#f", "x://[::1]:80/", "x-y.z+1:a"];
    let resources: Vec<_> = bad.iter().chain(&good).map(|uri| json!({ "uri": uri, "name": "r" })).collect();
    let endpoint = endpoint([("m", Server::with(json!({ "resources": resources })).mount().as_is())]);
    assert_eq!(list(&endpoint, "resources").names(), good);
}

/// Each server has a share of the bytes of all lists, so long lists of others do not push it out.
#[test]
fn long_lists_leave_each_server_its_share() {
    let with = |count: usize| {
        let schema = json!({ "type": "object", "$comment": "x".repeat(60_000) });
        let tools: Vec<_> = (0..count).map(|nth| json!({ "name": format!("t{nth}"), "inputSchema": schema })).collect();
        Server::with(json!({ "tools": tools }))
    };
    let builder = (0..12).fold(edge_mcp::gateway::Gateway::builder("edge", "1"), |it, nth| {
        it.mount(format!("long{nth}"), with(17).mount())
    });
    let builder = builder.mount("well", with(5).mount());
    let endpoint = serving(builder.build().expect("a gateway"), |it| it);
    let answer = list(&endpoint, "tools");
    assert!(answer.names().contains(&"well_t4"), "{}", answer.result()["_meta"]);
    assert!(answer.result()["_meta"]["edge-mcp/missing"]["long11"].is_string(), "there is a limit");
}

/// A caller who lacks the scopes that the program sets for each tool does not learn that the server fails.
#[test]
fn a_failure_is_not_named_to_callers_without_the_scopes_of_the_tools() {
    let down = || Server::new(|_| Answer::new(500, "", "")).mount();
    let all = |tool: Tool| tool.scopes(["use"]);
    let one = |tool: Tool| if tool.name() == "m_pay" { tool.scopes(["use"]) } else { tool };
    for (mount, scopes, is_named) in [
        (down().each_tool(all), vec![], false),
        (down().each_tool(all), vec!["use"], true),
        (down().each_tool(one), vec![], true),
        (down().each_tool(one).tools(["pay"]), vec![], false),
        (down().each_tool(one).tools(["pay", "list"]), vec![], true),
        (down().each_tool(|tool| tool.visible_if(|_| false)), vec![], false),
        (down(), vec![], true),
    ] {
        let endpoint = with_scopes(endpoint([("m", mount), ("well", Server::tools(["t"]).mount())]), &scopes);
        let listed = list(&endpoint, "tools");
        assert_eq!(listed.result()["_meta"]["edge-mcp/missing"]["m"].is_string(), is_named, "{listed:?}");
    }
}
