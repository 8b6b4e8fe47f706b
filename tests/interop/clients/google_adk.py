from google.adk.tools.mcp_tool.mcp_session_manager import StreamableHTTPConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset


async def use(task):
    toolset = McpToolset(connection_params=StreamableHTTPConnectionParams(url=task.url, headers=task.headers))
    tools = await toolset.get_tools()
    for tool in tools:
        tool._get_declaration()
    session = await toolset._mcp_session_manager.create_session()
    return {
        "tools": [tool.name for tool in tools],
        "call": str(await session.call_tool(task.tool, arguments=task.arguments)),
        "read": str(await session.read_resource(task.resource)),
    }
