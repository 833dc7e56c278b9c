import type { IncomingMessage } from 'node:http'

/** How long work is done, in milliseconds, before the event loop looks for others. */
const SLICE_MS = 4

/**
 * Lets callers take turns on the event loop. Work that comes while others wait gets in line, one line a caller, and from
 * the lines it is taken in turn: so a caller that sends a thousand requests together waits for a thousand turns, and the
 * others for one or two.
 *
 * Hand-written: queues on npm limit how much runs concurrently, and know neither callers nor the length of a tick.
 */
export class Turns {
  readonly #lines = new Map<string, (() => void)[]>()
  #isGoingOn = false
  /** When this turn's first work began; `undefined`: there was none. */
  #beganAt: number | undefined

  /** Runs the work now if no other waits and this turn has been short, else in the caller's next turn. */
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

  /** Runs the first work of the first line; the rest of that line goes behind the others. */
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
      // Also when work throws: the others still have their turns.
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
 * Calls back when everything is done that needs no event: what was awaited goes on behind the work that resolved it, and
 * belongs to the same turn.
 */
function whenSettled(callback: () => void): void {
  // Behind all microtasks, those too that these make.
  queueMicrotask(() => process.nextTick(callback))
}

/** Those of this process, which has one event loop. */
export const turns: Turns = new Turns()

/** Most credentials that are known by heart. */
const MAX_KNOWN = 10_000

/**
 * In which line a request waits before it is known whose it is: a credential that was valid when it was last looked at has
 * a line of its own, and all others of one address share one, so that callers cannot invent lines.
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

/** Those of this process. */
export const lines: Lines = new Lines()
