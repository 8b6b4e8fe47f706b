from beeai_framework.tools.mcp import MCPTool
from mcp.client.streamable_http import streamablehttp_client


async def use(task):
    tools = await MCPTool.from_client(streamablehttp_client(task.url, headers=task.headers))
    for tool in tools:
        tool.input_schema.model_json_schema()
    return {"tools": [tool.name for tool in tools], "call": str(await task.chosen(tools).run(task.arguments))}
