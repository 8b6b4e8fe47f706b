//! Native tests of the whole endpoint. A database in memory runs the migration and the SQL, and other servers return prepared responses.

use std::cell::RefCell;
use std::ffi::OsString;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::check::SizeLimits;
use edge_mcp::client::{InProcess, McpClient, Upstream};
use edge_mcp::host::Fetched;
use edge_mcp::testing::{self, Client, TestDatabase, TestHost, TestTasks};
use edge_mcp::{Endpoint, McpServer, StaticTokens, Tool};
use serde_json::{Value, json};

use crate::audit::AuditLog;
use crate::export::RatesUrl;
use crate::{decide, expenses, policy, server};

const USD: &str = "https://rates.example/USD";

/// The server with its tasks, and the lines of its audit log. Ada submits, and Bob decides.
struct Company {
    host: TestHost,
    tasks: TestTasks,
    endpoint: Rc<Endpoint>,
    audit: Rc<RefCell<Vec<String>>>,
}

impl Company {
    fn new(host: TestHost) -> Self {
        let echo = |arguments: Value| async move { format!("Echo: {}", arguments["message"]) };
        let echo = move || Tool::with_schema("echo", "Echoes.", &json!({ "type": "object" }), None, echo);
        let assistant = testing::endpoint(move |_| McpServer::builder("assistant", "1").tool(echo()).build());
        let assistant = Upstream::via("http://localhost/mcp", InProcess::new(assistant)).expect("a URL");
        let client = McpClient::builder("expenses", "1").server(policy::ASSISTANT, assistant);
        let tokens = json!([
            { "token": "of-ada", "subject": "ada", "scopes": [] },
            { "token": "of-bob", "subject": "bob", "scopes": [decide::SCOPE] },
        ]);
        let audit: Rc<RefCell<Vec<String>>> = Rc::default();
        let lines = audit.clone();
        let endpoint = testing::endpoint(server)
            .auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(&tokens.to_string())).expect("a list"))
            .scope_includes(decide::SCOPE, [expenses::SEES_ALL])
            .state(TestDatabase::migrated("migrations").expect("the migrations run").database())
            .state(RatesUrl("https://rates.example".to_owned()))
            .state(policy::store().expect("the files are documents"))
            .state(client.build().expect("a client"))
            .state(AuditLog::new(move |line| lines.borrow_mut().push(line)));
        let tasks = TestTasks::new(&host);
        Self { endpoint: tasks.serve(endpoint), host, tasks, audit }
    }

    fn caller(&self, name: &str) -> Client<'_> {
        Client::new(&self.endpoint).host(&self.host).token(&format!("of-{name}"))
    }

    /// Submits an expense of Ada.
    async fn submit(&self, cents: u32, currency: &str) -> Value {
        let new = json!({ "cents": cents, "currency": currency, "category": "meals", "note": "=1+1, \"tea\"" });
        self.caller("ada").call("submit-expense", new).await.structured().clone()
    }
}

/// Directories and clients accept the server.
#[test]
fn it_can_be_published() {
    let check = Company::new(TestHost::new()).endpoint.check(SizeLimits::default()).expect("a server");
    assert!(check.problems.is_empty(), "{check}");
}

#[test]
fn a_caller_sees_own_expenses_and_with_the_scope_those_of_all() {
    testing::run(async {
        let company = Company::new(TestHost::new());
        let (ada, bob) = (company.caller("ada"), company.caller("bob"));
        assert_eq!(company.submit(1250, "EUR").await["date"], "2027-01-15");
        for (date, is_valid) in [("2026-12-01", true), ("2027-01-16", false), ("2026-02-31", false), ("today", false)] {
            let new = json!({ "cents": 1, "currency": "EUR", "category": "travel", "note": "Bus", "date": date });
            let added = bob.call("submit-expense", new).await;
            assert_eq!(added.is_error(), !is_valid, "{date}: {}", added.text());
        }
        for (caller, ids) in [(&ada, vec![1]), (&bob, vec![2, 1])] {
            let page = caller.call("list-expenses", json!({ "status": "open" })).await;
            let expenses = page.structured()["expenses"].as_array().expect("a list").iter();
            assert_eq!(expenses.filter_map(|expense| expense["id"].as_u64()).collect::<Vec<_>>(), ids);
        }
        assert!(ada.read("expenses://2").await.is_error());
        let report = bob.prompt("monthly-report", json!({ "month": "2026-12" })).await;
        assert!(report.text().ends_with("\n\n- 2026-12-01: 0.01 EUR of bob, Bus"), "{}", report.text());
    });
}

#[test]
fn a_decision_needs_the_scope_and_an_approval() {
    testing::run(async {
        let company = Company::new(TestHost::new());
        company.submit(1250, "EUR").await;
        let (ada, bob) = (company.caller("ada"), company.caller("bob"));
        let decision = json!({ "id": 1, "decision": "approve", "reason": "Fine" });
        assert_eq!(ada.call("decide-expense", decision.clone()).await.status(), 403);
        let unasked = bob.clone().capabilities(json!({})).call("decide-expense", decision.clone()).await;
        assert!(unasked.text().contains("the client cannot be asked. Nothing was done."), "{}", unasked.text());
        // `edge-mcp/approval` is the key of the question for approval.
        let declined = bob.clone().decline("edge-mcp/approval").call("decide-expense", decision.clone()).await;
        assert!(declined.is_error());
        assert!(bob.read("expenses://1").await.text().contains(r#""status":"open""#));

        let bob = bob.answer("edge-mcp/approval", json!({}));
        let approved = bob.call("decide-expense", decision.clone()).await;
        let question = approved.questions()["edge-mcp/approval"]["params"]["message"].as_str().expect("a text");
        assert!(question.starts_with("Approve 12.50 EUR for ada?\n"), "{question}");
        assert_eq!(approved.structured()["status"], "approved");

        let done = company.audit.borrow().iter().map(|line| line.contains(r#""done":true"#)).collect::<Vec<_>>();
        assert_eq!(done, [false, false, true], "{:?}", company.audit);
        assert!(company.audit.borrow()[2].contains(r#""who":"bob","tool":"decide-expense","expense":1"#));
    });
}

/// The program ends at each of the writes of the task, once. What is stored by then is not asked again.
#[test]
fn an_export_that_is_interrupted_asks_for_at_most_one_rate_again() {
    testing::run(async {
        for write in 1.. {
            let busy = Fetched::new(429, "").retry_after(Duration::from_secs(30));
            let host = TestHost::new().respond_with("GET", USD, busy).respond("GET", USD, 200, r#"{"euros": 0.9}"#);
            let company = Company::new(host.respond("GET", "https://rates.example/JPY", 200, r#"{"euros": 0.006}"#));
            for (cents, currency) in [(1250, "EUR"), (1000, "USD"), (500_000, "JPY"), (999, "USD")] {
                company.submit(cents, currency).await;
            }
            let ada = company.caller("ada");
            let ada = ada.capabilities(json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
            let id = ada.call("export-month", json!({ "month": "2027-01" })).await.result()["taskId"].clone();
            company.tasks.kill_at_write(write);
            for _ in 0..3 {
                company.tasks.run().await.expect("the task ends, or waits for the rates");
                company.host.advance(Duration::from_secs(30));
            }
            let task = ada.request("tasks/get", json!({ "taskId": id })).await;
            let result = &task.result()["result"];
            assert_eq!(result["structuredContent"], json!({ "expenses": 4, "euros": 60.49 }), "{:?}", task.json());
            let row = "\r\n4,2027-01-15,\"ada\",meals,9.99 USD,8.99,\"'=1+1, \"\"tea\"\"\"\r\n";
            assert!(result["content"][1]["resource"]["text"].as_str().expect("CSV").ends_with(row), "{result}");
            if !company.tasks.has_failed() {
                assert!(write > 3, "the task writes after each step");
                return assert_eq!(company.host.requests().len(), 3);
            }
            assert!(company.host.requests().len() <= 4, "write {write}: {:?}", company.host.requests());
        }
    });
}

#[test]
fn an_export_tries_busy_rates_five_times() {
    testing::run(async {
        let company = Company::new(TestHost::new().respond_with(
            "GET",
            USD,
            Fetched::new(429, "").retry_after(Duration::from_secs(1)),
        ));
        company.submit(1000, "USD").await;
        let export = company.caller("ada").call("export-month", json!({ "month": "2027-01" })).await;
        assert_eq!(export.text(), "The exchange rates are busy. Export the month later.");
        assert_eq!(company.host.requests().len(), 5);
    });
}

#[test]
fn the_policy_is_searched_and_the_assistant_gets_its_rules() {
    let folder = std::fs::read_dir("policy").expect("the folder");
    let mut files: Vec<_> = folder.map(|file| file.expect("a file").file_name()).collect();
    files.sort();
    assert_eq!(files, policy::FILES.map(|(name, _)| OsString::from(format!("{name}.md"))), "all files are named");
    testing::run(async {
        let question = "Who pays for a hotel in London?";
        let company = Company::new(TestHost::new());
        let ada = company.caller("ada");
        let found = ada.call(policy::SEARCH, json!({ "queryText": question })).await;
        assert_eq!(found.structured()["sources"][0]["heading"], "Travel > Hotels");
        let answer = ada.call("policy-answer", json!({ "question": question })).await;
        assert!(answer.text().starts_with("Echo: ") && answer.text().contains("220 EUR"), "{}", answer.text());
        let nothing = ada.call("policy-answer", json!({ "question": "xylophone" })).await;
        assert_eq!(nothing.text(), "The policy says nothing about this. Ask in other words.");
    });
}
