"""A server of the Python SDK: FastMCP of 1.x, MCPServer of 2.x.

    sdk_server.py PORT sessions|stateless
"""

import sys

from pydantic import BaseModel

PORT, IS_STATELESS = int(sys.argv[1]), sys.argv[2] == "stateless"

try:
    from mcp.server.fastmcp import FastMCP

    server, options = FastMCP("peer", host="127.0.0.1", port=PORT, stateless_http=IS_STATELESS), {}
except ImportError:
    from mcp.server import MCPServer

    server, options = MCPServer("peer"), {"host": "127.0.0.1", "port": PORT, "stateless_http": IS_STATELESS}


class Total(BaseModel):
    total: float


@server.tool()
def add(a: float, b: float) -> str:
    """Adds two numbers."""
    return f"{a + b:g}"


@server.tool()
def total(a: float, b: float | None = None) -> Total:
    """Adds two numbers, with a structured result."""
    return Total(total=a + (b or 0))


@server.resource("demo://text", mime_type="text/plain")
def text() -> str:
    return "A text: déjà vu, 🙂."


@server.resource("demo://greetings/{name}", mime_type="text/plain")
def greeting(name: str) -> str:
    return f"Hello, {name}."


@server.prompt()
def greet(name: str) -> str:
    """Greets."""
    return f"Greet {name}."


server.run(transport="streamable-http", **options)
