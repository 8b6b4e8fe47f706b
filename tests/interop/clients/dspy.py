import dspy
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

try:
    import httpx2 as httpx
except ImportError:
    import httpx


async def use(task):
    async with httpx.AsyncClient(headers=task.headers) as http, streamable_http_client(task.url, http_client=http) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            tools = [dspy.Tool.from_mcp_tool(session, tool) for tool in (await session.list_tools()).tools]
            return {"tools": [tool.name for tool in tools], "call": str(await task.chosen(tools).acall(**task.arguments))}
