import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import { Webhook as Signer } from 'standardwebhooks'
import type { AlertTable, Db } from '../../db/schema.ts'
import { type Posted, type PostOptions, post } from './post.ts'
import type { Webhook, Webhooks } from './webhook.ts'

/** There is one sender over all processes, in one row. */
const ID = 1
/** Waits after each attempt that failed, in milliseconds; after the last of them an alert is given up, some two days on. */
const WAITS_MS = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 43_200].map((s) => s * 1_000)
/** Most alerts of one turn. */
const MAX_A_TURN = 20
/** How long a process has the turn, beside what one attempt may take, in milliseconds. */
const TURN_MS = 30_000
/** How much longer a wait may be, as a share of it: receivers that came back are not met by everything at once. */
const JITTER = 0.1

export interface AlertSenderOptions extends Omit<PostOptions, 'stopping'> {
  readonly db: Db
  readonly clock: Clock
  readonly webhooks: Webhooks
  /** From 0 to below 1. */
  random(): number
}

type Row = Selectable<AlertTable>

/** Sends due alerts, one process at a time, each under one id until the receiver accepts it. */
export class AlertSender {
  readonly #options: AlertSenderOptions
  readonly #stopping = new AbortController()

  constructor(options: AlertSenderOptions) {
    this.#options = options
  }

  /** Sends due alerts, unless another process does. */
  async send(): Promise<void> {
    if (this.#stopping.signal.aborted || !(await this.#isDue())) return
    const webhook = await this.#options.webhooks.target()
    if (webhook === undefined) return
    const lease = randomUUID()
    if (!(await this.#take(lease))) return
    try {
      for (const row of await this.#due()) {
        // A process that was too slow has lost its lease, and must not send what the next holder sends.
        if (!(await this.#keep(lease))) return
        const posted = await this.#post(webhook, row)
        // An interrupted alert stays due: it is unknown whether the receiver has it.
        if (this.#stopping.signal.aborted) return
        await this.#settle(row, posted)
      }
    } finally {
      await this.#options.db.deleteFrom('alert_sender').where('lease_id', '=', lease).execute()
    }
  }

  /** Stops sending, so that a shutdown does not wait for a receiver. */
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

  /** Takes the turn, unless it is another's and not over. */
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
    // Where the webhook was removed meanwhile, nothing is due any more.
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
