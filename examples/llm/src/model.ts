import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('./model.mjs', import.meta.url))

/** An answer that is being spoken. */
export interface Spoken {
  /** Resolves to what it cost in tokens; `undefined` where the model died before it could say. */
  readonly cost: Promise<number | undefined>
  readonly process: ChildProcess
}

/**
 * Has a model speak.
 *
 * @param tokens how many words it will say: no one else knows before the end
 * @param hear called with each word
 */
export function speak(tokens: number, hear: (word: string) => void): Spoken {
  const model = fork(PROGRAM, { execArgv: [] })
  let cost: number | undefined
  model.on('message', (message: { readonly word?: string; readonly cost?: number }) => {
    if (message.word !== undefined) hear(message.word)
    else cost = message.cost
  })
  model.send({ tokens })
  return { process: model, cost: new Promise((resolve) => model.once('exit', () => resolve(cost))) }
}
