"""Converts schemas of tools with a client library, as the library does it for a model, and prints the results as JSON.

    converters.py LIBRARY URL TOKEN FILE

`tools` has those of a server by the names of the tools. `examples` has those of the examples of the check before publishing, in FILE: by rule,
the result or the error for each schema.
"""

import asyncio
import copy
import json
import sys
from types import SimpleNamespace


async def llama_index(client) -> dict:
    from llama_index.tools.mcp import McpToolSpec

    tools = await McpToolSpec(client).to_tool_list_async()
    return {tool.metadata.name: tool.metadata.to_openai_tool()["function"]["parameters"] for tool in tools}


def langchain(tool) -> dict:
    from langchain_core.utils.function_calling import convert_to_openai_function

    return convert_to_openai_function(tool)["parameters"]


def openai_agents(tool, server) -> dict:
    from agents.mcp import MCPUtil

    return MCPUtil.to_function_tool(tool, server, False).params_json_schema


async def llama_index_of(url: str, headers: dict) -> dict:
    from llama_index.tools.mcp import BasicMCPClient

    return await llama_index(BasicMCPClient(url, headers=headers))


async def langchain_of(url: str, headers: dict) -> dict:
    from langchain_mcp_adapters.tools import load_mcp_tools

    connection = {"transport": "streamable_http", "url": url, "headers": headers}
    return {tool.name: langchain(tool) for tool in await load_mcp_tools(None, connection=connection)}


async def openai_agents_of(url: str, headers: dict) -> dict:
    from agents.mcp import MCPServerStreamableHttp, MCPUtil
    from agents.strict_schema import ensure_strict_json_schema

    converted = {}
    async with MCPServerStreamableHttp(params={"url": url, "headers": headers}) as server:
        for tool in await server.list_tools():
            schema = openai_agents(tool, server)
            # The function above keeps a schema that cannot be strict. This one raises an error.
            ensure_strict_json_schema(copy.deepcopy(schema))
            MCPUtil.to_function_tool(tool, server, True)
            converted[tool.name] = schema
    return converted


async def llama_index_example(tool) -> dict:
    async def list_tools():
        return SimpleNamespace(tools=[tool])

    return (await llama_index(SimpleNamespace(list_tools=list_tools)))[tool.name]


async def langchain_example(tool) -> dict:
    from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool

    # The conversion does not use the session.
    return langchain(convert_mcp_tool_to_langchain_tool(object(), tool))


async def openai_agents_example(tool) -> dict:
    from agents.mcp import MCPServerStreamableHttp

    return openai_agents(tool, MCPServerStreamableHttp(params={"url": "http://localhost:9/mcp"}))


async def example(convert, schema: dict) -> dict:
    from mcp.types import Tool

    try:
        tool = Tool.model_validate({"name": "example", "description": "An example.", "inputSchema": schema})
        return {"converted": await convert(tool)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


async def examples(convert, file: str) -> dict:
    with open(file, encoding="utf-8") as text:
        rules = json.load(text)
    return {
        rule: {kind: await example(convert, schemas[kind]) for kind in ("breaks", "works")} for rule, schemas in rules.items()
    }


LIBRARIES = {
    "llama-index": (llama_index_of, llama_index_example),
    "langchain": (langchain_of, langchain_example),
    "openai-agents": (openai_agents_of, openai_agents_example),
}

library, url, token, file = sys.argv[1:]
of_server, of_example = LIBRARIES[library]


# To load a library takes longer than to convert all schemas, so one process converts those of the server and of the examples.
async def converted() -> dict:
    tools = await of_server(url, {"Authorization": f"Bearer {token}"})
    return {"tools": tools, "examples": await examples(of_example, file)}


print(json.dumps(asyncio.run(converted())))
