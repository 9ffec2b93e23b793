// @ts-check
// What a Hermes plugin in JavaScript or TypeScript needs: one file without packages, Node 18 or
// newer. The types are comments, which the TypeScript compiler checks with `tsc --checkJs`.
// The protocol is described in docs/plugin-protocol.md. The standard streams belong to it: console.log
// goes to standard error instead. Start programs with stdio 'pipe' or 'ignore', never with 'inherit'.

import { createInterface } from 'node:readline'

/** Thrown by a tool: the model reads the text. Thrown by a hook: the hook failed. */
export class Failure extends Error {}

/** Hermes asked for something that this plugin does not serve. */
class NoMethod extends Error {}

/**
 * @typedef {{text: string, failed?: boolean, shown?: string, images?: {media_type: string, data: string}[]}} Result
 * @typedef {{action?: 'block' | 'approve' | 'modify', message?: string, arguments?: object, text?: string, context?: string}} Verdict
 * @typedef {{name: string, description: string, schema: object, effect?: '' | 'none' | 'idempotent', parallel?: boolean}} ToolSpec
 * @typedef {{event: string, tools?: string, guard?: boolean, timeout?: number}} HookSpec
 */

/** One call of a tool or a hook. Its methods work until the function is done. */
export class Call {
  #plugin
  #abort = new AbortController()

  /** @param {Plugin} plugin @param {any} params */
  constructor(plugin, params) {
    this.#plugin = plugin
    this.id = params.call
    this.session = params.session
  }

  /** Aborts when the result does not matter any more. */
  get signal() { return this.#abort.signal }

  cancel() { this.#abort.abort() }

  /** Shows the user in one line what the call is doing. @param {string} text */
  progress(text) { this.#plugin.send({ method: '$/progress', params: { call: this.id, text } }) }

  /** Runs another tool of the session. The manifest has to name it. @param {string} name @param {object} args @returns {Promise<Result>} */
  invoke(name, args) { return this.#plugin.ask('host/invoke', { call: this.id, name, arguments: args }) }

  /** Asks the user. The manifest declares approvals. @param {string} text @param {string[]} [choices] @returns {Promise<string[] | null>} */
  async ask(text, choices = []) {
    const a = await this.#plugin.ask('host/ask', { call: this.id, text, choices, multiple: false })
    return a.timed_out || a.dismissed ? null : a.texts ?? []
  }

  /** Asks a model. The manifest declares complete. @param {string} prompt @param {string} [system] @returns {Promise<string>} */
  async complete(prompt, system = '') {
    return (await this.#plugin.ask('host/complete', { call: this.id, prompt, system, max_tokens: 0 })).text
  }
}

/** @param {HookSpec} spec @param {string} tool */
function fits(spec, tool) { return !spec.tools || new RegExp(`^(?:${spec.tools})$`, 'u').test(tool) }

/** The verdict of two hooks. @param {Verdict} one @param {Verdict} two @returns {Verdict} */
function joined(one, two) {
  const actions = [one.action, two.action].filter(Boolean).sort().join()
  if (actions === 'approve,modify') return { action: 'block', message: 'one hook wants the user to be asked, another changes the call; only one of the two is possible' }
  const all = two.action || !one.action ? { ...one, ...two } : { ...one }
  const context = [one.context, two.context].filter(Boolean).join('\n\n')
  if (context) all.context = context
  if (actions === 'approve,approve') all.message = [one.message, two.message].filter(Boolean).join('; ')
  return all
}

/** Collects tools, hooks and sections, then serves them with run. */
export class Plugin {
  /** @type {Map<string, {spec: ToolSpec, run: (call: Call, args: any) => any}>} */
  #tools = new Map()
  /** @type {{spec: HookSpec, run: (call: Call, params: any) => any}[]} */
  #hooks = []
  /** @type {{name: string, text: string}[]} */
  #sections = []
  /** @type {Map<string, (call: Call, params: any) => any>} */
  #others = new Map()
  #serial = 0
  /** @type {Map<string, (m: any) => void>} */
  #waiting = new Map()
  /** @type {Map<string, Call>} */
  #calls = new Map()

  /** @param {string} name @param {string} version */
  constructor(name, version) { this.name = name; this.version = version }

  /** Adds a tool: run returns a text or a result. @param {ToolSpec} spec @param {(call: Call, args: any) => string | Result | Promise<string | Result>} run */
  tool(spec, run) { this.#tools.set(spec.name, { spec, run }) }

  /**
   * Adds a hook: run returns a verdict, or nothing to go on. tools is a regular expression for the whole
   * name of a tool. Several hooks for one event run in their order, and see what those before changed,
   * until one blocks.
   * @param {HookSpec} spec @param {(call: Call, params: any) => Verdict | void | Promise<Verdict | void>} run
   */
  hook(spec, run) { this.#hooks.push({ spec, run }) }

  /** Adds a section to the system prompt. @param {string} name @param {string} text */
  section(name, text) { this.#sections.push({ name, text }) }

  /** Answers a method of another kind: run returns its result. @param {string} method @param {(call: Call, params: any) => any} run */
  serves(method, run) { this.#others.set(method, run) }

  /** Serves until standard input ends. */
  run() {
    console.log = console.error
    const lines = createInterface({ input: process.stdin })
    lines.on('line', line => this.#line(line))
    lines.on('close', () => process.exit(0))
  }

  /** @param {object} m */
  send(m) { process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n') }

  /** @param {string} method @param {object} params @returns {Promise<any>} */
  ask(method, params) {
    const id = 'p' + ++this.#serial
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, m => m.error ? reject(new Failure(m.error.message)) : resolve(m.result ?? {}))
      this.send({ id, method, params })
    })
  }

  /** @param {string} line */
  #line(line) {
    let m
    try { m = JSON.parse(line) } catch { return }
    if (!m.method) {
      const take = this.#waiting.get(m.id)
      this.#waiting.delete(m.id)
      take?.(m)
    } else if (m.method === '$/cancel') {
      this.#calls.get(m.params?.call)?.cancel()
    } else if (m.method === 'shutdown') {
      this.send({ id: m.id, result: {} })
      process.stdin.destroy()
    } else if (m.id !== undefined) {
      this.#handle(m.method, m.params ?? {}).then(
        result => this.send({ id: m.id, result }),
        e => this.send({ id: m.id, error: { code: e instanceof NoMethod ? -32601 : e instanceof Failure ? -32000 : -32603, message: e.message } }))
    }
  }

  /** @param {string} method @param {any} params @returns {Promise<any>} */
  async #handle(method, params) {
    switch (method) {
      case 'initialize': return { protocol: 1, name: this.name, version: this.version }
      case 'tools/list': return { tools: [...this.#tools.values()].map(t => t.spec) }
      case 'hooks/list': return { hooks: this.#offered() }
      case 'prompt/sections': return { sections: this.#sections }
      case 'tools/call': case 'hooks/call': break
      default: if (!this.#others.has(method)) throw new NoMethod('there is no method ' + method)
    }
    const call = new Call(this, params)
    this.#calls.set(call.id, call)
    try {
      const other = this.#others.get(method)
      if (other) return await other(call, params) ?? {}
      if (method === 'tools/call') return await this.#tool(call, params)
      return await this.#hook(call, params)
    } finally {
      this.#calls.delete(call.id)
    }
  }

  /** One hook for each event, since Hermes says only the event when it calls. @returns {HookSpec[]} */
  #offered() {
    return [...new Set(this.#hooks.map(h => h.spec.event))].map(event => {
      const same = this.#hooks.map(h => h.spec).filter(s => s.event === event)
      if (same.length === 1) return same[0]
      same.forEach(s => fits(s, '')) // an error now, not at a call
      const tools = same.map(s => `(?:${s.tools})`).join('|')
      const every = same.some(s => !s.tools) || new TextEncoder().encode(tools).length > 500 // that is the limit of Hermes
      return {
        event, tools: every ? '' : tools, guard: same.some(s => s.guard ?? false),
        timeout: same.map(s => s.timeout ?? 0).reduce((a, b) => (a || 30) < (b || 30) ? b : a),
      }
    })
  }

  /** @param {Call} call @param {any} params @returns {Promise<Verdict>} */
  async #hook(call, params) {
    const same = this.#hooks.filter(h => h.spec.event === params.event)
    /** @type {Verdict} */
    let all = {}
    for (const h of same) {
      // Of one alone Hermes has looked at the tools.
      if (same.length > 1 && !fits(h.spec, params.tool?.name ?? '')) continue
      /** @type {Verdict} */
      let v
      try {
        v = await h.run(call, params) || {}
      } catch (e) {
        if (h.spec.guard || same.length === 1) throw e
        console.error(`a hook at ${params.event} failed:`, e) // a guard beside it is not to fail for that
        continue
      }
      all = joined(all, v)
      if (all.action && all.action !== 'approve' && all.action !== 'modify') return all
      if (v.action === 'modify' && v.arguments) params = { ...params, tool: { ...params.tool, arguments: v.arguments } }
      if (v.action === 'modify' && v.text !== undefined) params = { ...params, result: { ...params.result, text: v.text } }
    }
    return all
  }

  /** @param {Call} call @param {any} params */
  async #tool(call, params) {
    const t = this.#tools.get(params.name)
    if (!t) throw new Failure('there is no tool ' + params.name)
    try {
      const r = await t.run(call, params.arguments ?? {})
      return typeof r === 'string' ? { text: r } : r
    } catch (e) {
      if (e instanceof Failure) return { text: e.message, failed: true }
      throw e
    }
  }
}
