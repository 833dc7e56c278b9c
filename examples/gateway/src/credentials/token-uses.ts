import type { Clock } from '@scoregw/quota'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'

const EVERY_MS = 5_000
/** How far apart two stored uses of a token are, so that few requests cause a write. */
const RESOLUTION_MS = 10 * 60_000

/** Writes when tokens were last used, and deletes those that have expired. Requests don't wait for it. */
export class TokenUses {
  readonly chore: Chore = { what: 'writing uses of tokens', everyMs: EVERY_MS, run: () => this.flush() }
  readonly #db: Db
  readonly #clock: Clock
  readonly #used = new Map<string, number>()

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** @param lastUsedAt the stored use before, epoch milliseconds */
  record(id: string, lastUsedAt: number | null): void {
    const now = this.#clock.now()
    if (lastUsedAt === null || now - lastUsedAt >= RESOLUTION_MS) this.#used.set(id, now)
  }

  /** Writes what was recorded. If it fails, the rest stays for the next time. */
  async flush(): Promise<void> {
    for (const [id, at] of this.#used) {
      await this.#db.updateTable('tokens').set({ last_used_at: at }).where('id', '=', id).execute()
      this.#used.delete(id)
    }
    await this.#db.deleteFrom('tokens').where('expires_at', '<=', this.#clock.now()).execute()
  }
}
