import { isReplyOf, storeError } from '../line/errors.ts'
import type { Line, Reply, Word } from '../line/line.ts'
import type { Script } from '../lua/script.ts'
import type { Deadline } from './deadline.ts'

/** A script call on its way. */
export interface ScriptCall {
  readonly script: Script
  /** Number of keys, keys and arguments. */
  readonly args: readonly Word[]
  readonly deadline: Deadline
  /** Called just before it is written, each time. */
  readonly onSend: () => void
}

/** Has the server carry out a script, once. Nothing is sent after the deadline. */
export function callScript(line: Line, call: ScriptCall): Promise<Reply> {
  if (!line.usable) return callOnceUsable(line, call)
  return evaluate(line, call).catch((error: unknown) => callAsked(line, call, error))
}

async function callOnceUsable(line: Line, call: ScriptCall): Promise<Reply> {
  await Promise.race([line.ready(), call.deadline.settled])
  if (call.deadline.isOver) throw storeError('not connected to Redis')
  return evaluate(line, call).catch((error: unknown) => callAsked(line, call, error))
}

/** Calls the server that an error reply says to ask. */
async function callAsked(line: Line, call: ScriptCall, error: unknown): Promise<Reply> {
  const { deadline } = call
  const asked = await Promise.race([line.asked(error)?.catch(() => undefined), deadline.settled])
  if (asked === undefined || deadline.isOver) throw error
  return evaluate(asked, call)
}

/** Scripts that a server has answered to on its line. */
const KNOWN = new WeakMap<Line, Set<string>>()

/** The first call on a line brings the script's text: to be asked for it would cost a round trip of a cold start. */
async function evaluate(line: Line, { script, args, deadline, onSend }: ScriptCall): Promise<Reply> {
  onSend()
  const known = KNOWN.get(line.server) ?? new Set()
  KNOWN.set(line.server, known)
  const [command, what] = known.has(script.sha) ? ['EVALSHA', script.sha] : ['EVAL', script.text]
  try {
    const reply = await line.send(command!, what!, ...args)
    known.add(script.sha)
    return reply
  } catch (error) {
    if (!isReplyOf(error, 'NOSCRIPT') || deadline.isOver) throw error
    return await line.send('EVAL', script.text, ...args)
  }
}
