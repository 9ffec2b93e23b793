import host, json, sys
def _call(tool, arguments):
    given = {k: v for k, v in arguments.items() if v is not None}
    return json.loads(host.call(tool, json.dumps(given)))
def _install(source):
    class Tools:
        def __getattr__(self, name):
            return names["__getattr__"](name)
    tools, names = Tools(), {"_call": _call}
    exec(source, names)
    for name in names:
        if name[0] != "_":
            setattr(tools, name, names[name])
    sys.modules["hermes_tools"] = tools
