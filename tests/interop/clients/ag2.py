from types import SimpleNamespace

from ag2.tools.toolkits.mcp_server import MCPServerConfig, MCPToolkit


async def use(task):
    toolkit = MCPToolkit(MCPServerConfig(server_url=task.url, headers=task.headers))
    schemas = await toolkit.schemas(SimpleNamespace(variables={}, dependencies={}))
    return {"tools": [schema.function.name for schema in schemas]}
