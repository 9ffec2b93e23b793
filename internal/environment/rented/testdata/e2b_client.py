# E2B's own client against a local server. Prints what it got, a line each.
from e2b import CommandExitException, Sandbox, SandboxQuery

theirs = Sandbox.connect(Sandbox.list().next_items()[0].sandbox_id)  # the one that was made before
print("found", theirs.commands.run("cat ~/from-hermes").stdout.strip())

box = Sandbox.create(metadata={"who": "client"})
try:
    box.commands.run("echo out; echo err >&2; exit 7")
except CommandExitException as e:
    print("exec", e.exit_code, repr(e.stdout), repr(e.stderr))
print("long", len(box.commands.run("head -c 300000 /dev/zero | tr '\\0' x").stdout))
parts = []
box.commands.run("echo one; sleep 0.1; echo two", on_stdout=parts.append)
print("stream", repr("".join(parts)), len(parts))
run = box.commands.run("sleep 300", background=True)
print("kill", run.kill())
box.files.write("bytes", b"a\x00\xffb")
print("files", bytes(box.files.read("bytes", format="bytes")))
found = Sandbox.list(query=SandboxQuery(metadata={"who": "client"})).next_items()
print("list", [b.sandbox_id for b in found] == [box.sandbox_id])
box.pause()
again = Sandbox.connect(box.sandbox_id)
print("kept", repr(again.commands.run("cat bytes | wc -c | tr -d ' '").stdout))
print("ended", again.kill(), len(Sandbox.list().next_items()))
