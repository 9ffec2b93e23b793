# An MCP server on the SDK for Python 2.x, over its standard streams, whose tools come and go with calls. With a
# file as its argument, it says nothing before that is there.
import os
import sys
import time

from mcp.server.mcpserver import Context, MCPServer

while len(sys.argv) > 1 and not os.path.exists(sys.argv[1]):
    time.sleep(0.05)

server = MCPServer("changing", version="1.0")


async def changed(ctx: Context) -> None:
    await ctx.notify_tools_changed()
    try:
        await ctx.session.send_tool_list_changed()
    except Exception:  # the stateless protocol has no way back
        pass


@server.tool()
def get(what: str) -> str:
    "Gets something."
    return "got " + what


@server.tool()
async def add(name: str, ctx: Context) -> str:
    "Adds a tool."

    def extra() -> str:
        "Is new."
        return "ran"

    server.add_tool(extra, name=name)
    await changed(ctx)
    return "added"


@server.tool()
async def drop(name: str, ctx: Context) -> str:
    "Removes a tool."
    server.remove_tool(name)
    await changed(ctx)
    return "dropped"


server.run(transport="stdio")
