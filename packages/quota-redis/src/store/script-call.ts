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
export async function callScript(line: Line, call: ScriptCall): Promise<Reply> {
  const { deadline } = call
  if (!line.usable) await Promise.race([line.ready(), deadline.settled])
  if (deadline.isOver) throw storeError('not connected to Redis')
  try {
    return await evaluate(line, call)
  } catch (error) {
    const asked = await Promise.race([line.asked(error)?.catch(() => undefined), deadline.settled])
    if (asked === undefined || deadline.isOver) throw error
    return await evaluate(asked, call)
  }
}

async function evaluate(line: Line, { script, args, deadline, onSend }: ScriptCall): Promise<Reply> {
  onSend()
  try {
    return await line.send('EVALSHA', script.sha, ...args)
  } catch (error) {
    if (!isReplyOf(error, 'NOSCRIPT') || deadline.isOver) throw error
    return await line.send('EVAL', script.text, ...args)
  }
}
