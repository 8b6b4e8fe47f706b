//! Agents and workflows as tasks.

use std::time::Duration;

use edge_mcp::agents::{Agent, AgentReply, Workflow};
use edge_mcp::tasks::Task;
use edge_mcp::{Context, HandlerError, Json, Tool};
use serde_json::json;

use crate::world::{Seen, World, effect, effects, text};

struct Researcher {
    seen: Seen,
}

impl Agent for Researcher {
    fn key(&self) -> &'static str {
        "researcher"
    }

    fn name(&self) -> &'static str {
        "Researcher"
    }

    fn description(&self) -> &'static str {
        "Finds answers."
    }

    async fn generate(&self, message: String, cx: Context) -> Result<AgentReply, HandlerError> {
        let found = effect(&cx, &self.seen, "find", 1).await?;
        cx.sleep(Duration::from_mins(10)).await;
        let checked = effect(&cx, &self.seen, "check", found).await?;
        Ok(AgentReply::new(format!("{message} {checked}")))
    }
}

async fn grow(seen: Seen, cx: Context) -> Result<Json<u32>, HandlerError> {
    let first = effect(&cx, &seen, "first", 1).await?;
    cx.sleep(Duration::from_mins(10)).await;
    let second = effect(&cx, &seen, "second", first).await?;
    Ok(Json(second))
}

/// The tools of agents and workflows can be tasks: their steps run once, also if the task sleeps and is interrupted.
#[test]
fn agents_and_workflows_can_be_tasks() {
    edge_mcp::testing::run(async {
        let seen = Seen::default();
        let (of_agent, of_workflow) = (seen.clone(), seen.clone());
        let world = World::new(move |server| {
            let workflow =
                Workflow::new("grow", "Makes a number larger.", move |cx: Context| grow(of_workflow.clone(), cx));
            server
                .tool(Tool::of_agent(Researcher { seen: of_agent }).task(Task::new()))
                .tool(Tool::of_workflow(workflow).task(Task::new()))
        });
        for (tool, arguments, steps) in [
            ("ask_researcher", json!({ "message": "why" }), ["check", "find"]),
            ("run_grow", json!({}), ["first", "second"]),
        ] {
            seen.take();
            let id = world.start(tool, arguments).await;
            world.run().await;
            world.tasks.interrupt();
            assert_eq!(world.status(&id).await, "working");
            let state = world.finish(&id).await;
            assert!(!text(&state).is_empty(), "{state}");
            assert_eq!(effects(&seen), steps);
        }
    });
}
