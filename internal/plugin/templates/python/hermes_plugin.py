"""What a Hermes plugin in Python needs: one file, only the standard library, Python 3.9 or newer.

The protocol is described in docs/plugin-protocol.md. The standard streams belong to it: from run on,
what a plugin and the programs that it starts print goes to standard error, and they read nothing.
"""

import json
import os
import re
import sys
import threading

PROTOCOL = 1


class Failure(Exception):
    """Raised by a tool: the model reads the text. Raised by a hook: the hook failed."""


class _NoMethod(Exception):
    """Hermes asked for something that this plugin does not serve."""


class Call:
    """One call of a tool or a hook. Its methods work until the function returns."""

    def __init__(self, plugin, params):
        self._plugin = plugin
        self.id = params.get("call", "")
        self.session = params.get("session", {})
        self._cancelled = threading.Event()

    @property
    def cancelled(self):
        """True when the result does not matter any more."""
        return self._cancelled.is_set()

    def wait(self, seconds):
        """Waits, or returns True as soon as the call is cancelled."""
        return self._cancelled.wait(seconds)

    def request(self, method, **params):
        """Asks Hermes by any method, for this call, and returns the result."""
        return self._plugin._ask(method, {"call": self.id, **params})

    def progress(self, text):
        """Shows the user in one line what the call is doing."""
        self._plugin._send({"method": "$/progress", "params": {"call": self.id, "text": text}})

    def invoke(self, name, **arguments):
        """Runs another tool of the session. The manifest has to name it."""
        return self._plugin._ask("host/invoke", {"call": self.id, "name": name, "arguments": arguments})

    def ask(self, text, choices=(), multiple=False):
        """Asks the user and returns a list of answers, or None. The manifest declares approvals."""
        a = self._plugin._ask("host/ask", {"call": self.id, "text": text, "choices": list(choices), "multiple": multiple})
        return None if a.get("timed_out") or a.get("dismissed") else a.get("texts", [])

    def complete(self, prompt, system="", max_tokens=0):
        """Asks a model and returns its text. The manifest declares complete."""
        return self._plugin._ask("host/complete", {"call": self.id, "prompt": prompt, "system": system, "max_tokens": max_tokens})["text"]


def private_streams():
    """Takes the protocol off the standard streams, which programs that the plugin starts inherit."""
    read, write = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return read, write


def joined_verdict(one, two):
    """The verdict of two hooks."""
    actions = [v["action"] for v in (one, two) if v.get("action")]
    if sorted(actions) == ["approve", "modify"]:
        return {"action": "block", "message": "one hook wants the user to be asked, another changes the call; only one of the two is possible"}
    joined = {**one, **two} if two.get("action") or not one.get("action") else dict(one)
    contexts = [v["context"] for v in (one, two) if v.get("context")]
    if contexts:
        joined["context"] = "\n\n".join(contexts)
    if actions == ["approve", "approve"]:
        joined["message"] = "; ".join(v["message"] for v in (one, two) if v.get("message"))
    return joined


class Plugin:
    """Collects tools, hooks and sections, then serves them with run."""

    def __init__(self, name, version):
        self.name, self.version = name, version
        self._tools, self._hooks, self._sections, self._others = {}, [], [], {}
        self._write, self._lock = threading.Lock(), threading.Lock()
        self._serial, self._waiting, self._calls = 0, {}, {}
        self._out = None

    def tool(self, description, schema, effect="", parallel=False):
        """Makes a function a tool of its name: f(call, **arguments) returns a text or a result."""

        def add(f):
            self._tools[f.__name__] = (f, {"name": f.__name__, "description": description, "schema": schema, "effect": effect, "parallel": parallel})
            return f

        return add

    def hook(self, event, tools="", guard=False, timeout=0):
        """Makes a function a hook: f(call, params) returns a verdict, or None to go on.

        tools is a regular expression for the whole name of a tool. Several hooks for one event run in
        their order, and see what those before changed, until one blocks.
        """

        def add(f):
            self._hooks.append((f, {"event": event, "tools": tools, "guard": guard, "timeout": timeout}))
            return f

        return add

    def section(self, name, text):
        """Adds a section to the system prompt."""
        self._sections.append({"name": name, "text": text})

    def serves(self, method):
        """Makes a function answer a method of another kind: f(call, params) returns its result."""

        def add(f):
            self._others[method] = f
            return f

        return add

    def run(self):
        """Serves until standard input ends."""
        lines, self._out = private_streams()
        for line in lines:
            try:
                m = json.loads(line)
            except ValueError:
                continue
            if "method" not in m:
                answer = self._waiting.pop(m.get("id"), None)
                if answer:
                    answer.append(m)
                    answer[0].set()
            elif m["method"] == "$/cancel":
                call = self._calls.get(m.get("params", {}).get("call"))
                if call:
                    call._cancelled.set()
            elif m["method"] == "shutdown":
                self._send({"id": m["id"], "result": {}})
                return
            elif "id" in m:
                threading.Thread(target=self._serve, args=(m,), daemon=True).start()

    def _send(self, m):
        data = json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n"
        with self._write:
            self._out.write(data)
            self._out.flush()

    def _ask(self, method, params):
        with self._lock:
            self._serial += 1
            id = "p%d" % self._serial
            answer = self._waiting[id] = [threading.Event()]
        self._send({"id": id, "method": method, "params": params})
        answer[0].wait()
        if "error" in answer[1]:
            raise Failure(answer[1]["error"].get("message", "refused"))
        return answer[1].get("result") or {}

    def _serve(self, m):
        try:
            self._send({"id": m["id"], "result": self._handle(m["method"], m.get("params") or {})})
        except Failure as e:
            self._send({"id": m["id"], "error": {"code": -32000, "message": str(e)}})
        except _NoMethod as e:
            self._send({"id": m["id"], "error": {"code": -32601, "message": str(e)}})
        except Exception as e:  # a mistake in the plugin
            self._send({"id": m["id"], "error": {"code": -32603, "message": "%s: %s" % (type(e).__name__, e)}})

    def _handle(self, method, params):
        if method == "initialize":
            return {"protocol": PROTOCOL, "name": self.name, "version": self.version}
        if method == "tools/list":
            return {"tools": [t for _, t in self._tools.values()]}
        if method == "hooks/list":
            return {"hooks": self._offered()}
        if method == "prompt/sections":
            return {"sections": self._sections}
        if method not in ("tools/call", "hooks/call") and method not in self._others:
            raise _NoMethod("there is no method " + method)
        call = self._calls[params.get("call")] = Call(self, params)
        try:
            if method in self._others:
                return self._others[method](call, params) or {}
            if method == "tools/call":
                if params["name"] not in self._tools:
                    raise Failure("there is no tool " + params["name"])
                try:
                    r = self._tools[params["name"]][0](call, **params.get("arguments", {}))
                except Failure as e:
                    return {"text": str(e), "failed": True}
                return r if isinstance(r, dict) else {"text": str(r)}
            return self._hook(call, params)
        finally:
            self._calls.pop(call.id, None)

    def _at(self, event):
        return [(f, h) for f, h in self._hooks if h["event"] == event]

    def _offered(self):
        """One hook for each event, since Hermes says only the event when it calls."""
        offered = []
        for event in dict.fromkeys(h["event"] for _, h in self._hooks):
            same = [h for _, h in self._at(event)]
            joined = dict(same[0])
            if len(same) > 1:
                for h in same:
                    re.compile(h["tools"])  # an error now, not at a call
                tools = "|".join("(?:%s)" % h["tools"] for h in same)
                every = any(not h["tools"] for h in same) or len(tools.encode()) > 500  # that is the limit of Hermes
                joined["tools"] = "" if every else tools
                joined["guard"] = any(h["guard"] for h in same)
                joined["timeout"] = max((h["timeout"] for h in same), key=lambda t: t or 30)
            offered.append(joined)
        return offered

    def _hook(self, call, params):
        same, all = self._at(params["event"]), {}
        for f, h in same:
            tool = params.get("tool") or {}
            # Of one alone Hermes has looked at the tools.
            if len(same) > 1 and h["tools"] and not re.fullmatch(h["tools"], tool.get("name", "")):
                continue
            try:
                v = f(call, params) or {}
            except Exception as e:
                if h["guard"] or len(same) == 1:
                    raise
                print("a hook at %s failed: %s: %s" % (h["event"], type(e).__name__, e), file=sys.stderr)  # a guard beside it is not to fail for that
                continue
            all = joined_verdict(all, v)
            if all.get("action", "") not in ("", "approve", "modify"):
                return all
            if v.get("action") == "modify" and v.get("arguments") is not None:
                params = {**params, "tool": {**tool, "arguments": v["arguments"]}}
            if v.get("action") == "modify" and v.get("text") is not None:
                params = {**params, "result": {**(params.get("result") or {}), "text": v["text"]}}
        return all
