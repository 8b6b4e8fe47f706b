from crewai_tools import MCPServerAdapter


async def use(task):
    parameters = {"url": task.url, "headers": task.headers, "transport": "streamable-http"}
    with MCPServerAdapter(parameters) as tools:
        return {"tools": [tool.name for tool in tools], "call": str(task.chosen(tools).run(**task.arguments))}
