from mcp_use import MCPClient
from mcp_use.agents.adapters.langchain_adapter import LangChainAdapter


async def use(task):
    client = MCPClient.from_dict({"mcpServers": {"one": {"url": task.url, "headers": task.headers}}})
    session = await client.create_session("one")
    tools = await session.list_tools()
    await LangChainAdapter().create_tools(client)
    seen = {
        "tools": [tool.name for tool in tools],
        "call": str(await session.call_tool(task.tool, task.arguments)),
        "read": str(await session.read_resource(task.resource)),
        "prompt": str(await session.get_prompt(task.prompt, task.promptArguments)),
    }
    await client.close_all_sessions()
    return seen
