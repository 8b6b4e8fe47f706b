//! What a gateway passes on of lists and results, and how generously it reads them.

use edge_mcp::gateway::Mount;
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use serde_json::{Value, json};

use crate::servers::{Server, answer_of, call, caller, complete, endpoint, list};

/// Returns a server with these lists, whose other answers are those of `answer`.
fn answering(lists: Value, answer: impl Fn(&str) -> Option<Value> + 'static) -> Server {
    Server::new(move |message| {
        let method = message["method"].as_str().unwrap_or_default();
        answer(method).map_or_else(|| answer_of(&lists, message), complete)
    })
}

/// Members of the specification, also those that are rare.
#[test]
fn the_members_of_items_are_kept() {
    let annotations =
        json!({ "audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-07-28T12:00:00Z" });
    let lists = json!({
        "tools": [{ "name": "t", "inputSchema": { "type": "object" }, "annotations": { "title": "Ti\u{202E}tle", "readOnlyHint": true } }],
        "resources": [{
            "uri": "a://x", "name": "x", "title": "X", "description": "D", "mimeType": "text/html", "size": 3, "annotations": annotations,
            "icons": [{ "src": "https://a.example/i.png" }], "_meta": { "example.com/a": 1 },
        }],
        "resourceTemplates": [{ "uriTemplate": "a://{x}", "name": "x", "mimeType": "text/html", "annotations": annotations }],
        "prompts": [{ "name": "p", "arguments": [{ "name": "a", "title": "A", "description": "D", "required": true }] }],
    });
    for trusted in [false, true] {
        let upstream = Server::with(lists.clone()).upstream();
        let endpoint = endpoint([("m", Mount::new(if trusted { upstream.trusted() } else { upstream }))]);
        assert_eq!(list(&endpoint, "tools").result()["tools"][0]["annotations"]["title"], "Title");
        let mut expected = lists["resources"][0].clone();
        expected["uri"] = json!("m+a://x");
        assert_eq!(list(&endpoint, "resources").result()["resources"], json!([expected]));
        let mut expected = lists["resourceTemplates"][0].clone();
        expected["uriTemplate"] = json!("m+a://{x}");
        assert_eq!(list(&endpoint, "resources/templates").result()["resourceTemplates"], json!([expected]));
        let prompts = list(&endpoint, "prompts").result()["prompts"].clone();
        assert_eq!(prompts[0]["arguments"], lists["prompts"][0]["arguments"]);
    }
}

/// Annotations that strict clients reject are left out: they would reject the whole list.
#[test]
fn annotations_that_clients_reject_are_left_out() {
    let odd = [
        (json!({ "audience": "user", "priority": 7, "lastModified": "today" }), json!({})),
        (json!({ "audience": ["robot"], "priority": "1", "lastModified": 1 }), json!({})),
        (json!({ "audience": ["user"], "priority": -1 }), json!({ "audience": ["user"] })),
        (json!([]), json!(null)),
        (json!(null), json!(null)),
    ];
    for (given, expected) in odd {
        let endpoint = endpoint([(
            "m",
            Server::with(json!({ "resources": [{ "uri": "a://x", "name": "x", "annotations": given }] })).mount(),
        )]);
        let shown = list(&endpoint, "resources").result()["resources"][0].clone();
        assert_eq!(shown["annotations"], expected, "{given}: {shown}");
    }
}

/// The `_meta` of every result is kept, without the members that belong to the protocol and to this library.
#[test]
fn the_meta_of_results_is_kept() {
    let meta = json!({ "example.com/a": { "b": null }, "edge-mcp/missing": {}, "progressToken": {}, "io.modelcontextprotocol/x": 1, "openai/x": 1 });
    let server = answering(json!({}), move |method| {
        let result = match method {
            "tools/call" => json!({ "content": [] }),
            "resources/read" => json!({ "contents": [{ "uri": "a://x", "text": "x" }] }),
            "prompts/get" => json!({ "messages": [] }),
            "completion/complete" => json!({ "completion": { "values": [] } }),
            _ => return None,
        };
        Some([("_meta", meta.clone())].into_iter().fold(result, |mut result, (name, value)| {
            result[name] = value;
            result
        }))
    });
    let endpoint = endpoint([("m", server.mount())]);
    for revision in Revision::ALL {
        for (method, params) in [
            ("tools/call", json!({ "name": "m_t" })),
            ("resources/read", json!({ "uri": "m+a://x" })),
            ("prompts/get", json!({ "name": "m_p" })),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "m_p" }, "argument": { "name": "x", "value": "" } }),
            ),
        ] {
            let client = caller(&endpoint, &TestHost::new()).revision(revision);
            let answer = testing::run(client.request(method, params));
            let mut meta = answer.result()["_meta"].clone();
            meta.as_object_mut().expect("members").remove("io.modelcontextprotocol/serverInfo");
            assert_eq!(meta, json!({ "example.com/a": { "b": null } }), "{method} {revision}: {answer:?}");
        }
    }
}

/// A completion has the total of the server, and says whether there is more.
#[test]
fn the_total_of_a_completion_is_kept() {
    let many: Vec<_> = (0..150).map(|nth| nth.to_string()).collect();
    for (completion, expected) in [
        (json!({ "values": ["a"], "total": 1000, "hasMore": true }), json!([1, 1000, true])),
        (json!({ "values": ["a"], "hasMore": true }), json!([1, null, true])),
        (json!({ "values": ["a"], "total": null, "hasMore": null }), json!([1, null, false])),
        (json!({ "values": many, "total": 150 }), json!([100, 150, true])),
    ] {
        let sent = completion.clone();
        let server = answering(json!({}), move |_| Some(json!({ "completion": sent })));
        let endpoint = endpoint([("m", server.mount())]);
        let params =
            json!({ "ref": { "type": "ref/resource", "uri": "m+a://{x}" }, "argument": { "name": "x", "value": "" } });
        let answer = testing::run(caller(&endpoint, &TestHost::new()).request("completion/complete", params));
        let shown = &answer.result()["completion"];
        let count = shown["values"].as_array().map(Vec::len);
        assert_eq!(json!([count, shown["total"], shown["hasMore"]]), expected, "{completion}");
    }
}

/// The arguments of a prompt are completed, also if the prompt has another name here.
#[test]
fn arguments_of_prompts_with_another_name_are_completed() {
    let long = "x".repeat(60);
    let names = ["p one", &long, "plain"];
    let prompts = names.map(|name| json!({ "name": name, "arguments": [{ "name": "a" }] }));
    let server = Server::with(json!({ "prompts": prompts }));
    let endpoint = endpoint([("m", server.mount())]);
    let shown = list(&endpoint, "prompts");
    for (own, shown) in names.iter().zip(shown.names()) {
        let params =
            json!({ "ref": { "type": "ref/prompt", "name": shown }, "argument": { "name": "a", "value": "v" } });
        let answer = testing::run(caller(&endpoint, &TestHost::new()).request("completion/complete", params));
        assert_eq!(answer.result()["completion"]["values"], json!(["v"]), "{shown}: {answer:?}");
        assert_eq!(server.take().pop().expect("a request")["params"]["ref"]["name"], *own);
    }
    let params =
        json!({ "ref": { "type": "ref/prompt", "name": "m_p_01234567" }, "argument": { "name": "a", "value": "v" } });
    let answer = testing::run(caller(&endpoint, &TestHost::new()).request("completion/complete", params));
    assert!(answer.error().expect("an error").1.contains("There is no such prompt"), "{answer:?}");
}

/// Templates of every form are listed, and their URIs reach the server.
#[test]
fn templates_of_every_level_are_passed_on() {
    let own = ["path://{p*}", "mem://{+path}{?a,b*}", "a://{x:3}", "a://{x}-{y}", "users://ü%20x/{id}", "a b://{x}"];
    let templates = own.map(|template| json!({ "uriTemplate": template, "name": "t" }));
    let server = Server::with(json!({ "resourceTemplates": templates }));
    let endpoint = endpoint([("m", server.mount())]);
    assert_eq!(list(&endpoint, "resources/templates").names(), own.map(|template| format!("m+{template}")));
    for template in own {
        let reference = json!({ "type": "ref/resource", "uri": format!("m+{template}") });
        let params = json!({ "ref": reference, "argument": { "name": "p", "value": "v" } });
        let answer = testing::run(caller(&endpoint, &TestHost::new()).request("completion/complete", params));
        assert_eq!(answer.result()["completion"]["values"], json!(["v"]), "{template}: {answer:?}");
        assert_eq!(server.take().pop().expect("a request")["params"]["ref"]["uri"], template);
    }
    let read = testing::run(caller(&endpoint, &TestHost::new()).read("m+path://a/b/c.txt"));
    assert_eq!(read.text(), "The text of path://a/b/c.txt.");
}

/// URIs with spaces or characters of other scripts are listed and read as they are. A URI that clients cannot read is named in the log.
#[test]
fn uris_with_other_characters_are_passed_on() {
    let own = ["file:///C:/x y.txt", "https://example.com/ü", "mem://a/b?x=日本#ф", r"file:///C:\x.txt", "note:a b"];
    let odd = ["no scheme", "a b://x", "a://ü/x", "a://h h/x", "ü:x", "a://h:99999/x"];
    let resources: Vec<_> = own.iter().chain(&odd).map(|uri| json!({ "uri": uri, "name": "r" })).collect();
    let server = Server::with(json!({ "resources": resources }));
    let (endpoint, host) = (endpoint([("m", server.mount())]), TestHost::new());
    let listed = testing::run(caller(&endpoint, &host).list("resources"));
    assert_eq!(listed.names(), own.map(|uri| format!("m+{uri}")));
    for uri in odd {
        assert!(
            host.log_text().contains(&format!("`{uri}` of the server `m` is left out: its URI")),
            "{}",
            host.log_text()
        );
    }
    for revision in [Revision::V2026_07_28, Revision::V2025_06_18] {
        for uri in own {
            let client = caller(&endpoint, &TestHost::new()).revision(revision);
            let read = testing::run(client.read(&format!("m+{uri}")));
            assert_eq!(read.text(), format!("The text of {uri}."), "{revision}");
            assert_eq!(read.result()["contents"][0]["uri"], format!("m+{uri}"));
        }
    }
}

/// Some servers write null for an absent member. A null where any JSON is possible is a value.
#[test]
fn null_members_are_absent() {
    let input = json!({ "type": "object", "properties": { "a": { "default": null } } });
    let lists = json!({
        "tools": [{
            "name": "t", "title": null, "description": null, "inputSchema": input, "outputSchema": null, "annotations": null, "icons": null,
            "_meta": null, "execution": null,
        }],
        "resources": [{ "uri": "a://x", "name": "x", "title": null, "mimeType": null, "size": null, "annotations": null, "_meta": null }],
        "prompts": [{ "name": "p", "description": null, "arguments": [{ "name": "a", "description": null, "required": null }] }],
    });
    let server = answering(lists, |method| match method {
        "tools/call" => Some(json!({
            "content": [{ "type": "text", "text": "x", "annotations": null, "_meta": null }],
            "structuredContent": { "a": null }, "isError": null, "_meta": null,
        })),
        "resources/read" => Some(
            json!({ "contents": [{ "uri": "a://x", "text": "x", "blob": null, "mimeType": null }], "_meta": null }),
        ),
        _ => None,
    });
    let (endpoint, host) = (endpoint([("m", server.mount())]), TestHost::new());
    let tools = testing::run(caller(&endpoint, &host).list("tools")).result()["tools"].clone();
    assert_eq!(tools[0]["inputSchema"], input);
    assert!(tools[0].get("outputSchema").is_none() && !tools.to_string().contains("[null]"), "{tools}");
    for kind in ["resources", "prompts"] {
        let answer = testing::run(caller(&endpoint, &host).list(kind));
        assert!(!answer.result()[kind].to_string().contains("null"), "{answer:?}");
    }
    let called = call(&endpoint, "m_t", json!({}));
    assert_eq!((called.is_error(), called.text()), (false, "x"));
    assert_eq!(called.result()["content"], json!([{ "type": "text", "text": "x" }]));
    assert_eq!(called.result()["structuredContent"], json!({ "a": null }));
    assert_eq!(testing::run(caller(&endpoint, &host).read("m+a://x")).text(), "x");
    assert!(host.log_text().is_empty(), "{}", host.log_text());
}

/// A result with structured content alone gets a text, for each revision.
#[test]
fn structured_content_is_enough_for_a_result() {
    let server = answering(json!({}), |_| Some(json!({ "structuredContent": { "total": 5 } })));
    let endpoint = endpoint([("m", server.mount())]);
    for revision in Revision::ALL {
        let answer = testing::run(caller(&endpoint, &TestHost::new()).revision(revision).call("m_t", json!({})));
        assert_eq!(answer.result()["content"], json!([{ "type": "text", "text": r#"{"total":5}"# }]), "{revision}");
        assert_eq!(answer.result()["structuredContent"], json!({ "total": 5 }));
    }
    let server = answering(json!({}), |_| Some(json!({ "_meta": { "example.com/a": 1 } })));
    let refused = call(&self::endpoint([("m", server.mount())]), "m_t", json!({}));
    assert!(refused.is_error() && refused.text().contains("without `content`"), "{refused:?}");
}

/// An empty cursor ends a list, and is no reason for a warning.
#[test]
fn an_empty_cursor_ends_a_list() {
    let server = Server::with(json!({ "tools": [crate::servers::tool("t")] }));
    let server = Server::wrapping(&server, |message| {
        (message["method"] == "tools/list")
            .then(|| complete(json!({ "tools": [crate::servers::tool("t")], "nextCursor": "" })))
    });
    let (endpoint, host) = (endpoint([("m", server.mount())]), TestHost::new());
    assert_eq!(testing::run(caller(&endpoint, &host).list("tools")).names(), ["m_t"]);
    assert_eq!((server.take().len(), host.log_text()), (1, String::new()));
}

/// A server may have no contents at a URI. Contents that no client can read are an error.
#[test]
fn contents_may_be_empty() {
    for (contents, is_read) in
        [(json!([]), true), (json!([{ "uri": "a://x" }]), false), (json!([{ "uri": "a://x", "blob": "_-8=" }]), false)]
    {
        let sent = contents.clone();
        let server = answering(json!({}), move |_| Some(json!({ "contents": sent })));
        let endpoint = endpoint([("m", server.mount())]);
        let answer = testing::run(caller(&endpoint, &TestHost::new()).read("m+a://x"));
        assert_eq!(answer.error().is_none(), is_read, "{contents}: {answer:?}");
    }
}

/// An item that cannot be read is named in the log, and does not affect the others.
#[test]
fn items_that_cannot_be_read_are_logged() {
    let server = Server::with(json!({
        "tools": [{ "inputSchema": {} }, crate::servers::tool("t")],
        "resources": [{ "name": "r" }, { "uri": "a://x" }],
    }));
    let (endpoint, host) = (endpoint([("m", server.mount())]), TestHost::new());
    assert_eq!(testing::run(caller(&endpoint, &host).list("tools")).names(), ["m_t"]);
    assert!(host.log_text().contains("A tool of the server `m` has no name."), "{}", host.log_text());
    let resources = testing::run(caller(&endpoint, &host).list("resources"));
    assert_eq!(resources.result()["resources"], json!([{ "uri": "m+a://x", "name": "a://x" }]));
    assert!(host.log_text().contains("A resource of the server `m` has no name."), "{}", host.log_text());
}

/// A server may keep state in its session, which ends with the call. The log says so once.
#[test]
fn sessions_are_named_in_the_log() {
    for has_sessions in [true, false] {
        let server = Server::new(move |message| {
            let result = match message["method"].as_str().unwrap_or_default() {
                "initialize" => {
                    let server = json!({ "name": "pages", "version": "1" });
                    json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": server })
                }
                "tools/list" => json!({ "tools": [crate::servers::tool("t")] }),
                _ => json!({ "content": [] }),
            };
            let answer = crate::peer::result(result);
            if has_sessions { answer.header("mcp-session-id", "s") } else { answer }
        });
        let mount = Mount::new(server.upstream().revision(Revision::V2025_11_25));
        let (endpoint, host) = (endpoint([("m", mount)]), TestHost::new());
        for _ in 0..2 {
            let answer = testing::run(caller(&endpoint, &host).call("m_t", json!({})));
            assert!(!answer.is_error(), "{answer:?}");
        }
        let log = host.log_text();
        assert_eq!(log.matches("the server `m`: it has sessions").count(), usize::from(has_sessions), "{log}");
    }
}
