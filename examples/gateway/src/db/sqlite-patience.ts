import { setTimeout as pause } from 'node:timers/promises'
import { isDatabaseBusy } from './database-away.ts'

/** How long a statement waits for another process that writes, in milliseconds. */
const WAIT_MS = 5_000
/** Pause between two tries, in milliseconds. */
const AGAIN_AFTER_MS = 1

/**
 * Waits for other processes that write to an SQLite file. SQLite's own `busy_timeout` would block the event loop, so that
 * one writer elsewhere stops every service of this process.
 */
export class Patience {
  /** When a statement was refused first, with no success since. */
  #busySince: number | undefined

  /**
   * Tries a statement again while another process writes. Once one has waited for its whole time, the others, which may be
   * many, are tried only once, until one succeeds.
   */
  async run(statement: () => unknown): Promise<void> {
    for (;;) {
      try {
        statement()
        this.#busySince = undefined
        return
      } catch (error) {
        if (!isDatabaseBusy(error)) throw error
        const now = performance.now()
        this.#busySince ??= now
        if (now - this.#busySince >= WAIT_MS) throw error
      }
      await pause(AGAIN_AFTER_MS)
    }
  }
}
