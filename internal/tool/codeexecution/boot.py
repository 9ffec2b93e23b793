import sys
_kept, sys.path = sys.path, [p for p in sys.path if p]
import itertools, json, linecache, os, select, threading, traceback, types
sys.path = _kept

def _boot():
    def keep(fd):
        new = os.dup(fd)
        os.set_inheritable(new, False)
        return new

    number = os.environ.pop("HERMES_CHANNEL", "")
    out, err = keep(1), keep(2)
    if number:
        source = sink = int(number)
        os.set_inheritable(source, False)
    else:
        source, sink = keep(0), err
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
    rest = bytearray()

    def receive():
        while True:
            at = rest.find(b"\n")
            if at >= 0:
                line = bytes(rest[:at])
                del rest[:at + 1]
                return json.loads(line.decode("utf-8"))
            piece = os.read(source, 1 << 16)
            if not piece:
                os._exit(1)
            rest.extend(piece)

    def write(fd, data):
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view):]

    first = receive()
    mark = b"\x1e" + first["token"].encode("ascii")
    size = getattr(select, "PIPE_BUF", 512) - len(mark) - 2
    process = os.getpid()
    sending = threading.Lock()

    def send(message):
        data = json.dumps(message).encode("ascii")
        with sending:
            if number:
                write(sink, data + b"\n")
                return
            for at in range(0, len(data), size):
                more = b"+" if at + size < len(data) else b"."
                write(sink, mark + more + data[at:at + size] + b"\n")

    changed = threading.Condition()
    waiting, scripts, reading, ids = {}, [], [False], itertools.count(1)

    def await_message(slot):
        # One thread reads, and passes on what is for others; nothing else calls receive.
        with changed:
            while not slot:
                if reading[0]:
                    changed.wait()
                    continue
                reading[0] = True
                changed.release()
                try:
                    message = receive()
                finally:
                    changed.acquire()
                    reading[0] = False
                    changed.notify_all()
                if "answer" not in message:
                    scripts.append(message)
                    continue
                other = waiting.pop(message["answer"], None)
                if other is not None:
                    other.append(message["result"])
            return slot.pop()

    def call(tool, arguments):
        if os.getpid() != process:
            raise RuntimeError("tools cannot be called from a forked process: use threads")
        arguments = {k: v for k, v in arguments.items() if v is not None}
        call_id, slot = next(ids), []
        with changed:
            waiting[call_id] = slot
        send({"call": call_id, "tool": tool, "args": arguments})
        return await_message(slot)

    def install(source_text):
        tools = types.ModuleType("hermes_tools")
        tools._call = call
        exec(compile(source_text, "hermes_tools.py", "exec"), tools.__dict__)
        sys.modules["hermes_tools"] = tools

    def end(stream, fd, run):
        try:
            stream.flush()
            write(fd, mark + b"!" + str(run).encode("ascii") + b"\n")
        except (OSError, ValueError):
            pass

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    main = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    sys.modules["__main__"] = main
    sys.argv = ["script.py"]

    def run(message):
        name = "script.py" if message["run"] == 1 else "script-%d.py" % message["run"]
        text = message["code"]
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        try:
            if "dir" in message:
                os.chdir(message["dir"])
            exec(compile(text, name, "exec"), main.__dict__)
        except SystemExit:
            raise
        except BaseException as problem:
            trace = problem.__traceback__
            while trace and trace.tb_frame.f_code.co_filename in ("<string>",):
                trace = trace.tb_next
            traceback.print_exception(type(problem), problem, trace)
            return 1
        return 0

    def status(stop):
        if stop.code is None:
            return 0
        if isinstance(stop.code, int):
            return stop.code & 0xFF
        print(stop.code, file=sys.stderr)
        return 1

    install(first["module"])
    send({"ready": sys.executable, "key": os.environ.pop("HERMES_PYTHON_KEY", "")})
    message = first
    while True:
        try:
            code = run(message)
        except SystemExit as stop:
            code = status(stop)
        if not first.get("keep") or os.getpid() != process:
            sys.exit(code)
        end(sys.stdout, out, message["run"])
        end(sys.stderr, err, message["run"])
        send({"ended": message["run"], "code": code})
        message = await_message(scripts)
        install(message["module"])

_boot()
