from smolagents import MCPClient


async def use(task):
    with MCPClient({"url": task.url, "headers": task.headers, "transport": "streamable-http"}, structured_output=False) as tools:
        return {"tools": [tool.name for tool in tools], "call": str(task.chosen(tools)(**task.arguments))}
