import json

from qwen_agent.tools.mcp_manager import MCPManager

# Tools of the library itself, for the resources of a server.
OWN = ("-list_resources", "-read_resource")


async def use(task):
    config = {"mcpServers": {"one": {"url": task.url, "type": "streamable-http", "headers": task.headers}}}
    tools = [tool for tool in MCPManager().initConfig(config) if not tool.name.endswith(OWN)]
    return {"tools": [tool.name for tool in tools], "call": str(task.chosen(tools).call(json.dumps(task.arguments)))}
