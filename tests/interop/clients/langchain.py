from langchain_core.utils.function_calling import convert_to_openai_function
from langchain_mcp_adapters.client import MultiServerMCPClient


async def use(task):
    client = MultiServerMCPClient({"one": {"transport": "streamable_http", "url": task.url, "headers": task.headers}})
    tools = await client.get_tools()
    for tool in tools:
        convert_to_openai_function(tool)
    return {
        "tools": [tool.name for tool in tools],
        "call": str(await task.chosen(tools).ainvoke(task.arguments)),
        "read": str([blob.as_string() for blob in await client.get_resources("one", uris=task.resource)]),
        "prompt": str(await client.get_prompt("one", task.prompt, arguments=task.promptArguments)),
    }
