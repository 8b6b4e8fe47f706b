//! Completion of prompt arguments and template variables.

use serde_json::{Value, json};

use crate::support::{complete, legacy, modern};

fn template(uri: &str, variable: &str) -> Value {
    json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": { "name": variable, "value": "" } })
}

/// Rules 70 and 71: the matching values are suggested, at most 100, with their total number.
#[test]
fn at_most_100_matching_values_are_suggested() {
    for (params, values) in [
        (complete("greet", "tone", ""), json!(["Formal", "friendly", "rude"])),
        (complete("greet", "tone", "F"), json!(["Formal", "friendly"])),
        (complete("greet", "tone", "fr"), json!(["friendly"])),
        (complete("greet", "tone", "x"), json!([])),
        (complete("analyze@v2", "lines", "1"), json!([])),
        (template("test://items/{id}", "id"), json!(["1", "2"])),
        (template("test://items/7", "id"), json!(["1", "2"])),
    ] {
        for answer in
            [modern("completion/complete", params.clone()).ask(), legacy("completion/complete", params.clone()).ask()]
        {
            let total = values.as_array().map(Vec::len);
            let expected = json!({ "values": values, "total": total, "hasMore": false });
            assert_eq!(answer.result()["completion"], expected, "{params}");
        }
    }
    let many = modern("completion/complete", complete("analyze", "code", "x")).ask();
    let completion = &many.result()["completion"];
    assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(101), &json!(true)));
    let full = modern("completion/complete", complete("analyze", "code", "x")).header("X-Full", "yes").ask();
    assert_eq!(full.result()["completion"]["hasMore"], false, "there are exactly 100 values");
}

/// Rule 71: the error names the parameter that is missing, unknown or of a wrong type.
#[test]
fn invalid_parameters_are_rejected_by_name() {
    let argument = json!({ "name": "tone", "value": "" });
    let prompt = json!({ "type": "ref/prompt", "name": "greet" });
    for (params, field) in [
        (json!({}), "params.ref"),
        (json!({ "ref": "greet", "argument": argument }), "params.ref"),
        (json!({ "ref": {}, "argument": argument }), "ref.type"),
        (json!({ "ref": { "type": "ref/tool" }, "argument": argument }), "ref.type"),
        (json!({ "ref": { "type": "ref/prompt" }, "argument": argument }), "ref.name"),
        (json!({ "ref": { "type": "ref/resource", "uri": 7 }, "argument": argument }), "ref.uri"),
        (json!({ "ref": prompt }), "params.argument"),
        (json!({ "ref": prompt, "argument": { "value": "" } }), "argument.name"),
        (json!({ "ref": prompt, "argument": { "name": "tone" } }), "argument.value"),
        (json!({ "ref": prompt, "argument": { "name": "tone", "value": 7 } }), "argument.value"),
        (json!({ "ref": prompt, "argument": argument, "context": 7 }), "params.context"),
        (json!({ "ref": prompt, "argument": argument, "context": { "arguments": [] } }), "context.arguments"),
        (json!({ "ref": prompt, "argument": argument, "context": { "arguments": { "a": 1 } } }), "context.arguments.a"),
        (complete("no-such", "tone", ""), "no-such"),
        (complete("greet", "volume", ""), "volume"),
        (template("test://no-such/{id}", "id"), "test://no-such/{id}"),
        (template("test://items/{id}", "other"), "other"),
    ] {
        let answer = legacy("completion/complete", params.clone()).ask();
        assert_eq!(answer.refusal(), (200, -32602), "{params}");
        assert!(answer.message().contains(field), "{} for {params}", answer.message());
    }
}

/// An async completion function gets the typed value and the other arguments.
#[test]
fn a_completion_function_gets_the_other_arguments() {
    use edge_mcp::{Completion, Endpoint, McpServer, Prompt, PromptArgument};

    let endpoint = Endpoint::new(|_| {
        let city = Completion::with(|request, cx| async move {
            let country = request.arguments.get("country").cloned().unwrap_or_default();
            vec![format!("{}, {country}, {}", request.value, cx.revision())]
        });
        let prompt =
            Prompt::new("travel", || async { "Go." }).argument(PromptArgument::new("city")).complete("city", city);
        McpServer::builder("s", "1").prompt(prompt).build()
    });
    let mut params = complete("travel", "city", "Ly");
    params["context"] = json!({ "arguments": { "country": "France" } });
    let answer = modern("completion/complete", params).ask_at(&endpoint.without_auth());
    assert_eq!(answer.result()["completion"]["values"], json!(["Ly, France, 2026-07-28"]));
}

/// The variables of a source's resource template and the arguments of its prompt are completed. An item of the server takes precedence.
#[test]
fn items_of_a_source_are_completed() {
    use std::collections::BTreeMap;

    use edge_mcp::source::{ListKind, Source, SourceItems};
    use edge_mcp::{Completion, Context, Endpoint, McpServer, Prompt, PromptArgument, ResourceTemplate};
    use futures::future::LocalBoxFuture;

    fn prompt(name: &'static str, value: &'static str) -> Prompt {
        let prompt = Prompt::new(name, |_: BTreeMap<String, String>| async { "Go." });
        prompt.argument(PromptArgument::new("city")).complete("city", Completion::fixed([value]))
    }
    fn cities(uri: &'static str, value: &'static str) -> ResourceTemplate {
        let template = ResourceTemplate::new(uri, |_: BTreeMap<String, String>| async { "text" });
        template.complete("city", Completion::fixed([value]))
    }
    struct Travel;

    impl Source for Travel {
        fn prompt(&self, name: &str) -> Option<Prompt> {
            ["visit", "leave"].into_iter().find(|known| *known == name).map(|name| prompt(name, "Lyon"))
        }

        fn resource_template(&self, uri_template: &str) -> Option<ResourceTemplate> {
            let known = ["map://{city}", "own://{city}", "shut://{city}"];
            let uri = known.into_iter().find(|known| *known == uri_template)?;
            Some(cities(uri, "Paris").visible_if(move |_| !uri.starts_with("shut")))
        }

        fn find(&self, _: ListKind, _: &Context) -> LocalBoxFuture<'static, SourceItems> {
            Box::pin(async { SourceItems::default() })
        }
    }

    let ask = |params: &Value| {
        let endpoint = Endpoint::new(|_| {
            McpServer::builder("s", "1")
                .prompt(prompt("leave", "Rome"))
                .resource_template(cities("own://{city}", "Rome"))
                .source(Travel)
                .build()
        });
        modern("completion/complete", params.clone()).ask_at(&endpoint.without_auth())
    };
    for (params, value) in [
        (complete("visit", "city", ""), "Lyon"),
        (complete("leave", "city", ""), "Rome"),
        (template("map://{city}", "city"), "Paris"),
        (template("own://{city}", "city"), "Rome"),
    ] {
        assert_eq!(ask(&params).result()["completion"]["values"], json!([value]), "{params}");
    }
    for params in [complete("other", "city", ""), template("shut://{city}", "city"), template("none://{city}", "city")]
    {
        assert_eq!(ask(&params).refusal(), (200, -32602), "{params}");
    }
}
