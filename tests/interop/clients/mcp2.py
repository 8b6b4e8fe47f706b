import httpx2 as httpx
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def use(task):
    async with httpx.AsyncClient(headers=task.headers) as http, Client(streamable_http_client(task.url, http_client=http)) as client:
        return {
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "call": str(await client.call_tool(task.tool, task.arguments)),
            "read": str(await client.read_resource(task.resource)),
            "prompt": str(await client.get_prompt(task.prompt, task.promptArguments)),
        }
