from mcp_agent.app import MCPApp
from mcp_agent.config import MCPServerSettings, MCPSettings, Settings
from mcp_agent.mcp.mcp_aggregator import MCPAggregator


async def use(task):
    servers = {"one": MCPServerSettings(transport="streamable_http", url=task.url, headers=task.headers)}
    async with MCPApp(name="interop", settings=Settings(mcp=MCPSettings(servers=servers))).run() as app:
        async with MCPAggregator(server_names=["one"], connection_persistence=False, context=app.context) as aggregator:
            tools = (await aggregator.list_tools()).tools
            return {
                "tools": [tool.name for tool in tools],
                "call": str(await aggregator.call_tool(task.chosen(tools).name, task.arguments)),
            }
