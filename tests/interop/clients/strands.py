from mcp.client.streamable_http import streamable_http_client
from strands.tools.mcp import MCPClient

try:
    import httpx2 as httpx
except ImportError:
    import httpx


async def use(task):
    def transport():
        return streamable_http_client(task.url, http_client=httpx.AsyncClient(headers=task.headers))

    with MCPClient(transport) as client:
        tools = client.list_tools_sync()
        for tool in tools:
            tool.tool_spec
        return {
            "tools": [tool.tool_name for tool in tools],
            "call": str(client.call_tool_sync("1", task.tool, task.arguments)),
            "read": str(client.read_resource_sync(task.resource)),
            "prompt": str(client.get_prompt_sync(task.prompt, task.promptArguments)),
        }
