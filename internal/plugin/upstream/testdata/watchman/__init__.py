import json

seen = []


def before(tool_name, args, task_id, **kwargs):
    seen.append(["pre_tool_call", tool_name, bool(task_id)])
    content = args.get("content", "")
    if "forbidden" in content:
        return {"action": "block", "message": "that word is not written here"}
    if "careful" in content:
        return {"action": "approve", "message": "careful was said", "rule_key": "watchman:careful"}
    if "broken" in content:
        raise ValueError("the watchman has fallen asleep")


def correct(tool_name, args, **kwargs):
    if "typo" in args.get("content", ""):
        return {"action": "modify", "args": {"content": args["content"].replace("typo", "type")}}


def after(tool_name, args, result, task_id, duration_ms, **kwargs):
    seen.append(["post_tool_call", tool_name, kwargs.get("status")])


def wrong(tool_name, no_such_field):
    seen.append(["never"])


def shorten(result, **kwargs):
    if "secret plan" in result:
        return result.replace("secret plan", "[plan]")


async def recall(session_id, user_message, is_first_turn, platform, conversation_history, **kwargs):
    seen.append(["pre_llm_call", is_first_turn, platform, len(conversation_history)])
    return {"context": "The watchman is awake."}


def policy(**kwargs):
    return "Nothing is written at night."


def done(session_id, user_message, assistant_response, **kwargs):
    seen.append(["post_llm_call", "hello watchman" in user_message, bool(assistant_response)])


def register(ctx):
    ctx.register_hook("pre_tool_call", before)
    ctx.register_hook("pre_tool_call", correct)
    ctx.register_hook("post_tool_call", after)
    ctx.register_hook("post_tool_call", wrong)
    ctx.register_hook("transform_tool_result", shorten)
    ctx.register_hook("pre_llm_call", recall)
    ctx.register_hook("pre_llm_call", policy)
    ctx.register_hook("post_llm_call", done)
    ctx.register_hook("on_session_start", lambda session_id, model, platform, **kw: seen.append(["on_session_start", platform]))
    ctx.register_hook("on_session_end", lambda session_id, completed, interrupted, **kw: seen.append(["on_session_end", completed]))
    ctx.register_tool(
        name="watchman_log",
        toolset="watchman",
        schema={"name": "watchman_log", "description": "What the watchman saw.", "parameters": {"type": "object", "properties": {}}},
        handler=lambda args, **kwargs: json.dumps(seen),
    )
