from hermes_plugin import Failure, Plugin

plugin = Plugin("NAME", "0.1.0")


@plugin.tool(
    "Count the words of a text.",
    {"type": "object", "properties": {"text": {"type": "string", "description": "The text"}}, "required": ["text"]},
    effect="none",
    parallel=True,
)
def PREFIX_count_words(call, text=None):
    if not isinstance(text, str):
        raise Failure("text is missing; give the text whose words are to be counted")
    return str(len(text.split()))


@plugin.hook("pre_tool_call", tools="terminal", guard=True)
def look(call, params):
    if "mkfs" in params["tool"]["arguments"].get("command", ""):
        return {"action": "block", "message": "mkfs is never run here"}


if __name__ == "__main__":
    plugin.run()
