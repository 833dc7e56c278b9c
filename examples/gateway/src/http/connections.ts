import type { Socket } from 'node:net'
import { ipSubject } from '@scoregw/quota/http'
import type { Logger } from '../log/logger.ts'

/** How many connections may be open; 0 means any number. */
export interface ConnectionLimits {
  readonly all: number
  /** From one address; of IPv6 its /56. */
  readonly ofAddress: number
}

/** How often refused connections are logged, in milliseconds. The first is logged immediately. */
const LOGGED_EVERY_MS = 60_000

/**
 * Counts the open connections of all listeners of a process, and closes each new one above a limit.
 *
 * Hand-written: Node's `maxConnections` counts one listener, and no package on npm counts by address before the head.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #logger: Logger
  readonly #openOf = new Map<string, number>()
  #open = 0
  #refused = 0

  constructor(limits: ConnectionLimits, logger: Logger) {
    this.#limits = limits
    this.#logger = logger
  }

  /** How many connections are open. */
  get open(): number {
    return this.#open
  }

  /** Call it with each new connection. */
  readonly take = (socket: Socket): void => {
    const address = ipSubject(socket.remoteAddress ?? '') ?? ''
    const { all, ofAddress } = this.#limits
    const openOf = this.#openOf.get(address) ?? 0
    if ((all > 0 && this.#open >= all) || (ofAddress > 0 && openOf >= ofAddress)) {
      socket.destroy()
      this.#refuse()
      return
    }
    this.#open++
    this.#openOf.set(address, openOf + 1)
    socket.once('close', () => this.#leave(address))
  }

  #leave(address: string): void {
    this.#open--
    const left = (this.#openOf.get(address) ?? 0) - 1
    if (left > 0) this.#openOf.set(address, left)
    else this.#openOf.delete(address)
  }

  /** Logs the first, then a number per minute: a flood must not fill the log. */
  #refuse(): void {
    if (this.#refused++ > 0) return
    this.#logger.warn({ open: this.#open, ...this.#limits }, 'connections are refused: too many are open')
    setTimeout(() => {
      const refused = this.#refused
      this.#refused = 0
      if (refused > 1) this.#logger.warn({ refused }, 'connections were refused in the last minute')
    }, LOGGED_EVERY_MS).unref()
  }
}
