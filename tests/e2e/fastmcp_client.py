"""The client of fastmcp in front of a gateway, for tests/e2e/gateway.test.mjs.

    fastmcp_client.py URL TOKEN MOUNT…      prints what the client sees of each mount, as a line of JSON
"""

import asyncio
import json
import sys

from fastmcp import Client

PROGRESS = []


async def answer(message, response_type, params, context):
    """Answers each question as a person in Lyon."""
    return {"city": "Lyon"}


async def progress(done, total, message):
    PROGRESS.append(message)


async def main(url: str, token: str, *mounts: str) -> None:
    async with Client(url, auth=token, elicitation_handler=answer, progress_handler=progress) as client:
        seen = {
            "tools": [tool.name for tool in await client.list_tools()],
            "resources": [str(resource.uri) for resource in await client.list_resources()],
            "templates": [template.uri_template for template in await client.list_resource_templates()],
            "prompts": [prompt.name for prompt in await client.list_prompts()],
        }
        for mount in mounts:
            added = await client.call_tool(f"{mount}_add", {"a": 2, "b": 3})
            read = await client.read_resource(f"{mount}+demo://text")
            prompt = await client.get_prompt(f"{mount}_greet", {"name": "Ada"})
            PROGRESS.clear()
            await client.call_tool(f"{mount}_report", {})
            asked = await client.call_tool(f"{mount}_ask", {}, raise_on_error=False)
            seen[mount] = {
                "sum": added.content[0].text,
                "text": read[0].text,
                "uri": str(read[0].uri),
                "prompt": prompt.messages[0].content.text,
                "progress": list(PROGRESS),
                "asked": asked.content[0].text,
            }
        print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
