"""The official Python SDK as a client of `hermes mcp serve`: client.py MODE URL|COMMAND...

Prints the version that was spoken, then one line for each thing that it did.
"""
import asyncio
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.types import Implementation
from mcp.client.streamable_http import streamable_http_client


async def main() -> None:
    mode, target = sys.argv[1], sys.argv[2:]
    if target[0].startswith("http"):
        headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}
        server = streamable_http_client(target[0], http_client=httpx2.AsyncClient(headers=headers, timeout=60))
    else:
        server = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
    async with Client(server, mode=mode, client_info=Implementation(name="python", version="1")) as c:
        print("version", c.protocol_version)
        print("tools", len((await c.list_tools()).tools))
        listed = await c.call_tool("conversations_list", {"source": "cli"})
        print("conversation", listed.structured_content["conversations"][0]["title"])
        read = await c.call_tool("messages_read", {"conversation_id": "Garden"})
        print("message", read.structured_content["messages"][0]["text"])
        waited = await c.call_tool("events_wait", {"timeout_ms": 10})
        print("events", len(waited.structured_content["events"]))
        wrong = await c.call_tool("messages_read", {"conversation_id": "nope"})
        print("error", wrong.is_error, wrong.content[0].text)
        print("resources", len((await c.list_resources()).resources), len((await c.list_resource_templates()).resource_templates))
        page = await c.read_resource("hermes://conversations/Garden")
        print("resource", "plant tulips" in page.contents[0].text)


asyncio.run(main())
