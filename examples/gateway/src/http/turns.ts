import type { IncomingMessage } from 'node:http'

/** How long work may go on before the event loop checks for other events, in milliseconds. */
const SLICE_MS = 4

/**
 * Lets callers take turns on the event loop. While others wait, new work joins its caller's queue, and the queues are
 * served in turn. A caller that sends a thousand requests together waits a thousand turns; the others wait one or two.
 * Hand-written: queues on npm limit how much runs concurrently. They know neither callers nor the length of a tick.
 */
export class Turns {
  readonly #lines = new Map<string, (() => void)[]>()
  #isGoingOn = false
  /** When this turn's first work began; `undefined` if there was none. */
  #beganAt: number | undefined

  /**
   * Runs the work now if no other caller waits and this turn has been short. Otherwise it runs in the caller's next
   * turn.
   */
  run(caller: string, work: () => void): void {
    if (this.#lines.size === 0 && this.#isShort()) {
      work()
      return
    }
    const line = this.#lines.get(caller)
    if (line === undefined) this.#lines.set(caller, [work])
    else line.push(work)
    this.#goOn()
  }

  /** Resolves in the caller's next turn. */
  wait(caller: string): Promise<void> {
    return new Promise((resolve) => this.run(caller, resolve))
  }

  #isShort(): boolean {
    const now = performance.now()
    if (this.#beganAt !== undefined) return now - this.#beganAt < SLICE_MS
    this.#beganAt = now
    setImmediate(() => {
      this.#beganAt = undefined
    })
    return true
  }

  #goOn(): void {
    if (this.#isGoingOn || this.#lines.size === 0) return
    this.#isGoingOn = true
    setImmediate(() => this.#next(performance.now() + SLICE_MS))
  }

  /** Runs the first work of the first queue; the rest of that queue goes behind the others. */
  #next(endsAt: number): void {
    try {
      for (const [caller, line] of this.#lines) {
        const work = line.shift()
        this.#lines.delete(caller)
        if (line.length > 0) this.#lines.set(caller, line)
        work?.()
        break
      }
    } finally {
      // Also when work throws: the other callers still get their turns.
      whenSettled(() => {
        if (this.#lines.size > 0 && performance.now() < endsAt) {
          this.#next(endsAt)
          return
        }
        this.#isGoingOn = false
        this.#goOn()
      })
    }
  }
}

/**
 * Calls back when all work that needs no event is done: the continuations of awaited promises belong to the same turn.
 */
function whenSettled(callback: () => void): void {
  // After all microtasks, including those that microtasks add.
  queueMicrotask(() => process.nextTick(callback))
}

/** The instance of this process, which has one event loop. */
export const turns: Turns = new Turns()

/** How many credentials are cached. */
const MAX_KNOWN = 10_000

/**
 * Chooses the queue in which a request waits before its caller is known. A credential that was valid the last time has
 * its own queue. All other credentials from one address share one, so callers can't invent queues.
 */
export class Lines {
  readonly #known = new Set<string>()

  of(req: IncomingMessage): string {
    const credential = credentialOf(req)
    if (credential !== undefined && this.#known.has(credential)) return credential
    return `address ${req.socket.remoteAddress ?? ''}`
  }

  /** The request's credential is valid. */
  welcome(req: IncomingMessage): void {
    const credential = credentialOf(req)
    if (credential === undefined || this.#known.has(credential)) return
    for (const oldest of this.#known) {
      if (this.#known.size < MAX_KNOWN) break
      this.#known.delete(oldest)
    }
    this.#known.add(credential)
  }
}

function credentialOf({ headers }: IncomingMessage): string | undefined {
  const credential = headers.authorization ?? headers['bot-token'] ?? headers['x-api-key']
  return typeof credential === 'string' ? credential : undefined
}

/** The instance of this process. */
export const lines: Lines = new Lines()
