from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl


async def use(task):
    async with streamablehttp_client(task.url, headers=task.headers) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        return {
            "tools": [tool.name for tool in tools],
            "call": str(await session.call_tool(task.tool, task.arguments)),
            "read": str(await session.read_resource(AnyUrl(task.resource))),
            "prompt": str(await session.get_prompt(task.prompt, task.promptArguments)),
        }
