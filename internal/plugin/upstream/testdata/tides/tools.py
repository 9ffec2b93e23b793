import asyncio
import json
import os
from pathlib import Path

with open(Path(__file__).parent / "data" / "harbours.json") as f:
    HARBOURS = json.load(f)


def tide_at(args: dict, **kwargs) -> str:
    harbour = args.get("harbour", "")
    if harbour == "atlantis":
        raise RuntimeError("it has sunk")
    if harbour not in HARBOURS:
        return json.dumps({"error": f"unknown harbour {harbour}"})
    return json.dumps({"harbour": harbour, "height": HARBOURS[harbour], "unit": os.environ["TIDES_UNIT"], "session": bool(kwargs.get("task_id"))})


async def tide_sum(args, **kwargs):
    await asyncio.sleep(0)
    return json.dumps({"sum": sum(args["heights"])})
