from praisonaiagents.mcp import MCP


async def use(task):
    server = MCP(task.url, headers=task.headers)
    tools = list(server.get_tools() if hasattr(server, "get_tools") else server)
    server.to_openai_tool()
    chosen = task.chosen(tools, lambda tool: tool.__name__)
    return {"tools": [tool.__name__ for tool in tools], "call": str(chosen(**task.arguments))}
