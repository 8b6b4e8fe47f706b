from autogen_core import CancellationToken
from autogen_ext.tools.mcp import StreamableHttpServerParams, mcp_server_tools


async def use(task):
    tools = await mcp_server_tools(StreamableHttpServerParams(url=task.url, headers=task.headers))
    for tool in tools:
        tool.schema
    return {
        "tools": [tool.name for tool in tools],
        "call": str(await task.chosen(tools).run_json(task.arguments, CancellationToken())),
    }
