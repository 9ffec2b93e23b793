# A FastMCP server that accepts the tokens of a separate login service.
import sys

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier

port, issuer = int(sys.argv[1]), sys.argv[2]
here = f"http://127.0.0.1:{port}"
verifier = JWTVerifier(jwks_uri=issuer + "/jwks", issuer=issuer, audience=here + "/mcp", required_scopes=["read"])
server = FastMCP("other", auth=RemoteAuthProvider(token_verifier=verifier, authorization_servers=[issuer], base_url=here))


@server.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    return a + b


server.run(transport="http", host="127.0.0.1", port=port, show_banner=False)
