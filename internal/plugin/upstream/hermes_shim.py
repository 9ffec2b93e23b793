"""Runs a plugin that was written for the Python Hermes as a plugin of this Hermes.

It loads the package in the folder plugin, calls its register(ctx), and serves what that registered
over the protocol of plugins: lines of JSON on the standard streams. Only the standard library is
used, Python 3.9 or newer. What it gives of ctx, and what differs, is in docs/python-plugins.md of Hermes.
"""

import asyncio
import contextvars
import importlib.util
import inspect
import json
import os
import re
import sys
import threading
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
HIDDEN = {"telemetry_schema_version": "hermes.observer.v1"}  # each hook gets it
# The events of hooks, in the order in which they are listed.
EVENTS = ("pre_tool_call", "post_tool_call", "transform_tool_result", "pre_llm_call", "post_llm_call", "on_session_start", "on_session_end")
# Packages of the Python Hermes. None of them is here.
PARTS = {"agent", "cron", "gateway", "hermes_cli", "hermes_constants", "hermes_logging", "hermes_state", "model_tools", "plugins", "run_agent", "tools", "toolsets"}
MOST_SESSIONS, MOST_MESSAGES = 64, 40


class NotSupported(NotImplementedError, AttributeError):
    """Names what this Hermes does not give. It is an AttributeError, too, so that hasattr works."""


class Refused(Exception):
    """What Hermes refused; the text says why."""


class NoMethod(Exception):
    """A method of the protocol that the shim does not serve."""


def not_supported(name):
    return NotSupported(f"{name} is not supported for plugins of the Python Hermes here")


class Call:
    """The call that is being served."""

    def __init__(self, params):
        self.id = params.get("call", "")
        self.session = params.get("session") or {}


CURRENT = contextvars.ContextVar("call", default=None)


class Wire:
    """Reads and writes messages, and asks Hermes."""

    def __init__(self, read, write):
        self._read, self._write = read, write
        self._writing, self._lock = threading.Lock(), threading.Lock()
        self._serial, self._waiting, self._calls = 0, {}, {}

    def serve(self, handle):
        for line in self._read:
            try:
                m = json.loads(line)
            except ValueError:
                continue
            if not isinstance(m, dict):
                continue
            if "method" not in m:
                answer = self._waiting.pop(m.get("id"), None)
                if answer:
                    answer.append(m)
                    answer[0].set()
            elif m["method"] == "shutdown":
                self.send({"id": m.get("id"), "result": {}})
                return
            elif "id" in m:
                threading.Thread(target=self._answer, args=(handle, m), daemon=True).start()

    def send(self, m):
        data = json.dumps({"jsonrpc": "2.0", **m}, default=str).encode() + b"\n"
        with self._writing:
            self._write.write(data)
            self._write.flush()

    def _answer(self, handle, m):
        params = m.get("params") or {}
        call = Call(params)
        CURRENT.set(call)  # of this thread
        if call.id:
            self._calls[call.id] = call
        try:
            self.send({"id": m["id"], "result": handle(m["method"], params)})
        except NoMethod as e:
            self.send({"id": m["id"], "error": {"code": -32601, "message": str(e)}})
        except Exception as e:
            said = str(e) if isinstance(e, (Refused, NotSupported)) else f"{type(e).__name__}: {e}"
            self.send({"id": m["id"], "error": {"code": -32000, "message": said}})
        except SystemExit:
            self.send({"id": m["id"], "error": {"code": -32000, "message": "the plugin wants to exit"}})
        finally:
            self._calls.pop(call.id, None)

    def call(self, what):
        """The call to which a request belongs; also in a thread that the plugin started, if only one call runs."""
        call = CURRENT.get()
        if call is None or not call.id:
            running = list(self._calls.values())
            call = running[0] if len(running) == 1 else None
        if call is None:
            raise RuntimeError(f"{what} works only while a tool, a command or the hook pre_tool_call runs")
        return call

    def ask(self, method, params):
        with self._lock:
            self._serial += 1
            id = f"s{self._serial}"
            answer = self._waiting[id] = [threading.Event()]
        self.send({"id": id, "method": method, "params": params})
        answer[0].wait()
        if "error" in answer[1]:
            raise Refused(answer[1]["error"].get("message", "refused"))
        return answer[1].get("result") or {}


def run(f, *args, **kwargs):
    """Calls a function that may be async."""
    result = f(*args, **kwargs)
    if inspect.isawaitable(result):

        async def wait():
            return await result

        result = asyncio.run(wait())
    return result


def accepted(f, given):
    """Those of the keyword arguments that a function takes."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return given
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return given
    names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return {k: v for k, v in given.items() if k in names}


def text_of(value):
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def missing(names):
    return [n for n in names if not os.environ.get(n)]


def names_of(requires_env):
    if isinstance(requires_env, (str, dict)):
        requires_env = [requires_env]
    return [e if isinstance(e, str) else e.get("name", "") for e in requires_env or ()]


def unknown(function, arguments):
    for name, value in arguments.items():
        if value:
            raise not_supported(f"the argument {name} of {function}")


class Answer:
    """The answer of a model."""

    def __init__(self, text, model, purpose):
        self.text, self.model, self.provider, self.agent_id = text, model, "", ""
        self.usage = types.SimpleNamespace(input_tokens=0, output_tokens=0, total_tokens=0, cache_read_tokens=0, cache_write_tokens=0, cost_usd=None)
        self.audit = {"purpose": purpose}


class Model:
    """ctx.llm: asks the model of the user."""

    def __init__(self, wire):
        self._wire = wire

    def __getattr__(self, name):
        raise not_supported("ctx.llm." + name)

    def complete(self, messages, *, max_tokens=None, temperature=None, timeout=None, purpose="", **other):
        """temperature and timeout are those of the settings of Hermes."""
        unknown("ctx.llm.complete", other)  # provider, model, agent_id, profile: the user chooses them
        system, rest = [], []
        for m in messages:
            content = m.get("content", "")
            if not isinstance(content, str):
                parts = [p for p in content or () if p.get("type") == "text"]
                if len(parts) != len(content or ()):
                    raise not_supported("a picture in ctx.llm.complete")
                content = "\n".join(p.get("text", "") for p in parts)
            (system if m.get("role") == "system" else rest).append((m.get("role", "user"), content))
        prompt = rest[0][1] if len(rest) == 1 else "\n\n".join(f"{role}: {content}" for role, content in rest)
        r = self._wire.ask("host/complete", {
            "call": self._wire.call("ctx.llm.complete").id, "system": "\n\n".join(c for _, c in system), "prompt": prompt, "max_tokens": int(max_tokens or 0),
        })
        return Answer(r.get("text", ""), r.get("model", ""), purpose)

    async def acomplete(self, messages, **arguments):
        return await asyncio.to_thread(self.complete, messages, **arguments)


class Context:
    """ctx: what register gets."""

    def __init__(self, shim):
        self._shim = shim
        self.llm = Model(shim.wire)

    def __getattr__(self, name):
        raise not_supported("ctx." + name)

    def register_tool(self, name, toolset="", schema=None, handler=None, check_fn=None, requires_env=None, is_async=False, description="", emoji="", **other):
        unknown("register_tool", other)
        schema = dict(schema or {})
        if schema.get("type") == "function" and isinstance(schema.get("function"), dict):
            schema = schema["function"]
        parameters = dict(schema.get("parameters") or {})
        parameters.setdefault("type", "object")
        parameters.setdefault("properties", {})
        if not callable(handler):
            raise TypeError(f"the tool {name} has no handler")
        shown = re.sub(r"[^a-z0-9_]", "_", name.lower())
        self._shim.tools[shown] = {
            "run": handler, "check": check_fn, "env": names_of(requires_env),
            "spec": {"name": shown, "description": schema.get("description") or description or name, "schema": parameters},
        }

    def register_hook(self, event, callback):
        if event not in EVENTS:
            raise not_supported(f"the hook {event}")
        self._shim.hooks[event].append(callback)

    def register_command(self, name, handler, description="", args_hint="", help="", **other):
        unknown("register_command", other)
        name = name.lstrip("/").lower()
        self._shim.commands[name] = {"run": handler, "spec": {"name": name, "args": args_hint, "help": description or help or name}}

    def register_skill(self, name, path, description="", **other):
        unknown("register_skill", other)
        path = Path(path)
        if path.is_dir():
            path = path / "SKILL.md"
        if not path.is_file():
            raise FileNotFoundError(f"the skill {name} has no file {path}")
        self._shim.skills[name] = (path.resolve(), description or described(path))

    def register_system_prompt_section(self, name, content=None, *, text=None, position="after_memory", max_chars=4000):
        content = text if content is None else content
        if position != "after_memory":
            raise not_supported(f"the position {position} of a section")
        if callable(content):  # it is fixed when the plugin is enabled, for all sessions
            content = run(content, types.MappingProxyType({k: "" for k in ("session_id", "model", "provider", "platform", "profile_name", "cwd")}))
        if not isinstance(content, str) or not content.strip():
            print(f"the section {name} is empty and left out", file=sys.stderr)
            return
        if len(content) > max_chars:
            raise ValueError(f"the section {name} is longer than {max_chars} characters")
        self._shim.sections.append({"name": re.sub(r"[^a-z0-9_-]", "-", name.lower())[:40], "text": content})

    def dispatch_tool(self, name, args=None, *, parent_agent=None, **other):
        unknown("dispatch_tool", other)
        call = self._shim.wire.call("ctx.dispatch_tool")
        try:
            return self._shim.wire.ask("host/invoke", {"call": call.id, "name": name, "arguments": args or {}}).get("text", "")
        except Refused as e:
            return json.dumps({"error": str(e)})

    def inject_message(self, content, role="user", *, session_key=None):
        if session_key is not None:
            raise not_supported("the argument session_key of inject_message")
        return self._shim.inject(content if role == "user" else f"[{role}] {content}")


def described(path):
    """The description in the first lines of a skill."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines()[:40]:
        if line.startswith("description:"):
            return line.partition(":")[2].strip().strip("\"'")
    return ""


class Shim:
    """Serves a plugin."""

    def __init__(self, wire, settings):
        self.wire, self.settings = wire, settings
        self.tools, self.commands, self.skills, self.sections = {}, {}, {}, []
        self.hooks = {e: [] for e in EVENTS}
        self._lock, self._sessions, self._injected = threading.Lock(), {}, []

    def load(self):
        """Imports the plugin and calls register."""
        for name, value in self.settings.get("variables", {}).items():
            os.environ[name] = value
        lacking = missing(self.settings.get("requires_env", ()))
        if lacking:
            raise Refused(f"the plugin needs {', '.join(lacking)}: install it again with --secret NAME=HOST, or --set NAME=VALUE for what is no secret")
        name = "hermes_plugin_" + re.sub(r"\W", "_", self.settings["name"])
        folder = HERE / "plugin"
        spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            register = getattr(module, "register", None)
            if not callable(register):
                raise Refused("the plugin has no function register")
            run(register, Context(self))
        except ImportError as e:
            top = (e.name or "").partition(".")[0]
            if top in PARTS:
                raise Refused(f"the plugin imports {e.name}, a part of the Python Hermes that is not here") from e
            if top and not top.startswith("hermes_plugin_"):
                raise Refused(f"the plugin imports {e.name}, which {sys.executable} does not find; install it for that Python") from e
            raise
        if self.skills:
            self._offer_skills()

    def _offer_skills(self):
        prefix = re.sub(r"[^a-z0-9_]", "_", self.settings["name"])
        listed = "; ".join(f"{n}: {d}" if d else n for n, (_, d) in self.skills.items())
        Context(self).register_tool(prefix + "_skill", schema={
            "description": f"Read a skill of the plugin {self.settings['name']}, or a file beside it. Skills: {listed}"[:4000],
            "parameters": {"properties": {"name": {"type": "string", "enum": list(self.skills)}, "file": {"type": "string", "description": "a file beside the skill"}}, "required": ["name"]},
        }, handler=self._skill)
        self.tools[prefix + "_skill"]["spec"]["effect"] = "none"

    def _skill(self, args):
        if args.get("name") not in self.skills:
            raise Refused("there is no such skill; there are " + ", ".join(self.skills))
        path = self.skills[args["name"]][0]
        folder = path.parent
        if args.get("file"):
            path = (folder / args["file"]).resolve()
            if folder not in path.parents or not path.is_file():
                raise Refused("there is no such file beside the skill")
            return path.read_text(encoding="utf-8", errors="replace")
        files = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p != path)
        return path.read_text(encoding="utf-8", errors="replace") + ("\n\nFiles beside it: " + ", ".join(files[:100]) if files else "")

    def handle(self, method, params):
        if method == "initialize":
            self.load()
            return {"protocol": 1, "name": self.settings["name"], "version": self.settings.get("version", "")}
        if method == "tools/list":
            return {"tools": [t["spec"] for t in self.tools.values()]}
        if method == "hooks/list":
            return {"hooks": [{"event": e, "guard": e == "pre_tool_call"} for e in EVENTS if self.hooks[e] or e == "pre_llm_call" and self._follows()]}
        if method == "prompt/sections":
            return {"sections": self.sections}
        if method == "commands/list":
            return {"commands": [c["spec"] for c in self.commands.values()]}
        if method == "tools/call":
            return self._tool(params)
        if method == "hooks/call":
            return getattr(self, "_" + params["event"])(params) or {}
        if method == "commands/run":
            if params.get("name") not in self.commands:
                raise Refused(f"there is no command {params.get('name')}")
            return {"text": text_of(run(self.commands[params["name"]]["run"], params.get("args", "")))}
        raise NoMethod("there is no method " + method)

    def _tool(self, params):
        t = self.tools.get(params.get("name"))
        if t is None:
            raise Refused(f"there is no tool {params.get('name')}")
        session = CURRENT.get().session.get("id", "")
        try:
            lacking = missing(t["env"])
            if lacking:
                raise Refused(f"the tool needs {', '.join(lacking)}, which the plugin does not get")
            if t["check"] is not None and not run(t["check"]):
                raise Refused("the tool is not available now: its check_fn says so")
            text = text_of(run(t["run"], params.get("arguments") or {}, **accepted(t["run"], {"task_id": session, "session_id": session})))
        except Refused as e:
            return {"text": str(e), "failed": True}
        except Exception as e:
            return {"text": json.dumps({"error": f"{type(e).__name__}: {e}"}), "failed": True}
        return {"text": text, "failed": says_error(text)}

    # Hooks. Each returns the verdict of all callbacks.

    def _call(self, event, callback, given):
        given = {**given, **HIDDEN}
        try:
            return run(callback, **accepted(callback, given))
        except Exception as e:
            if event == "pre_tool_call":  # whoever cannot look at a call does not let it pass
                raise
            print(f"the hook {event} failed: {type(e).__name__}: {e}; it gets {', '.join(sorted(given))}", file=sys.stderr)

    def _each(self, event, given):
        return [self._call(event, c, given) for c in self.hooks[event]]

    @staticmethod
    def _about(params):
        tool, session = params.get("tool") or {}, params.get("session") or {}
        return {
            "tool_name": tool.get("name", ""), "args": tool.get("arguments") or {}, "tool_call_id": tool.get("id", ""), "turn_id": "", "api_request_id": "",
            "task_id": session.get("id", ""), "session_id": session.get("id", ""), "middleware_trace": [],
        }

    def _pre_tool_call(self, params):
        about = self._about(params)
        original = json.dumps(about["args"])
        approve, changes = None, {}
        for v in self._each("pre_tool_call", about):
            if not isinstance(v, dict):
                continue
            action = v.get("action")
            if action == "block":
                return {"action": "block", "message": str(v.get("message") or "the plugin gives no reason")}
            if action == "approve":
                approve = approve or v
            if action == "modify" and isinstance(v.get("args"), dict):
                changes.update(v["args"])
        if approve and changes:
            raise Refused("a hook of the plugin wants approval and another changes the arguments; only one of the two is possible in one call")
        if approve:
            return {"action": "approve", "message": str(approve.get("message") or "")}
        if changes:
            return {"action": "modify", "arguments": {**json.loads(original), **changes}}

    def _after(self, params):
        result = params.get("result") or {}
        text = result.get("text", "")
        return {
            **self._about(params), "result": text, "duration_ms": 0, "status": "error" if result.get("failed") else "ok",
            "error_type": "", "error_message": text if result.get("failed") else "",
        }

    def _post_tool_call(self, params):
        self._each("post_tool_call", self._after(params))

    def _transform_tool_result(self, params):
        for text in self._each("transform_tool_result", self._after(params)):
            if isinstance(text, str):
                return {"action": "modify", "text": text}

    def _follows(self):
        return bool(self.hooks["post_llm_call"]) or self.settings.get("injects", False)

    def _session(self, id):
        with self._lock:
            s = self._sessions.pop(id, None) or {"history": [], "said": "", "turns": 0}
            self._sessions[id] = s  # the newest is last
            while len(self._sessions) > MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            return s

    def _pre_llm_call(self, params):
        session = params.get("session") or {}
        id = session.get("id", "")
        s, said = self._session(id), params.get("text", "")
        first = s["turns"] == 0
        s["turns"] += 1
        s["said"] = said
        s["history"].append({"role": "user", "content": said})
        del s["history"][:-MOST_MESSAGES]
        added = []
        for v in self._each("pre_llm_call", {
            "session_id": id, "task_id": id, "turn_id": "", "user_message": said, "conversation_history": list(s["history"]), "is_first_turn": first,
            "model": "", "platform": session.get("platform", ""), "parent_session_id": "", "sender_id": "",
        }):
            v = v.get("context") if isinstance(v, dict) else v
            if isinstance(v, str) and v.strip():
                added.append(v)
        with self._lock:
            added += [text for of, text in self._injected if of in ("", id)]
            self._injected = [i for i in self._injected if i[0] not in ("", id)]
        return {"context": "\n\n".join(added)} if added else None

    def _post_llm_call(self, params):
        session = params.get("session") or {}
        id = session.get("id", "")
        s, answer = self._session(id), params.get("text", "")
        if not answer:
            return
        s["history"].append({"role": "assistant", "content": answer})
        self._each("post_llm_call", {
            "session_id": id, "task_id": id, "turn_id": "", "user_message": s["said"], "assistant_response": answer, "conversation_history": list(s["history"]),
            "model": "", "platform": session.get("platform", ""),
        })

    def _on_session_start(self, params):
        session = params.get("session") or {}
        self._each("on_session_start", {"session_id": session.get("id", ""), "model": "", "platform": session.get("platform", "")})

    def _on_session_end(self, params):
        session = params.get("session") or {}
        with self._lock:
            self._sessions.pop(session.get("id", ""), None)
        self._each("on_session_end", {"session_id": session.get("id", ""), "completed": True, "interrupted": False, "model": "", "platform": session.get("platform", "")})

    def inject(self, text):
        """Keeps a text for the next message. Hermes marks it as not the user's."""
        if not self.settings.get("injects"):
            return False
        call = CURRENT.get()
        with self._lock:
            self._injected.append((call.session.get("id", "") if call else "", text))
            del self._injected[:-MOST_MESSAGES]
        return True


def says_error(text):
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and isinstance(value.get("error"), str) and value["error"] != ""


def private_streams():
    """Takes the protocol off the standard streams, which programs that the plugin starts inherit.

    These read nothing, and what they print goes to standard error.
    """
    read, write = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return read, write


def main():
    read, write = private_streams()
    with open(HERE / "hermes_shim.json", encoding="utf-8") as f:
        settings = json.load(f)
    wire = Wire(read, write)
    wire.serve(Shim(wire, settings).handle)


if __name__ == "__main__":
    main()
    os._exit(0)  # also if a thread of the plugin goes on
