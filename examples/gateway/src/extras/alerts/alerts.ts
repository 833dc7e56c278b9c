import type { Clock, Policy, Quota } from '@scoregw/quota'
import type { FactorStore } from '@scoregw/quota/adaptive'
import type { AuditLog } from '../../audit/audit-log.ts'
import type { Chore } from '../../chores.ts'
import type { Db } from '../../db/schema.ts'
import type { Logger } from '../../log/logger.ts'
import type { OperationName } from '../../quota/policy.ts'
import { AlertBook } from './alert-book.ts'
import { AlertSender } from './alert-sender.ts'
import { noticeEvents, noticeFactor } from './notice.ts'
import { alertedLayers, Webhooks } from './webhook.ts'

const EVERY_MS = 1_000
const FACTOR_MS = 10_000
const PRUNE_MS = 3_600_000
/** How long a receiver may take. */
const TIMEOUT_MS = 10_000

export interface AlertsDeps {
  readonly db: Db
  readonly clock: Clock
  readonly logger: Logger
  readonly audit: AuditLog
  readonly quota: Quota<OperationName>
  readonly factorStore: FactorStore
  /** Whether messages may go to this machine and to private networks. */
  readonly allowPrivate: boolean
  /** @default 10 seconds */
  readonly timeoutMs?: number | undefined
}

/** Notices what administrators should know, stores it in the database, and has one process send it. */
export class Alerts {
  readonly book: AlertBook
  readonly webhooks: Webhooks
  readonly chores: readonly Chore[]
  readonly #sender: AlertSender
  readonly #stop: () => void
  readonly #policy: Policy
  #layers: readonly string[]

  constructor(deps: AlertsDeps) {
    const { db, clock, logger, audit, quota, factorStore, allowPrivate, timeoutMs = TIMEOUT_MS } = deps
    this.book = new AlertBook(db, clock, logger)
    this.webhooks = new Webhooks(db, clock, audit)
    this.#policy = quota.policy
    this.#layers = alertedLayers(undefined, quota.policy)
    const sending = { db, clock, webhooks: this.webhooks, allowPrivate, timeoutMs, random: Math.random }
    this.#sender = new AlertSender(sending)
    this.#stop = noticeEvents({ quota, book: this.book, clock, isAlerted: (layer) => this.#layers.includes(layer) })
    this.chores = [
      { what: 'writing alerts', everyMs: EVERY_MS, run: () => this.write() },
      { what: 'sending alerts', everyMs: EVERY_MS, run: () => this.#sender.send() },
      {
        what: 'checking the factor for alerts',
        everyMs: FACTOR_MS,
        run: () => noticeFactor({ quota, book: this.book }, factorStore),
      },
      { what: 'forgetting old alerts', everyMs: PRUNE_MS, run: () => this.book.prune() },
    ]
  }

  /** Writes waiting alerts, and reads which layers raise alerts, because another process may have changed that. */
  async write(): Promise<void> {
    await this.book.flush()
    await this.readLayers()
  }

  /** Reads which layers raise alerts: before the first request, so that no crossing is missed, and after a change. */
  async readLayers(): Promise<void> {
    const { row } = await this.webhooks.read()
    this.#layers = alertedLayers(row, this.#policy)
  }

  send(): Promise<void> {
    return this.#sender.send()
  }

  /** Stops sending, because the gateway is stopping. */
  refuse(): void {
    this.#sender.stop()
  }

  async close(): Promise<void> {
    this.#stop()
    await this.book.flush().catch(() => undefined)
  }
}
