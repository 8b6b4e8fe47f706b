"""Serves fastmcp on one port, with and without sessions, for the tests of the MCP client.

It prints http://127.0.0.1:PORT, and ends when its standard input ends.

    /sessions/mcp           with sessions
    /stateless/mcp          without sessions
    /requests?peer=PATH     returns all requests to /PATH/mcp, as JSON
"""

import asyncio
import contextlib
import os
import socket
import sys
import threading
from typing import Annotated

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_http_request
from fastmcp.server.event_store import EventStore
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

NAMES = ["Ada", "Alan", "Grace"]

# A page holds fewer items than the server has tools, so a client must read several pages.
server = FastMCP("peer", version="1.0.0", list_page_size=4)


@server.tool
def add(a: float, b: float) -> str:
    """Adds two numbers."""
    return f"{a + b:g}"


class Total(BaseModel):
    total: float


@server.tool
def total(a: float, b: float) -> Total:
    """Adds two numbers, with a structured result."""
    return Total(total=a + b)


@server.tool
def large(bytes: int) -> str:
    """Returns a large text."""
    return "x" * bytes


@server.tool
def locate(city: Annotated[str, Field(json_schema_extra={"x-mcp-header": "City"})]) -> str:
    """Repeats a city, which the client repeats in a header too."""
    return f"located {city}"


@server.tool
async def report(context: Context) -> str:
    """Sends progress notifications and log messages."""
    await context.debug("not asked for")
    for step in (1, 2, 3):
        await context.report_progress(step, 3, f"step {step}")
        await context.info(f"step {step}")
    return "reported"


@server.tool
async def wait(ms: int, context: Context) -> str:
    """Waits, and sends progress notifications meanwhile."""
    entry = get_http_request().scope["entry"]
    try:
        for waited in range(0, ms, 50):
            await asyncio.sleep(0.05)
            await context.report_progress(waited + 50, ms)
    except asyncio.CancelledError:
        entry["isCancelled"] = True
        raise
    return "waited"


@server.tool
async def interrupt(how: str, context: Context) -> str:
    """Ends the stream of its response before the response."""
    await context.report_progress(1, 2)
    await asyncio.sleep(0.05)
    await context.close_sse_stream()
    await asyncio.sleep(0.05)
    await context.report_progress(2, 2)
    return f"resumed after {how}"


class Place(BaseModel):
    city: str


@server.tool
async def ask(context: Context):
    """Asks for a city: with a result in revision 2026-07-28, and with a request in older revisions."""
    if context.request_context.protocol_version < "2026":
        answer = await context.elicit("Which city?", Place)
        return f"The city is {answer.data.city}." if answer.action == "accept" else "No city."
    answer = (context.input_responses or {}).get("city")
    if answer is None or context.request_state != "asked":
        form = ElicitRequestFormParams(message="Which city?", requested_schema=Place.model_json_schema())
        return InputRequiredResult(input_requests={"city": ElicitRequest(params=form)}, request_state="asked")
    return f"The city is {answer.content['city']}." if answer.action == "accept" else "No city."


@server.tool
def fail() -> str:
    """Fails."""
    raise ToolError("This tool always fails.")


@server.resource("demo://text", name="Text", mime_type="text/plain")
def text() -> str:
    return "A text: déjà vu, 🙂."


@server.resource("demo://greetings/{name}", name="Greetings", mime_type="text/plain")
def greeting(name: str) -> str:
    return f"Hello, {name}."


@server.prompt
def greet(name: str) -> str:
    """Greets."""
    return f"Greet {name}."


@server.completion
def complete(_reference, argument, _context) -> list[str]:
    return [name for name in NAMES if name.startswith(argument.value)]


# The requests to each app.
requests = {"sessions": [], "stateless": []}


class Recorded:
    """Records the requests to an app. The field `isCancelled` says whether a tool noticed that the client cancelled the request."""

    def __init__(self, app, name: str) -> None:
        self.app = app
        self.name = name

    async def __call__(self, scope, receive, send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        entry = {"method": scope["method"], "headers": headers, "isAborted": False, "isCancelled": False}
        requests[self.name].append(entry)
        is_complete = False

        async def observe() -> dict:
            message = await receive()
            if message["type"] == "http.disconnect" and not is_complete:
                entry["isAborted"] = True
            return message

        async def observed(message: dict) -> None:
            nonlocal is_complete
            is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        await self.app(scope | {"entry": entry}, observe, observed)


apps = {
    "sessions": server.http_app(path="/mcp", event_store=EventStore(), retry_interval=20),
    "stateless": server.http_app(path="/mcp", stateless_http=True),
}


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
routes = [Mount(f"/{name}", Recorded(app, name)) for name, app in apps.items()]
routes.append(Route("/requests", lambda request: JSONResponse(requests[request.query_params["peer"]])))
app = Starlette(routes=routes, lifespan=lifespan)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
