import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A process of a suite, which answers in messages. What waits for a message fails when the process ends. */
export class Child {
  readonly #process: ChildProcess
  readonly #failed: Promise<never>

  /**
   * @param file by its path in `bench/src`
   * @param flags further flags of Node
   */
  constructor(file: string, args: readonly string[] = [], flags: readonly string[] = []) {
    this.#process = fork(new URL(`./${file}`, import.meta.url), args, { execArgv: [...process.execArgv, ...flags] })
    this.#failed = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`${[file, ...args].join(' ')} ended with ${code}`)
    })
    this.#failed.catch(() => undefined)
  }

  /** Resolves to its next message. */
  async next<T>(): Promise<T> {
    const [message] = (await Promise.race([once(this.#process, 'message'), this.#failed])) as [T]
    return message
  }

  /** Sends a message and resolves to the next one. */
  answerTo<T>(message: string | object): Promise<T> {
    const answer = this.next<T>()
    this.#process.send(message)
    return answer
  }

  /** Resolves when it has ended by itself. */
  async ended(): Promise<void> {
    await this.#failed.catch(() => undefined)
  }

  stop(): void {
    if (this.#process.connected) this.#process.disconnect()
  }
}

/** Runs a process that sends one message and ends. */
export async function resultFrom<T>(file: string, args: readonly string[], flags?: readonly string[]): Promise<T> {
  const child = new Child(file, args, flags)
  const result = await child.next<T>()
  await child.ended()
  return result
}
