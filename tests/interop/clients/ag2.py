from autogen.mcp import create_toolkit
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def use(task):
    async with streamablehttp_client(task.url, headers=task.headers) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        toolkit = await create_toolkit(session=session)
        tools = list(toolkit.tools)
        return {"tools": [tool.name for tool in tools], "call": str(await task.chosen(tools)(**task.arguments))}
