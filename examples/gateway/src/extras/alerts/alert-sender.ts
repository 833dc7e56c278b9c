import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import { Webhook as Signer } from 'standardwebhooks'
import type { AlertTable, Db } from '../../db/schema.ts'
import { type Posted, type PostOptions, post } from './post.ts'
import type { Webhook, Webhooks } from './webhook.ts'

/** The single row of the sender. */
const ID = 1
/** Waits after failed attempts, in milliseconds. After the last one, about two days later, the alert is given up. */
const WAITS_MS = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 43_200].map((s) => s * 1_000)
/** The most alerts per run. */
const MAX_A_TURN = 20
/** How long a process keeps the lease, in addition to the duration of one attempt, in milliseconds. */
const TURN_MS = 30_000
/** The maximum random extension of a wait, as a fraction. It spreads the load on a receiver that has recovered. */
const JITTER = 0.1

export interface AlertSenderOptions extends Omit<PostOptions, 'stopping'> {
  readonly db: Db
  readonly clock: Clock
  readonly webhooks: Webhooks
  /** Returns a number from 0 to below 1. */
  random(): number
}

type Row = Selectable<AlertTable>

/** Sends due alerts. One process at a time sends, and each alert keeps its id until the receiver accepts it. */
export class AlertSender {
  readonly #options: AlertSenderOptions
  readonly #stopping = new AbortController()

  constructor(options: AlertSenderOptions) {
    this.#options = options
  }

  /** Sends due alerts, unless another process is sending. */
  async send(): Promise<void> {
    if (this.#stopping.signal.aborted || !(await this.#isDue())) return
    const webhook = await this.#options.webhooks.target()
    if (webhook === undefined) return
    const lease = randomUUID()
    if (!(await this.#take(lease))) return
    try {
      for (const row of await this.#due()) {
        // A process that was too slow has lost its lease. The next holder sends the alert.
        if (!(await this.#keep(lease))) return
        const posted = await this.#post(webhook, row)
        // An interrupted alert stays due, because the receiver may not have it.
        if (this.#stopping.signal.aborted) return
        await this.#settle(row, posted)
      }
    } finally {
      await this.#options.db.deleteFrom('alert_sender').where('lease_id', '=', lease).execute()
    }
  }

  /** Stops sending, so that a shutdown doesn't wait for a receiver. */
  stop(): void {
    this.#stopping.abort()
  }

  async #isDue(): Promise<boolean> {
    const { db, clock } = this.#options
    const first = await db
      .selectFrom('alerts')
      .select('id')
      .where('state', '=', 'pending')
      .where('next_at', '<=', clock.now())
      .limit(1)
      .executeTakeFirst()
    return first !== undefined
  }

  #due(): Promise<Row[]> {
    const { db, clock } = this.#options
    return db
      .selectFrom('alerts')
      .selectAll()
      .where('state', '=', 'pending')
      .where('next_at', '<=', clock.now())
      .orderBy('next_at')
      .limit(MAX_A_TURN)
      .execute()
  }

  /** Takes the lease, unless another process has it. */
  async #take(lease: string): Promise<boolean> {
    const { db, clock } = this.#options
    const turn = { lease_id: lease, expires_at: this.#expiresAt() }
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('alert_sender')
      .values({ id: ID, ...turn })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(turn).where('alert_sender.expires_at', '<=', clock.now()),
      )
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows > 0n
  }

  async #keep(lease: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#options.db
      .updateTable('alert_sender')
      .set({ expires_at: this.#expiresAt() })
      .where('lease_id', '=', lease)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  }

  #expiresAt(): number {
    const { clock, timeoutMs } = this.#options
    return clock.now() + timeoutMs + TURN_MS
  }

  #post({ url, secrets }: Webhook, { id, body }: Row): Promise<Posted> {
    const { clock } = this.#options
    const at = new Date(clock.now())
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, at, body)).join(' '),
      'User-Agent': 'score-gateway',
    }
    return post(new URL(url), headers, body, { ...this.#options, stopping: this.#stopping.signal })
  }

  async #settle({ id, attempts }: Row, posted: Posted): Promise<void> {
    const answered = 'status' in posted ? posted.status : null
    const isTaken = answered !== null && answered >= 200 && answered < 300
    const attempt = {
      attempts: attempts + 1,
      last_status: answered,
      last_fault: 'fault' in posted ? posted.fault : null,
    }
    // If the webhook was removed in the meantime, nothing is due.
    await this.#options.db
      .updateTable('alerts')
      .set({ ...attempt, ...(isTaken ? this.#sent() : this.#later(attempts)) })
      .where('id', '=', id)
      .where('state', '=', 'pending')
      .execute()
  }

  #sent(): Pick<Row, 'state' | 'next_at' | 'sent_at'> {
    return { state: 'sent', next_at: null, sent_at: this.#options.clock.now() }
  }

  #later(attempts: number): Pick<Row, 'state' | 'next_at'> {
    const { clock, random } = this.#options
    const waitMs = WAITS_MS[attempts]
    if (waitMs === undefined) return { state: 'given_up', next_at: null }
    return { state: 'pending', next_at: clock.now() + Math.round(waitMs * (1 + random() * JITTER)) }
  }
}
