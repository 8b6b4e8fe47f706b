use std::time::Duration;

use edge_mcp::tasks::Task;
use edge_mcp::testing::{self, Client, TestHost, TestTasks};
use edge_mcp::{Context, HandlerError, McpServer, Tool};
use serde_json::json;

async fn rest(cx: Context) -> Result<String, HandlerError> {
    let begun: u64 = cx.step("begin", &(), async || Ok(cx.now_ms())).await?;
    cx.progress(1.0, None, "resting");
    cx.sleep(Duration::from_secs(60)).await;
    Ok(format!("rested {} s", (cx.now_ms() - begun) / 1000))
}

#[test]
fn a_task_is_created_and_polled() {
    testing::run(async {
        let host = TestHost::new();
        let tasks = TestTasks::new(&host);
        let server =
            |_: &_| McpServer::builder("s", "1").tool(Tool::new("rest", "Rests.", rest).task(Task::new())).build();
        let endpoint = tasks.serve(testing::endpoint(server));
        let client = Client::new(&endpoint)
            .host(&host)
            .capabilities(json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
        let created = client.call("rest", json!({})).await;
        println!("{:?}", created.result());
        let id = created.result()["taskId"].as_str().expect("an id").to_owned();
        let get = client.clone();
        println!("{:?}", get.request("tasks/get", json!({ "taskId": id })).await.result());
        tasks.run().await.unwrap();
        println!("{:?}", get.request("tasks/get", json!({ "taskId": id })).await.result());
        host.advance(Duration::from_secs(60));
        tasks.run().await.unwrap();
        println!("{:?}", get.request("tasks/get", json!({ "taskId": id })).await.result());
        println!("{:?}", client.list("tools").await.names());
        let plain = Client::new(&endpoint).host(&host);
        println!("{}", plain.call("rest", json!({})).await.text());
        for (key, value) in tasks.rows() {
            println!("{key} {}", String::from_utf8_lossy(&value));
        }
        panic!("look");
    });
}
