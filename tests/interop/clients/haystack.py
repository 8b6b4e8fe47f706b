from haystack.utils import Secret
from haystack_integrations.tools.mcp import MCPToolset, StreamableHttpServerInfo


async def use(task):
    toolset = MCPToolset(StreamableHttpServerInfo(url=task.url, token=Secret.from_token(task.token)))
    toolset.warm_up()
    tools = list(toolset)
    for tool in tools:
        tool.tool_spec
    return {"tools": [tool.name for tool in tools], "call": str(task.chosen(tools).invoke(**task.arguments))}
