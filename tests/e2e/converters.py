"""Lists the tools of a server with a client library that converts their schemas, and prints what a model gets, as JSON.

    converters.py LIBRARY URL TOKEN [--recursive]

With --recursive, the schema of each tool with a filter refers to itself, as a server should not do it.
"""

import asyncio
import copy
import json
import sys


async def llama_index(url: str, headers: dict, is_recursive: bool) -> dict:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    class Recursive(BasicMCPClient):
        async def list_tools(self):
            listed = await super().list_tools()
            for tool in listed.tools:
                if fields := tool.input_schema.get("$defs", {}).get("fields"):
                    fields["properties"]["$not"] = {"$ref": "#/$defs/fields"}
            return listed

    client = (Recursive if is_recursive else BasicMCPClient)(url, headers=headers)
    tools = await McpToolSpec(client).to_tool_list_async()
    return {tool.metadata.name: tool.metadata.to_openai_tool()["function"]["parameters"] for tool in tools}


async def langchain(url: str, headers: dict, _: bool) -> dict:
    from langchain_core.utils.function_calling import convert_to_openai_function
    from langchain_mcp_adapters.tools import load_mcp_tools

    connection = {"transport": "streamable_http", "url": url, "headers": headers}
    tools = await load_mcp_tools(None, connection=connection)
    return {tool.name: convert_to_openai_function(tool)["parameters"] for tool in tools}


async def openai_agents(url: str, headers: dict, _: bool) -> dict:
    from agents.mcp import MCPServerStreamableHttp, MCPUtil
    from agents.strict_schema import ensure_strict_json_schema

    converted = {}
    async with MCPServerStreamableHttp(params={"url": url, "headers": headers}) as server:
        for tool in await server.list_tools():
            schema = MCPUtil.to_function_tool(tool, server, False).params_json_schema
            # The function above keeps a schema that cannot be strict. This one raises an error.
            ensure_strict_json_schema(copy.deepcopy(schema))
            MCPUtil.to_function_tool(tool, server, True)
            converted[tool.name] = schema
    return converted


LIBRARIES = {"llama-index": llama_index, "langchain": langchain, "openai-agents": openai_agents}

library, url, token, *options = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}"}
print(json.dumps(asyncio.run(LIBRARIES[library](url, headers, "--recursive" in options))))
