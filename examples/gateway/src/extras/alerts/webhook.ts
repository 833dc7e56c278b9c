import { randomBytes } from 'node:crypto'
import type { Clock, Policy } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import type { Audited, AuditLog, Doer } from '../../audit/audit-log.ts'
import type { Db, Tables } from '../../db/schema.ts'
import { type Expected, expectedRevision, type Version } from '../../http/etag.ts'
import { HttpError } from '../../http/http-error.ts'
import { sharedLayers } from '../../quota/layer-members.ts'

/** The single row of the webhook. */
const ID = 1
/** How long the previous secret also signs after a rotation, in milliseconds. */
const OVERLAP_MS = 24 * 3_600_000

export interface WebhookChange {
  readonly url: string
  /** The layers whose limits raise alerts. */
  readonly layers: readonly string[]
}

type Row = Selectable<Tables['webhooks']>

/** Returns the layers whose limits raise alerts: those of the webhook, or without one the shared layers. */
export function alertedLayers(webhook: Pick<Row, 'layers'> | undefined, policy: Policy): readonly string[] {
  return webhook === undefined ? sharedLayers(policy) : (JSON.parse(webhook.layers) as string[])
}

/** Where to send alerts, and the secrets that sign them. */
export interface Webhook {
  readonly url: string
  /** The current secret, and for a while the previous one. */
  readonly secrets: readonly string[]
}

/** Manages the webhook for administrators. Secrets are only shown when they are made. */
export class Webhooks {
  readonly #db: Db
  readonly #clock: Clock
  readonly #audit: AuditLog

  constructor(db: Db, clock: Clock, audit: AuditLog) {
    this.#db = db
    this.#clock = clock
    this.#audit = audit
  }

  async read(): Promise<{ readonly at: Version; readonly row: Row | undefined }> {
    const row = await this.#db.selectFrom('webhooks').selectAll().where('id', '=', ID).executeTakeFirst()
    return { at: versionOf(row), row: row?.url === null ? undefined : row }
  }

  /** Returns the webhook to send to, if there is one. */
  async target(): Promise<Webhook | undefined> {
    const { row } = await this.read()
    if (row === undefined || row.url === null || row.secret === null) return undefined
    const isOverlapping = row.old_secret !== null && (row.old_until ?? 0) > this.#clock.now()
    return { url: row.url, secrets: isOverlapping ? [row.secret, row.old_secret as string] : [row.secret] }
  }

  /**
   * Sets where alerts are sent.
   *
   * @returns the secret if a new one was made
   * @throws {HttpError} `precondition_failed`
   */
  async put({ url, layers }: WebhookChange, expected: Expected, by: Doer): Promise<string | null> {
    return this.#audit.change(by, async ({ db, note }) => {
      const before = await rowOf(db, expected)
      const made = before?.secret == null ? newSecret() : null
      await this.#write(db, before, { url, layers: JSON.stringify(layers), ...(made === null ? {} : { secret: made }) })
      note({ action: 'webhook.change', before: shown(before), after: shown({ url, layers: JSON.stringify(layers) }) })
      return made
    })
  }

  /**
   * Makes a new secret. The previous one stays valid for a day, so that receivers can be updated.
   *
   * @throws {HttpError} `not_found` without a webhook
   */
  async rotate(by: Doer): Promise<string> {
    return this.#audit.change(by, async ({ db, note }) => {
      const before = await rowOf(db, 'any')
      if (before?.url == null) throw noWebhook()
      const secret = newSecret()
      const old = { old_secret: before.secret, old_until: this.#clock.now() + OVERLAP_MS }
      await this.#write(db, before, { secret, ...old })
      note({ action: 'webhook.rotate', before: null, after: shown(before) })
      return secret
    })
  }

  /** @throws {HttpError} `not_found`, `precondition_failed` */
  async remove(expected: Expected, by: Doer): Promise<void> {
    await this.#audit.change(by, async ({ db, note }) => {
      const before = await rowOf(db, expected)
      if (before?.url == null) throw noWebhook()
      await this.#write(db, before, { url: null, secret: null, old_secret: null, old_until: null })
      // Otherwise waiting alerts would go to the next webhook.
      await db.updateTable('alerts').set({ state: 'kept', next_at: null }).where('state', '=', 'pending').execute()
      note({ action: 'webhook.change', before: shown(before), after: null })
    })
  }

  async #write(db: Audited['db'], before: Row | undefined, change: Partial<Omit<Row, 'id'>>): Promise<void> {
    const version = (before?.version ?? 0) + 1
    const revision = randomBytes(16).toString('base64url')
    const empty = { url: null, layers: '[]', secret: null, old_secret: null, old_until: null }
    const { id: _, ...rest } = before ?? { id: ID, ...empty }
    const row = { ...empty, ...rest, ...change, version, revision }
    await db
      .insertInto('webhooks')
      .values({ id: ID, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute()
  }
}

async function rowOf(db: Audited['db'], expected: Expected): Promise<Row | undefined> {
  const row = await db.selectFrom('webhooks').selectAll().where('id', '=', ID).executeTakeFirst()
  expectedRevision(expected, versionOf(row))
  return row
}

function versionOf(row: Row | undefined): Version {
  return { version: row?.version ?? 0, revision: row?.revision ?? '' }
}

export function noWebhook(): HttpError {
  return new HttpError('not_found', 'There is no webhook.')
}

/** Returns 256 random bits in the form of Standard Webhooks. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** The webhook without path and query, which may contain a credential. */
function shown(row: Pick<Row, 'url' | 'layers'> | undefined): object | null {
  if (row?.url == null) return null
  return { origin: new URL(row.url).origin, layers: JSON.parse(row.layers) as unknown }
}
