"""A desk: commands, a section of the prompt, a skill, and what ctx gives beyond that."""

from pathlib import Path

RULES = "Answer letters within a day."


def rules(session_info):
    return RULES + " Profile: " + session_info["profile_name"] + "."


def register(ctx):
    ctx.register_system_prompt_section("desk.rules", rules, position="after_memory", max_chars=4000)
    ctx.register_command("desk", handler=lambda raw: status(raw), description="Show the desk", args_hint="[what]")
    ctx.register_command("tldr", handler=lambda raw: tldr(ctx, raw), description="Sum up a text")
    for child in sorted((Path(__file__).parent / "skills").iterdir()):
        ctx.register_skill(child.name, child / "SKILL.md")

    def read(args, **kwargs):
        return ctx.dispatch_tool(args.get("tool", "read_file"), {"path": args["path"]})

    def sum_up(args, **kwargs):
        return tldr(ctx, args["text"])

    async def sum_up_later(args, **kwargs):
        r = await ctx.llm.acomplete([{"role": "user", "content": args["text"]}], max_tokens=50)
        return r.text

    def remember(args, **kwargs):
        return str(ctx.inject_message(args["text"], role="system"))

    def features(args, **kwargs):
        return ", ".join(n for n in ("register_tool", "register_platform", "call_mcp") if hasattr(ctx, n))

    def reach(args, **kwargs):
        return str(getattr(ctx, args["name"])())

    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    name = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    path = {"type": "object", "properties": {"path": {"type": "string"}, "tool": {"type": "string"}}, "required": ["path"]}
    ctx.register_tool("desk_read", "desk", {"name": "desk_read", "description": "Read a letter.", "parameters": path}, read)
    ctx.register_tool("desk_sum_up", "desk", {"name": "desk_sum_up", "description": "Sum up a letter.", "parameters": text}, sum_up)
    ctx.register_tool("desk_sum_up_later", "desk", {"name": "desk_sum_up_later", "description": "Sum up a letter.", "parameters": text}, sum_up_later, is_async=True)
    ctx.register_tool("desk_remember", "desk", {"name": "desk_remember", "description": "Remember for the next message.", "parameters": text}, remember)
    ctx.register_tool("desk_features", "desk", {"name": "desk_features", "description": "What is there.", "parameters": {"type": "object", "properties": {}}}, features)
    ctx.register_tool("desk_reach", "desk", {"name": "desk_reach", "description": "Reach for something.", "parameters": name}, reach)


async def status(raw):
    return f"The desk is tidy: {raw.strip() or 'nothing to do'}."


def tldr(ctx, text):
    result = ctx.llm.complete(
        messages=[{"role": "system", "content": "Be short."}, {"role": "user", "content": text}],
        max_tokens=64,
        temperature=0.3,
        purpose="tldr",
    )
    return result.text
