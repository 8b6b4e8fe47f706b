from upsonic.tools.mcp import MCPHandler, StreamableHTTPClientParams


async def use(task):
    handler = MCPHandler(server_params=StreamableHTTPClientParams(url=task.url, headers=task.headers), transport="streamable-http")
    tools = await handler.connect() or handler.get_tools()
    chosen = task.chosen(tools)
    return {"tools": [tool.name for tool in tools], "call": str(await chosen.execute(**task.arguments))}
