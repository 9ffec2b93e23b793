# An MCP server on the SDK for Python 2.x, over HTTP. It speaks both eras of the protocol.
import sys
from typing import Annotated

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from pydantic import BaseModel

server = MCPServer("python", version="1.0")


class Age(BaseModel):
    age: int


async def need_age(ctx: Context) -> Elicit[Age]:
    return Elicit("how old?", Age)


async def need_roots(ctx: Context) -> ListRoots:
    return ListRoots()


async def need_words(ctx: Context) -> Sample:
    content = types.TextContent(type="text", text="say hi")
    return Sample(messages=[types.SamplingMessage(role="user", content=content)], max_tokens=10)


@server.tool(annotations=types.ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b


@server.tool()
async def ask(age: Annotated[Age, Resolve(need_age)]) -> str:
    return f"age {age.age}"


@server.tool()
async def roots(listed: Annotated[types.ListRootsResult, Resolve(need_roots)]) -> str:
    return str([str(r.uri) for r in listed.roots])


@server.tool()
async def sample(said: Annotated[types.CreateMessageResult, Resolve(need_words)]) -> str:
    return str(said.content.text)


@server.tool()
async def grow(ctx: Context) -> str:
    def extra() -> str:
        return "ran"

    server.add_tool(extra, name="extra")
    await ctx.notify_tools_changed()
    try:
        await ctx.session.send_tool_list_changed()
    except Exception:  # the stateless protocol has no way back
        pass
    return "grown"


@server.resource("test://note")
def note() -> str:
    return "the note"


server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
