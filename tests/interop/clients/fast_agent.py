from fast_agent.config import MCPServerSettings, MCPSettings, Settings
from fast_agent.context import Context
from fast_agent.mcp.mcp_aggregator import MCPAggregator
from fast_agent.mcp_server_registry import ServerRegistry


async def use(task):
    settings = Settings(mcp=MCPSettings(servers={"one": MCPServerSettings(transport="http", url=task.url, headers=task.headers)}))
    context = Context(config=settings, server_registry=ServerRegistry(settings))
    async with MCPAggregator(server_names=["one"], connection_persistence=True, context=context) as aggregator:
        tools = (await aggregator.list_tools()).tools
        return {
            "tools": [tool.name for tool in tools],
            "call": str(await aggregator.call_tool(task.chosen(tools).name, task.arguments)),
            "read": str(await aggregator.get_resource(task.resource, "one")),
            "prompt": str(await aggregator.get_prompt(task.prompt, task.promptArguments, "one")),
        }
