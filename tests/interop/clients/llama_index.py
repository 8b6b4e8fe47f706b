from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


async def use(task):
    client = BasicMCPClient(task.url, headers=task.headers)
    tools = await McpToolSpec(client).to_tool_list_async()
    for tool in tools:
        tool.metadata.to_openai_tool()
    return {
        "tools": [tool.metadata.name for tool in tools],
        "call": str(await task.chosen(tools, lambda tool: tool.metadata.name).acall(**task.arguments)),
        "read": str(await client.read_resource(task.resource)),
        "prompt": str(await client.get_prompt(task.prompt, task.promptArguments)),
    }
