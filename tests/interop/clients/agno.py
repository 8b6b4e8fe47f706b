from agno.tools.mcp import MCPTools
from agno.tools.mcp.params import StreamableHTTPClientParams


async def use(task):
    parameters = StreamableHTTPClientParams(url=task.url, headers=task.headers)
    async with MCPTools(transport="streamable-http", server_params=parameters) as toolkit:
        tools = list(toolkit.functions.values())
        for tool in tools:
            tool.to_dict()
        return {
            "tools": [tool.name for tool in tools],
            "call": str(await toolkit.session.call_tool(task.tool, task.arguments)),
        }
