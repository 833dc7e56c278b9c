import type { IncomingMessage } from 'node:http'

/** How long a connection whose request was answered before it had arrived is read on. */
const LINGER_MS = 2_000

/**
 * Reads and discards what callers still send after their answer: a connection that is closed while
 * something is on its way would lose the answer. It serves no caller, so it gets little time: of all such connections one is
 * read in each turn of the event loop, as much as the network has of it, and the others are not listened to meanwhile.
 */
class Remainders {
  readonly #waiting = new Set<IncomingMessage>()
  #isGoingOn = false

  /** @param req whose answer has left */
  readOn(req: IncomingMessage): void {
    if (req.complete) return
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS)
    req.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    this.#hold(req)
    // Once more: Node discards unread data a tick later.
    setImmediate(() => {
      if (this.#waiting.has(req)) req.socket.pause()
    })
    if (this.#isGoingOn) return
    this.#isGoingOn = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    const [req] = this.#waiting
    if (req === undefined) {
      this.#isGoingOn = false
      return
    }
    this.#waiting.delete(req)
    req.socket.resume()
    // Behind the next look at the network.
    setImmediate(() => {
      if (!req.complete && !req.socket.destroyed) this.#hold(req)
      this.#next()
    })
  }

  #hold(req: IncomingMessage): void {
    req.socket.pause()
    this.#waiting.add(req)
  }
}

/** Those of this process. */
export const remainders: Remainders = new Remainders()
