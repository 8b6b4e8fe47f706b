from agents.mcp import MCPServerStreamableHttp, MCPUtil


async def use(task):
    async with MCPServerStreamableHttp(params={"url": task.url, "headers": task.headers}) as server:
        tools = await server.list_tools()
        for tool in tools:
            MCPUtil.to_function_tool(tool, server, True)
        return {
            "tools": [tool.name for tool in tools],
            "call": str(await server.call_tool(task.tool, task.arguments)),
            "read": str(await server.read_resource(task.resource)),
            "prompt": str(await server.get_prompt(task.prompt, task.promptArguments)),
        }
