# Modal's own client against a local server. Prints what it got, a line each.
import modal

app = modal.App.lookup("hermes", create_if_missing=True)
theirs = next(iter(modal.Sandbox.list(app_id=app.app_id)))  # the one that was made before
print("found", theirs.exec("sh", "-c", "cat ~/from-hermes").stdout.read().strip())

image = modal.Image.from_registry("python:3.11")
box = modal.Sandbox.create(app=app, image=image, timeout=600, cpu=0.5, memory=256)
p = box.exec("sh", "-c", "echo out; echo err >&2; exit 7")
print("exec", p.wait(), repr(p.stdout.read()), repr(p.stderr.read()))
p = box.exec("sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x")
print("long", len(p.stdout.read()), p.wait())
p = box.exec("cat", text=False)
p.stdin.write(b"a\x00\xffb")
p.stdin.write_eof()
p.stdin.drain()
print("input", p.stdout.read(), p.wait())
p = box.exec("sh", "-c", "kill -KILL $$")
print("killed", p.wait())
again = modal.Sandbox.from_id(box.object_id)
print("again", again.poll(), again.exec("echo", "still").stdout.read().strip())
print("stored", box.snapshot_filesystem().object_id.startswith("im-"))
box.terminate()
print("ended", modal.Sandbox.from_id(box.object_id).poll() is not None)
