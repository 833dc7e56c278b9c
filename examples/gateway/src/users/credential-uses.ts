import type { Clock } from '@scoregw/quota'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'

/** The tables with credentials. */
type Table = 'gateway_tokens' | 'service_credentials'

const EVERY_MS = 5_000
/** How far apart two stored uses of a credential are, so that few requests cause a write. */
const RESOLUTION_MS = 10 * 60_000

/** A credential that was just used. */
export interface Use {
  readonly id: string
  /** The stored use before. */
  readonly last_used_at: number | null
}

/** Writes when credentials were last used, and deletes those that have expired. Requests don't wait for it. */
export class CredentialUses {
  readonly chore: Chore = { what: 'writing uses of credentials', everyMs: EVERY_MS, run: () => this.flush() }
  readonly #db: Db
  readonly #clock: Clock
  readonly #used: Readonly<Record<Table, Map<string, number>>> = {
    gateway_tokens: new Map(),
    service_credentials: new Map(),
  }

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  record(table: Table, { id, last_used_at }: Use): void {
    const now = this.#clock.now()
    if (last_used_at === null || now - last_used_at >= RESOLUTION_MS) this.#used[table].set(id, now)
  }

  async flush(): Promise<void> {
    for (const table of ['gateway_tokens', 'service_credentials'] as const) {
      for (const [id, at] of this.#used[table]) {
        await this.#db.updateTable(table).set({ last_used_at: at }).where('id', '=', id).execute()
        this.#used[table].delete(id)
      }
      await this.#db.deleteFrom(table).where('expires_at', '<=', this.#clock.now()).execute()
    }
  }
}
