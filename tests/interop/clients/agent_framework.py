import httpx2 as httpx
from agent_framework import MCPStreamableHTTPTool


async def use(task):
    async with httpx.AsyncClient(headers=task.headers) as http:
        async with MCPStreamableHTTPTool(name="one", url=task.url, http_client=http) as server:
            tools = [tool for tool in server.functions]
            return {
                "tools": [tool.name for tool in tools],
                "call": str(await server.call_tool(task.tool, **task.arguments)),
            }
