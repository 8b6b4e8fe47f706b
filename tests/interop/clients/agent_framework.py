import httpx2 as httpx
from agent_framework import MCPStreamableHTTPTool


async def use(task):
    async with httpx.AsyncClient(headers=task.headers) as http:
        # Otherwise, prompts are functions too.
        async with MCPStreamableHTTPTool(name="one", url=task.url, http_client=http, load_prompts=False) as server:
            contents = await server.call_tool(task.tool, **task.arguments)
            return {"tools": [tool.name for tool in server.functions], "call": [content.text for content in contents]}
