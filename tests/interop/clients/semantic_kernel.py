from semantic_kernel import Kernel
from semantic_kernel.connectors.mcp import MCPStreamableHttpPlugin


async def use(task):
    async with MCPStreamableHttpPlugin(name="one", url=task.url, headers=task.headers) as plugin:
        functions = Kernel().add_plugin(plugin).functions
        tools = (await plugin.session.list_tools()).tools
        for tool in tools:
            functions[tool.name.replace("_", "_")].metadata
        return {"tools": [tool.name for tool in tools], "call": str(await plugin.call_tool(task.tool, **task.arguments))}
