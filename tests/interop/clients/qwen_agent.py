from qwen_agent.tools.mcp_manager import MCPManager


async def use(task):
    config = {"mcpServers": {"one": {"url": task.url, "type": "streamable-http", "headers": task.headers}}}
    tools = MCPManager().initConfig(config)
    return {"tools": [tool.name for tool in tools], "call": str(task.chosen(tools).call(task.arguments))}
