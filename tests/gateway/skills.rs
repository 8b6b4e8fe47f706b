//! The skills of mounted servers.

use edge_mcp::client::{InProcess, McpClient, Upstream};
use edge_mcp::gateway::Mount;
use edge_mcp::protocol::Revision;
use edge_mcp::skills::{Catalog, File, Skill};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Endpoint, McpServer, McpServerBuilder, Skills};
use serde_json::{Value, json};

use crate::servers::{Server, TOKEN, caller, complete, gateway, serving, with_scopes};

const SKILL: &str = "---\nname: refunds\ndescription: Refunds an order.\n---\nSee [FORMS.md](references/FORMS.md).\n";
const FRONTMATTER: &str = r#"{"description":"Refunds an order.","name":"refunds"}"#;
const FORMS: &str = "# Forms\n";
const ROOT: &str = "skill://handbook/orders/refunds";

/// A server with a skill of two files.
fn handbook() -> Server {
    let file = |path: &str, text: &str| {
        let uri = format!("skill://orders/refunds/{path}");
        json!({ "uri": uri, "digest": edge_mcp::skills::digest(text.as_bytes()), "size": text.len() })
    };
    // The text of an object has its members in this order.
    let entry = format!(
        r#"{{"uri":"skill://orders/refunds/SKILL.md","frontmatter":{FRONTMATTER},"resources":[{},{}]}}"#,
        file("SKILL.md", SKILL),
        file("references/FORMS.md", FORMS)
    );
    let files = [
        File::text("skill://orders/refunds/SKILL.md", "text/markdown", SKILL),
        File::text("skill://orders/refunds/references/FORMS.md", "text/markdown", FORMS),
    ];
    let skill = Skill::new("skill://orders/refunds", entry.leak(), Box::leak(Box::new(files)));
    let catalog: &'static Catalog = Box::leak(Box::new(Catalog::new(Box::leak(Box::new([skill])))));
    assert_eq!(catalog.check(), Ok(()));
    Server::endpoint(testing::endpoint(move |_| {
        McpServer::builder("handbook", "1.0.0").skills(Skills::embedded(catalog)).build()
    }))
}

fn edge<const N: usize>(mounts: [(&'static str, Mount); N]) -> Endpoint {
    let gateway = gateway(mounts);
    serving(gateway.clone(), move |server| server.skills(gateway.skills()))
}

fn ask(endpoint: &Endpoint, method: &str, params: Value) -> testing::Answer {
    let host = TestHost::new();
    testing::run(host.run(caller(endpoint, &host).request(method, params))).expect("it ends")
}

/// S36, S37: a caller sees the skills under the name of the mount, with the frontmatter and the digests of the server. The relative links of a
/// skill lead to its files, and a client verifies each file. A skill of another mount is unknown.
#[test]
fn a_client_verifies_a_skill_through_a_gateway() {
    let endpoint = edge([("handbook", handbook().mount().skills()), ("other", handbook().mount())]);
    let listed = ask(&endpoint, "skills/list", json!({}));
    let skills = listed.result()["skills"].as_array().expect("skills").clone();
    assert_eq!((skills.len(), &skills[0]["uri"]), (1, &json!(format!("{ROOT}/SKILL.md"))));
    assert!(String::from_utf8_lossy(listed.body()).contains(&format!(r#""frontmatter":{FRONTMATTER}"#)));
    let resources = ask(&endpoint, "resources/list", json!({}));
    let uris: Vec<_> =
        resources.result()["resources"].as_array().expect("resources").iter().map(|it| it["uri"].clone()).collect();
    assert_eq!(uris, [json!(format!("{ROOT}/SKILL.md"))]);
    let folder = ask(&endpoint, "resources/directory/read", json!({ "uri": ROOT }));
    let names: Vec<_> =
        folder.result()["resources"].as_array().expect("children").iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["SKILL.md", "references"]);
    for uri in
        ["skill://other/orders/refunds/SKILL.md", "skill://orders/refunds/SKILL.md", &format!("{ROOT}/../x/SKILL.md")]
    {
        assert_eq!(
            ask(&endpoint, "skills/get", json!({ "uri": uri })).error().map(|(code, _)| code),
            Some(-32602),
            "{uri}"
        );
    }

    let edge =
        Upstream::via("http://localhost/mcp", InProcess::new(endpoint)).expect("a URL").revision(Revision::V2026_07_28);
    let client = McpClient::builder("desk", "1.0.0")
        .server("edge", edge.bearer(TOKEN).expect("a token"))
        .build()
        .expect("a client");
    let host = TestHost::new();
    let cx = testing::context(&host);
    let read = async {
        let peer = client.connect(&cx).server("edge").expect("a server");
        let skills = peer.list_skills().await.expect("a list").items;
        let [skill] = &*skills else { panic!("{skills:?}") };
        let main = peer.read_skill(skill, "SKILL.md").await.expect("the skill");
        let forms = peer.read_skill(skill, "references/FORMS.md").await.expect("the form");
        (main.text().map(str::to_owned), forms.text().map(str::to_owned))
    };
    let read = testing::run(host.run(read)).expect("it ends");
    assert_eq!(read, (Some(SKILL.to_owned()), Some(FORMS.to_owned())));
}

/// S33, S37: an entry that is not valid is left out, and the others are listed. A server that fails takes nothing from the others. If all fail,
/// the caller gets an error.
#[test]
fn a_server_that_fails_does_not_affect_the_others() {
    let broken = Server::new(|message| match message["method"].as_str() {
        Some("server/discover") => {
            complete(json!({ "capabilities": { "extensions": { "io.modelcontextprotocol/skills": {} } } }))
        }
        _ => complete(json!({ "skills": [{ "uri": "skill://x/SKILL.md", "frontmatter": {}, "resources": [] }] })),
    });
    let endpoint = edge([
        ("silent", Server::silent().mount().skills()),
        ("broken", broken.mount().skills()),
        ("handbook", handbook().mount().skills()),
    ]);
    let listed = ask(&endpoint, "skills/list", json!({}));
    assert_eq!(listed.result()["skills"].as_array().map(Vec::len), Some(1), "{listed:?}");
    let files = json!({ "resources": [{ "uri": "file:///x", "name": "x" }] });
    let endpoint = edge([("silent", Server::silent().mount().skills()), ("files", Server::with(files).mount())]);
    assert_eq!(ask(&endpoint, "skills/list", json!({})).error().map(|(code, _)| code), Some(-32603));
    let listed = ask(&endpoint, "resources/list", json!({}));
    assert_eq!(listed.names(), ["files+file:///x"], "the skills of other servers are not worth the resources");
}

/// S36: a skill of the server itself takes precedence over that of a mount with the same URI, in whichever order they are added.
#[test]
fn a_skill_of_the_server_itself_takes_precedence() {
    const OWN: &str = "---\nname: refunds\ndescription: The local one.\n---\n";
    let uri = format!("{ROOT}/SKILL.md");
    let digest = edge_mcp::skills::digest(OWN.as_bytes());
    let entry = json!({
        "uri": uri,
        "frontmatter": { "name": "refunds", "description": "The local one." },
        "resources": [{ "uri": uri, "digest": digest, "size": OWN.len() }],
    });
    let files = [File::text(uri.clone().leak(), "text/markdown", OWN)];
    let skill = Skill::new(ROOT, entry.to_string().leak(), Box::leak(Box::new(files)));
    let catalog: &'static Catalog = Box::leak(Box::new(Catalog::new(Box::leak(Box::new([skill])))));
    let gateway = gateway([("handbook", handbook().mount().skills())]);
    for is_first in [true, false] {
        let of_mounts = gateway.clone();
        let endpoint = serving(gateway.clone(), move |server| {
            let sets = [Skills::embedded(catalog), of_mounts.skills()];
            let order = if is_first { [0, 1] } else { [1, 0] };
            let mut sets = sets.map(Some);
            order.into_iter().filter_map(|nth| sets[nth].take()).fold(server, McpServerBuilder::skills)
        });
        let read = ask(&endpoint, "resources/read", json!({ "uri": uri }));
        assert_eq!(read.result()["contents"][0]["text"], OWN);
        let listed = ask(&endpoint, "skills/list", json!({}));
        assert_eq!(listed.result()["skills"][0]["frontmatter"]["description"], "The local one.");
    }
}

/// S26, C102: the scopes of the mount hold for the entry, the files and the folders of its skills.
#[test]
fn the_scopes_of_a_mount_hold_for_its_skills() {
    for (scopes, is_shown) in [(&["skills"][..], true), (&["other"], false)] {
        let server = handbook();
        let endpoint = with_scopes(edge([("handbook", server.mount().skills().scopes(["skills"]))]), scopes);
        let listed = ask(&endpoint, "skills/list", json!({}));
        assert_eq!(listed.result()["skills"].as_array().map(Vec::len), Some(usize::from(is_shown)), "{scopes:?}");
        for (method, uri) in [
            ("skills/get", format!("{ROOT}/SKILL.md")),
            ("resources/read", format!("{ROOT}/references/FORMS.md")),
            ("resources/directory/read", ROOT.to_owned()),
        ] {
            let answer = ask(&endpoint, method, json!({ "uri": uri }));
            assert_eq!(answer.error().is_none(), is_shown, "{scopes:?} {method}");
        }
        assert_eq!(server.requests().is_empty(), !is_shown, "a caller without the scope causes no request");
    }
}

/// The files of skills of a mount that does not show them cannot be read, and neither they nor pages have a template.
#[test]
fn the_skills_of_a_mount_that_shows_none_cannot_be_read() {
    let templates: Vec<_> = ["skill://{+path}", "SKILL://{x}", "ui://{+path}", "UI://{x}", "file:///{+path}"]
        .iter()
        .map(|template| json!({ "uriTemplate": template, "name": "t" }))
        .collect();
    let server = Server::with(json!({ "resources": [], "resourceTemplates": templates }));
    let gateway = gateway([("m", server.mount().apps())]);
    let endpoint = serving(gateway, |it| it);
    assert_eq!(crate::servers::list(&endpoint, "resources/templates").names(), ["m+file:///{+path}"]);
    server.take();
    for uri in
        ["skill://m/evil/SKILL.md", "m+skill://evil/SKILL.md", "m+SKILL://evil/SKILL.md", "SKILL://m/evil/SKILL.md"]
    {
        let answer = testing::run(caller(&endpoint, &TestHost::new()).read(uri));
        assert_eq!(answer.error().map(|(code, _)| code), Some(-32_602), "{uri}: {answer:?}");
    }
    for template in ["skill://m/{+path}", "m+SKILL://{x}", "ui://m/{+path}"] {
        let reference = json!({ "type": "ref/resource", "uri": template });
        let params = json!({ "ref": reference, "argument": { "name": "path", "value": "x" } });
        let answer = testing::run(caller(&endpoint, &TestHost::new()).request("completion/complete", params));
        assert!(answer.error().is_some(), "{template}: {answer:?}");
    }
    assert!(server.take().is_empty());
}

/// Each server has a share of the bytes of all entries, so long entries of others do not push its skills out.
#[test]
fn long_entries_leave_each_server_its_share() {
    let with = |count: usize, bytes: usize| {
        let entry = |nth: usize| {
            let (name, uri) = (format!("s{nth}"), format!("skill://s{nth}/SKILL.md"));
            let file = json!({ "uri": uri, "digest": edge_mcp::skills::digest(b""), "size": 0 });
            json!({ "uri": uri, "frontmatter": { "name": name, "description": "D." }, "x": "x".repeat(bytes), "resources": [file] })
        };
        let skills: Vec<_> = (0..count).map(entry).collect();
        let server = Server::new(move |message| match message["method"].as_str() {
            Some("server/discover") => {
                complete(json!({ "capabilities": { "extensions": { "io.modelcontextprotocol/skills": {} } } }))
            }
            _ => complete(json!({ "skills": skills })),
        });
        server.mount().skills()
    };
    let endpoint = edge([("long", with(8, 500_000)), ("longer", with(8, 500_000)), ("well", with(1, 500_000))]);
    let mut cursor = json!(null);
    let mut uris = Vec::new();
    for _ in 0..20 {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let listed = ask(&endpoint, "skills/list", params);
        let skills = listed.result()["skills"].as_array().expect("skills").clone();
        uris.extend(skills.iter().map(|skill| skill["uri"].as_str().expect("a URI").to_owned()));
        cursor = listed.result()["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(uris.contains(&"skill://well/s0/SKILL.md".to_owned()), "{uris:?}");
    assert!(!uris.iter().any(|uri| uri.starts_with("skill://longer/")), "there is a limit: {uris:?}");
}
