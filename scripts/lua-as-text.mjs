// Gives `.lua` files as text to Node.js, as the packed build and the tests have them: node --import ./scripts/lua-as-text.mjs
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

// Node.js loads this file once more, in a thread of its own, for the hook below.
if (isMainThread) register(import.meta.url)

export async function load(url, context, next) {
  if (!new URL(url).pathname.endsWith('.lua')) return next(url, context)
  const text = await readFile(new URL(url), 'utf8')
  return { format: 'module', shortCircuit: true, source: `export default ${JSON.stringify(text)}` }
}
