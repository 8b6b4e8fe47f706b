"""The authorization server `InMemoryOAuthProvider`, with the server of fastmcp or that of the Python SDK.

    in_memory.py PORT fastmcp|sdk
"""

import sys

from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions

PORT, LIBRARY = int(sys.argv[1]), sys.argv[2]
ORIGIN = f"http://127.0.0.1:{PORT}"
registration = ClientRegistrationOptions(enabled=True, valid_scopes=["account"], default_scopes=["account"])
revocation = RevocationOptions(enabled=True)
provider = InMemoryOAuthProvider(
    base_url=ORIGIN, client_registration_options=registration, revocation_options=revocation, required_scopes=["account"]
)


def get_user_data() -> str:
    """Returns the account."""
    return "the account"


if LIBRARY == "fastmcp":
    from fastmcp import FastMCP

    server = FastMCP("tracker", auth=provider)
    server.tool(get_user_data, name="get-user-data")
    server.run(transport="http", host="127.0.0.1", port=PORT, path="/mcp", show_banner=False)

from mcp.server.auth.settings import AuthSettings

settings = AuthSettings(
    issuer_url=ORIGIN,
    resource_server_url=f"{ORIGIN}/mcp",
    client_registration_options=registration,
    revocation_options=revocation,
    required_scopes=["account"],
)
try:
    from mcp.server.fastmcp import FastMCP

    server, options = FastMCP("tracker", auth_server_provider=provider, auth=settings, host="127.0.0.1", port=PORT), {}
except ImportError:
    from mcp.server import MCPServer

    server = MCPServer("tracker", auth_server_provider=provider, auth=settings)
    options = {"host": "127.0.0.1", "port": PORT}
server.add_tool(get_user_data, name="get-user-data")
server.run(transport="streamable-http", **options)
