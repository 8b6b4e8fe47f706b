from upsonic.tools.mcp import MCPHandler, StreamableHTTPClientParams


async def use(task):
    parameters = StreamableHTTPClientParams(url=task.url, headers=task.headers)
    async with MCPHandler(server_params=parameters, transport="streamable-http") as handler:
        tools = handler.tools
        return {"tools": [tool.name for tool in tools], "call": str(await task.chosen(tools).execute(**task.arguments))}
