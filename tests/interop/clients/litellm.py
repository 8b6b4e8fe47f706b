from litellm.experimental_mcp_client.client import MCPClient
from litellm.experimental_mcp_client.tools import transform_mcp_tool_to_openai_tool
from mcp.types import CallToolRequestParams


async def use(task):
    client = MCPClient(server_url=task.url, transport_type="http", extra_headers=task.headers)
    tools = await client.list_tools()
    for tool in tools:
        transform_mcp_tool_to_openai_tool(tool)
    return {
        "tools": [tool.name for tool in tools],
        "call": str(await client.call_tool(CallToolRequestParams(name=task.tool, arguments=task.arguments))),
    }
