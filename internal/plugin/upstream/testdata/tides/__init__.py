"""Tides: two tools and a table of harbours."""

import logging

from . import schemas, tools

logger = logging.getLogger(__name__)


def register(ctx):
    ctx.register_tool(name="tide_at", toolset="tides", schema=schemas.TIDE_AT, handler=tools.tide_at, emoji="🌊")
    ctx.register_tool(name="tide_sum", toolset="tides", schema=schemas.TIDE_SUM, handler=tools.tide_sum, is_async=True)
    ctx.register_tool(
        name="tide_radar",
        toolset="tides",
        schema={"name": "tide_radar", "description": "Shows the radar", "parameters": {"type": "object", "properties": {}}},
        handler=lambda args, **kw: "{}",
        check_fn=lambda: False,
    )
    logger.info("tides registered")
    print("tides is ready")
