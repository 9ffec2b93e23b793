// @ts-check
import { Failure, Plugin } from './hermes_plugin.mjs'

const plugin = new Plugin('NAME', '0.1.0')

plugin.tool({
  name: 'PREFIX_count_words',
  description: 'Count the words of a text.',
  schema: { type: 'object', properties: { text: { type: 'string', description: 'The text' } }, required: ['text'] },
  effect: 'none',
  parallel: true,
}, (call, { text }) => {
  if (typeof text !== 'string') throw new Failure('text is missing; give the text whose words are to be counted')
  return String(text.split(/\s+/).filter(Boolean).length)
})

plugin.hook({ event: 'pre_tool_call', tools: 'terminal', guard: true }, (call, params) => {
  if (String(params.tool.arguments.command).includes('mkfs')) return { action: 'block', message: 'mkfs is never run here' }
})

plugin.run()
