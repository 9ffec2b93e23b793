# Daytona's own client against a local server. Prints what it got, a line each.
import asyncio
from daytona import CreateSandboxFromImageParams, Daytona, FileUpload, SessionExecuteRequest

client = Daytona()
theirs = [box for box in client.list()][0]  # the one that was made before
print("found", theirs.process.exec("cat from-hermes").result.strip())

box = client.create(CreateSandboxFromImageParams(image="python:3.11", labels={"who": "client"}))
r = box.process.exec("echo out; echo err >&2; exit 7")
print("exec", r.exit_code, r.result.split())
print("long", len(box.process.exec("head -c 300000 /dev/zero | tr '\\0' x").result))

box.process.create_session("s")
r = box.process.execute_session_command("s", SessionExecuteRequest(command="echo out; echo err >&2; exit 3"))
print("session", r.exit_code, repr(r.stdout), repr(r.stderr))
r = box.process.execute_session_command("s", SessionExecuteRequest(command="echo one; sleep 0.1; echo two; echo err >&2; exit 5", run_async=True))
out, errs = [], []
asyncio.run(box.process.get_session_command_logs_async("s", r.cmd_id, out.append, errs.append))
print("stream", repr("".join(out)), repr("".join(errs)), box.process.get_session_command("s", r.cmd_id).exit_code)
logs = box.process.get_session_command_logs("s", r.cmd_id)
print("logs", repr(logs.stdout), repr(logs.stderr))
box.process.delete_session("s")

box.fs.upload_files([FileUpload(source=b"a\x00\xffb", destination="f/bytes"), FileUpload(source=b"two", destination="second")])
print("files", box.fs.download_file("f/bytes"), box.process.exec("cat second").result)
box.stop()
box.start()
print("kept", box.process.exec("cat second").result)
box.delete()
print("left", len([b for b in client.list()]))
