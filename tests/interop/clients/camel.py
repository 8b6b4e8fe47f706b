from camel.toolkits import MCPToolkit


async def use(task):
    config = {"mcpServers": {"one": {"url": task.url, "headers": task.headers, "mode": "streamable-http"}}}
    async with MCPToolkit(config_dict=config) as toolkit:
        tools = toolkit.get_tools()
        for tool in tools:
            tool.get_openai_tool_schema()
        return {"tools": [tool.get_function_name() for tool in tools], "call": str(await toolkit.call_tool(task.tool, task.arguments))}
