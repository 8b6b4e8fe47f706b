from chuk_mcp import send_initialize, send_prompts_get, send_resources_read, send_tools_call, send_tools_list
from chuk_mcp.transports.http import http_client
from chuk_mcp.transports.http.parameters import StreamableHTTPParameters


async def use(task):
    parameters = StreamableHTTPParameters(url=task.url, headers=task.headers)
    async with http_client(parameters) as (read, write):
        await send_initialize(read, write)
        return {
            "tools": [tool.name for tool in (await send_tools_list(read, write)).tools],
            "call": str(await send_tools_call(read, write, task.tool, task.arguments)),
            "read": str(await send_resources_read(read, write, task.resource)),
            "prompt": str(await send_prompts_get(read, write, task.prompt, task.promptArguments)),
        }
