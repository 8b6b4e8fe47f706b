from fastmcp import Client


async def use(task):
    async with Client(task.url, auth=task.token) as client:
        return {
            "tools": [tool.name for tool in await client.list_tools()],
            "call": str(await client.call_tool(task.tool, task.arguments)),
            "read": str(await client.read_resource(task.resource)),
            "prompt": str(await client.get_prompt(task.prompt, task.promptArguments)),
        }
