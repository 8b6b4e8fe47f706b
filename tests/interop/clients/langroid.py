from fastmcp.client.transports import StreamableHttpTransport
from langroid.agent.tools.mcp import FastMCPClient


async def use(task):
    async with FastMCPClient(StreamableHttpTransport(task.url, headers=task.headers)) as client:
        tools = await client.get_tools_async()
        chosen = task.chosen(tools, lambda tool: tool.default_value("request"))
        return {
            "tools": [tool.default_value("request") for tool in tools],
            "call": str(await chosen(**task.arguments).call_tool_async()),
        }
