from pydantic_ai.mcp import MCPToolset


async def use(task):
    async with MCPToolset(task.url, headers=task.headers) as server:
        return {
            "tools": [tool.name for tool in await server.list_tools()],
            "call": str(await server.direct_call_tool(task.tool, task.arguments)),
            "read": str(await server.read_resource(task.resource)),
            "prompt": str(await server.get_prompt(task.prompt, task.promptArguments)),
        }
