# Runloop's own client against a local server. Prints what it got, a line each.
from runloop_api_client import Runloop

client = Runloop()
theirs = client.devboxes.list(status="running").devboxes[0]  # the one that was made before
print("found", client.devboxes.execute_sync(theirs.id, command="cat from-hermes").stdout.strip())

box = client.devboxes.create_and_await_running(name="client", metadata={"who": "client"})
print("status", box.status, box.metadata)
r = client.devboxes.execute_and_await_completion(box.id, command="echo out; echo err >&2; exit 7")
print("exec", r.exit_status, repr(r.stdout), repr(r.stderr))
run = client.devboxes.execute_async(box.id, command="echo one; sleep 0.1; echo two; head -c 300000 /dev/zero | tr '\\0' x; echo err >&2; exit 5")
out = "".join(c.output for c in client.devboxes.executions.stream_stdout_updates(run.execution_id, devbox_id=box.id))
errs = "".join(c.output for c in client.devboxes.executions.stream_stderr_updates(run.execution_id, devbox_id=box.id))
end = client.devboxes.executions.retrieve(run.execution_id, devbox_id=box.id)
print("stream", repr(out[:8]), len(out), repr(errs), end.status, end.exit_status)
run = client.devboxes.execute_async(box.id, command="sleep 300")
client.devboxes.executions.kill(run.execution_id, devbox_id=box.id, kill_process_group=True)
print("kill", client.devboxes.executions.await_completed(run.execution_id, devbox_id=box.id).exit_status)
client.devboxes.upload_file(box.id, path="bytes", file=b"a\x00\xffb")
client.devboxes.write_file_contents(box.id, file_path="text", contents="hello")
print("files", client.devboxes.execute_sync(box.id, command="wc -c <bytes").stdout.strip(), client.devboxes.read_file_contents(box.id, file_path="text"))
client.devboxes.suspend(box.id)
client.devboxes.resume(box.id)
client.devboxes.await_running(box.id)
print("kept", client.devboxes.read_file_contents(box.id, file_path="text"))
print("ended", client.devboxes.shutdown(box.id).status)
