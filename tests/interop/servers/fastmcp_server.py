"""A server of fastmcp.

    fastmcp_server.py PORT sessions|stateless
"""

import sys

from fastmcp import FastMCP
from pydantic import BaseModel

PORT, IS_STATELESS = int(sys.argv[1]), sys.argv[2] == "stateless"
server = FastMCP("peer")


class Total(BaseModel):
    total: float


@server.tool
def add(a: float, b: float) -> str:
    """Adds two numbers."""
    return f"{a + b:g}"


@server.tool
def total(a: float, b: float | None = None) -> Total:
    """Adds two numbers, with a structured result."""
    return Total(total=a + (b or 0))


@server.resource("demo://text", mime_type="text/plain")
def text() -> str:
    return "A text: déjà vu, 🙂."


@server.resource("demo://files/{path*}", mime_type="text/plain")
def file(path: str) -> str:
    return f"The file {path}."


@server.prompt
def greet(name: str) -> str:
    """Greets."""
    return f"Greet {name}."


server.run(transport="http", host="127.0.0.1", port=PORT, path="/mcp", stateless_http=IS_STATELESS, show_banner=False)
