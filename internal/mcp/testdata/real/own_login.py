# A FastMCP server that is its own login service and confirms every login.
import sys

from fastmcp import FastMCP
from fastmcp.server.auth.auth import ClientRegistrationOptions, RevocationOptions
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider

port = int(sys.argv[1])
server = FastMCP("own", auth=InMemoryOAuthProvider(
    base_url=f"http://127.0.0.1:{port}",
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["read"], default_scopes=["read"]),
    revocation_options=RevocationOptions(enabled=True),
    required_scopes=["read"],
))


@server.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    return a + b


server.run(transport="http", host="127.0.0.1", port=port, show_banner=False)
