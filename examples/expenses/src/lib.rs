//! A server for the expenses of a company. Its callers submit expenses and read the policy. Some of them decide about the expenses of others.

mod audit;
mod decide;
mod expenses;
mod export;
mod policy;
mod report;
mod submit;
#[cfg(test)]
mod tests;

use edge_mcp::client::{McpClient, Upstream};
use edge_mcp::worker::{database, tracing};
use edge_mcp::{App, BuildError, ConfigError, Endpoint, McpServer, RequestInfo, Variables};

use crate::audit::AuditLog;
use crate::export::RatesUrl;

fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    let list = App::new("ui://expenses/list-1", include_str!("app.html")).title("Expenses").prefers_border(true);
    McpServer::builder("expenses", env!("CARGO_PKG_VERSION"))
        .title("Expenses")
        .description("The expenses of a company, and its policy for them.")
        .instructions("Search the policy before you submit an expense, and tell the user what it says.")
        .tool(submit::submit_expense())
        .tool(submit::list_expenses().ui(&list))
        .app(list)
        .tool(decide::decide_expense().hook(audit::write))
        .tool(export::export_month())
        .tool(policy::search_policy(request)?)
        .tool(policy::policy_answer())
        .resource_template(report::expense())
        .prompt(report::monthly_report())
        .build()
}

fn endpoint(env: &worker::Env) -> Result<Endpoint, ConfigError> {
    let variables = Variables::of(env);
    let assistant = Upstream::at(&variables.required("ASSISTANT_URL", "the URL of an MCP server with the tool echo")?)?;
    let client = McpClient::builder("expenses", env!("CARGO_PKG_VERSION")).server(policy::ASSISTANT, assistant);
    Ok(Endpoint::new(server)
        .scope_includes(decide::SCOPE, [expenses::SEES_ALL])
        .state(database(env, "DB")?)
        .state(RatesUrl(variables.required("RATES_URL", "the URL of the exchange rates")?))
        .state(policy::store()?)
        .state(client.build()?)
        .state(AuditLog::new(|line| worker::console_log!("{line}")))
        .page_search(policy::SEARCH)
        .telemetry(tracing())
        .configured(env))
}

edge_mcp::worker::entry!(endpoint);
edge_mcp::worker::tasks!(endpoint);
