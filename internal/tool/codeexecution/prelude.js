(() => {
	const { __hermes_print: print, __hermes_call: call, __hermes_wait: wait, __hermes_clear: clear } = globalThis;
	delete globalThis.__hermes_print;
	delete globalThis.__hermes_call;
	delete globalThis.__hermes_wait;
	delete globalThis.__hermes_clear;
	const { parse, stringify } = JSON, { Promise, Map, Set, Error, Object, Array, String, Number, TypeError, Proxy } = globalThis;
	const pending = new Map();
	let next = 1;

	const show = (value) => {
		if (typeof value === "string") return value;
		if (value instanceof Error) return value.stack ? `${value}\n${value.stack}` : String(value);
		try {
			return stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : v)) ?? String(value);
		} catch {
			return String(value);
		}
	};
	const to = (stream) => (...values) => print(stream, values.map(show).join(" ") + "\n");
	const log = to(1), error = to(2);
	globalThis.console = { log, info: log, debug: log, error, warn: error, trace: error };
	globalThis.print = log;

	const plain = (v) => v !== null && typeof v === "object" && !Array.isArray(v);
	const tool = (name, names) => (...values) => {
		const named = plain(values.at(-1)) ? values.pop() : {};
		const args = {};
		values.forEach((v, i) => {
			if (i >= names.length) throw new TypeError(`${name} takes ${names.length} arguments: ${names.join(", ")}`);
			args[names[i]] = v;
		});
		return new Promise((resolve) => {
			const id = next++;
			call(id, name, stringify(Object.assign(args, named)));
			pending.set(id, (text) => resolve(parse(text)));
		});
	};

	const timers = new Set();
	globalThis.setTimeout = (run, ms = 0, ...values) => {
		const id = next++;
		wait(id, Number(ms) || 0);
		timers.add(id);
		pending.set(id, () => timers.delete(id) && run(...values));
		return id;
	};
	globalThis.clearTimeout = (id) => {
		if (timers.delete(id)) clear(id);
	};

	const hidden = (name, value) => Object.defineProperty(globalThis, name, { value, enumerable: false, writable: false, configurable: false });
	hidden("__hermes_answer", (id, text) => {
		const done = pending.get(id);
		pending.delete(id);
		if (done) done(text);
	});
	// The last value of a script is awaited: main() may be its last line.
	hidden("__hermes_last", async (script) => {
		const { value } = await script;
		if (value instanceof Promise) await value;
	});
	// Promises that failed without a handler, each followed by its reason, and those of them that
	// got one since.
	const rejected = [], handled = [];
	hidden("__hermes_rejected", rejected);
	hidden("__hermes_handled", handled);
	hidden("__hermes_unhandled", () => {
		const not = new Set(handled);
		let i = 0;
		while (i < rejected.length && not.has(rejected[i])) i += 2;
		const found = i < rejected.length, reason = rejected[i + 1];
		rejected.length = handled.length = 0;
		return found ? `Uncaught (in promise) ${show(reason)}` : "";
	});
	let tools = {};
	hidden("__hermes_tools", (list) => {
		for (const name of Object.keys(tools)) delete globalThis[name];
		tools = {};
		rejected.length = handled.length = 0;
		for (const [name, names] of Object.entries(parse(list))) globalThis[name] = tools[name] = tool(name, names);
		globalThis.hermes_tools = new Proxy(tools, {
			get: (of, name) => of[name] ?? ((...values) => tool(String(name), [])(...values.filter(plain))),
		});
	});
})();
