"""Serves fastmcp on one port, with and without sessions, for the tests of the MCP client.

It prints http://127.0.0.1:PORT, and ends when its standard input ends.

    /sessions/mcp     with sessions
    /stateless/mcp    without sessions
"""

import asyncio
import contextlib
import os
import socket
import sys
import threading

import uvicorn
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from starlette.applications import Starlette
from starlette.routing import Mount

server = FastMCP("peer", version="1.0.0")


@server.tool
def add(a: float, b: float) -> str:
    """Adds two numbers."""
    return f"{a + b:g}"


@server.tool
def large(bytes: int) -> str:
    """Returns a large text."""
    return "x" * bytes


@server.tool
async def wait(ms: int) -> str:
    """Waits."""
    await asyncio.sleep(ms / 1000)
    return "waited"


@server.tool
def fail() -> str:
    """Fails."""
    raise ToolError("This tool always fails.")


@server.resource("demo://text", name="Text", mime_type="text/plain")
def text() -> str:
    return "A text: déjà vu, 🙂."


@server.prompt
def greet(name: str) -> str:
    """Greets."""
    return f"Greet {name}."


apps = {"/sessions": server.http_app(path="/mcp"), "/stateless": server.http_app(path="/mcp", stateless_http=True)}


@contextlib.asynccontextmanager
async def lifespan(_):
    async with contextlib.AsyncExitStack() as stack:
        for app in apps.values():
            await stack.enter_async_context(app.lifespan(app))
        yield


def end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
app = Starlette(routes=[Mount(path, app) for path, app in apps.items()], lifespan=lifespan)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
