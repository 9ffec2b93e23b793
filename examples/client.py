"""A small client for Hermes, written from docs/protocol.md alone. It needs Python 3.11 and a live session.

    python3 examples/client.py [--home DIR] list
    python3 examples/client.py [--home DIR] chat [SESSION]

In a chat, a line is a message, or the answer if a question is open. One that begins with / is a slash command.
"""
import argparse, contextlib, glob, itertools, json, os, queue, socket, sys, threading


class Connection:
    """A connection to one process. What comes without a request goes to the queue inbox."""

    def __init__(self, home, address, inbox):
        self.inbox, self.ids, self.waiting = inbox, itertools.count(1), {}
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(address)
        threading.Thread(target=self.read, daemon=True).start()
        with open(os.path.join(home, "run", "key"), encoding="ascii") as key:
            hello = {"version": 1, "key": key.read(), "name": f"client.py {os.getpid()}", "platform": "cli"}
        self.me = self.call("initialize", **hello)["from"]["client"]

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params}
        answer = self.waiting[request["id"]] = queue.Queue()
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        message = answer.get()
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message["result"]

    def read(self):
        with contextlib.suppress(OSError):
            for message in map(json.loads, self.socket.makefile(encoding="utf-8", newline="\n")):
                if "method" in message:
                    self.inbox.put((message["method"], message["params"]))
                elif message["id"] in self.waiting:
                    self.waiting.pop(message["id"]).put(message)
        self.inbox.put(("lost", self))
        for answer in list(self.waiting.values()):
            answer.put({"error": {"message": "the connection was lost"}})


def connect(home, inbox):
    """Connect to all processes of a home; a socket may be left of one that was killed."""
    connections = []
    for address in glob.glob(os.path.join(glob.escape(home), "run", "*.sock")):
        with contextlib.suppress(OSError):
            connections.append(Connection(home, address, inbox))
    return connections or sys.exit("No session is live. Start Hermes first.")


def show(text, end="\n"):
    """Print a text without control characters, which could steer the terminal."""
    print("".join(c if c in "\n\t" or c.isprintable() else "·" for c in text), end=end, flush=True)


def visible(message):
    return "\n".join(p["text"] for p in message.get("parts", []) if p.get("text") and not p.get("hidden"))


class Chat:
    """A chat in one session. written is what is on the screen of the text that the model writes."""

    def __init__(self, home, session):
        self.home, self.inbox, self.questions = home, queue.Queue(), []
        self.position, self.last, self.written, self.busy = {}, 0, "", False
        self.run = {"session": session} if session else {"workspace": {"dir": os.getcwd()}}
        self.find()
        self.attach()

    def find(self):
        """Find the process that runs the session, or have it opened."""
        connections = connect(self.home, self.inbox)
        if self.run.get("session"):
            found = connections[0].call("sessions", filter={"id": self.run["session"]})["sessions"][0]
            self.run = {"session": found["id"]}
        for self.connection in connections:
            live = {"id": self.run.get("session"), "live": True}
            if live["id"] and self.connection.call("sessions", filter=live)["sessions"]:
                return
        self.run = {"session": self.connection.call("open", run=self.run, attends=True)["session"]["id"]}

    def attach(self):
        """Attach where the chat was before, and show what it has missed."""
        result = self.connection.call("attach", **self.run, after=self.position, attends=True)
        self.subscription, snapshot = result["subscription"], result["snapshot"]
        self.position = {"epoch": snapshot["epoch"], "seq": snapshot["seq"]}
        if snapshot.get("continued"):
            return
        show(f"Session {self.run['session']}")
        while self.last < snapshot.get("last", 0):
            page = {"after": self.last, "before": snapshot["last"] + 1, "first": 500, "raw": True}
            for message in self.connection.call("history", **self.run, range=page)["messages"]:
                self.last = message["id"]
                if message["role"] != "tool" and visible(message):
                    show(("> " if message["role"] == "user" else "") + visible(message))
        self.busy, self.written, self.questions = "turn" in snapshot, snapshot.get("turn", {}).get("text", ""), []
        show(self.written, end="")
        for question in snapshot.get("questions", []):
            self.ask(question["session"], question["asked"])

    def ask(self, session, asked):
        self.questions.append((session, asked["id"], asked.get("question")))
        if approval := asked.get("approval"):
            show(f"\n{approval['tool']}: {approval['subject']}\n{approval.get('detail', '')}")
            show("\n".join([*(r["reason"] for r in approval.get("risks", [])), "y allows it once, any other text refuses it:"]))
        else:
            show("\n".join(["", asked["question"]["text"], *asked["question"].get("choices", [])]))

    def line(self, text):
        """Take a line of the user."""
        if self.questions:
            session, number, question = self.questions[0]
            approval = {"decision": "once"} if text == "y" else {"decision": "denied", "reason": text}
            answer = {"answer": {"texts": [text]}} if question else {"approval": approval}
            self.questions = self.questions[1:]
            self.connection.call("do", session=session, op={"type": "reply", "id": number, **answer})
        elif text.startswith("/"):
            self.connection.call("command", **self.run, line=text)
        elif text.strip():
            self.connection.call("do", **self.run, op={"type": "say", "parts": [{"text": text}]})
            self.busy = True

    def event(self, envelope):
        """Show what has happened."""
        kind, event = envelope.get("type"), envelope.get("event", {})
        if kind != "lagged":
            self.position = {"epoch": envelope["epoch"], "seq": envelope["seq"]}
        who = event.get("from") or event.get("by") or {}
        mine = who.get("client") == self.connection.me
        if kind == "asked":
            self.ask(envelope["session"], event)
        elif kind == "answer_taken":
            self.questions = [q for q in self.questions if q[:2] != (envelope["session"], event["id"])]
            show("" if mine else f"[answered by {who.get('name', 'no one')}]")
        elif envelope.get("parent"):
            pass  # what else a child session does
        elif kind == "text_delta":
            self.written += event["text"]
            show(event["text"], end="")
        elif kind == "reset":
            self.written = ""
            show("\n[the model starts again]")
        elif kind == "turn_started":
            self.busy, self.last = True, event["message"]["id"]
            show("" if mine else "> " + visible(event["message"]))
        elif kind == "appended":
            self.last, text = event["message"]["id"], visible(event["message"])
            if event["message"]["role"] == "assistant" and text:
                show(text[len(self.written):] if text.startswith(self.written) else "\n" + text)
            self.written = ""
        elif kind in ("notice", "command_done"):
            show(event.get("text") or event.get("failure", {}).get("text", ""))
        elif kind == "turn_done":
            self.busy, self.written = False, ""
            show("" if event["outcome"] == "done" else f"\n[{event['outcome']}] {(event.get('failure') or event).get('text', '')}")

    def loop(self):
        """Take lines and events as they come. Lines that are not typed wait for the answer to the one before."""
        threading.Thread(target=self.read, daemon=True).start()
        lines, ended = [], False
        while lines or not ended or self.busy or self.questions:
            what, value = self.inbox.get()
            if what == "line":
                lines, ended = lines + [value] * bool(value), not value
            elif what == "lost" and value is self.connection:
                self.find()
                self.attach()
            elif what in ("event", "detached") and value["subscription"] == self.subscription:
                self.event(value["envelope"]) if what == "event" else self.attach()
            if lines and (self.questions or not self.busy or sys.stdin.isatty()):
                try:
                    self.line(lines.pop(0).rstrip("\n"))
                except RuntimeError as refused:
                    show(f"[{refused}]")

    def read(self):
        for line in itertools.chain(sys.stdin, [""]):  # "" is the end
            self.inbox.put(("line", line))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", default=os.environ.get("HERMES_HOME") or os.path.expanduser("~/.hermes"))
    parser.add_argument("what", choices=["list", "chat"])
    parser.add_argument("session", nargs="?", help="its id, the beginning of that, or its title; without it, a new one")
    options = parser.parse_args()
    if options.what == "chat":
        return Chat(options.home, options.session).loop()
    listed = [s for c in connect(options.home, queue.Queue()) for s in c.call("sessions")["sessions"]]
    for session in {s["id"]: s for s in sorted(listed, key=lambda s: "running" in s)}.values():
        show(f"{session['id']} {'live  ' if 'running' in session else 'stored'} {session.get('title', '')}")


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
