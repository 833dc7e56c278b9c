import type { Clock } from '@scoregw/quota'
import type {
  AsyncSettingsStore,
  SettingsChange,
  StoredDocument,
  StoreWriteOptions,
  WriteReply,
} from '@scoregw/quota/store'
import type { RedisBroadcast } from '@scoregw/quota-redis'
import { type SettingsWrite, type SqlSettings, sqlSettings, type WatchOptions } from '@scoregw/quota-sql'
import { type Deed, writeDown } from '../audit/audit.ts'
import { COUNTERS, type Db } from '../db/schema.ts'
import type { Logger } from '../log/logger.ts'
import { tableOf } from './names.ts'

/** How stores learn about other processes' changes in the database. */
export const WATCHING: WatchOptions = { prefix: COUNTERS, pollMs: 500 }

/** Quota settings in the database. Each change is recorded in the audit trail. */
export function settingsOn(db: Db, clock: Clock): SqlSettings {
  return sqlSettings({
    db,
    clock,
    ...WATCHING,
    onWrite: (transaction, write) => writeDown(transaction, clock, write.by, [deedOf(write)]),
  })
}

function deedOf({ subject, before, after }: SettingsWrite): Deed {
  const documents = { before: recordOf(before), after: recordOf(after) }
  return subject === undefined
    ? { action: 'settings.change', ...documents }
    : { action: 'user-quota.change', subject: legible(subject.key), ...documents }
}

/** Replaces characters that a text column can't store. No user id contains them. */
function legible(key: string): string {
  return key.toWellFormed().replaceAll('\0', '\uFFFD')
}

function recordOf(document: unknown): object | null {
  return typeof document === 'object' ? document : { document }
}

/** A stored document as the routes for administrators show it: limits as tables, and the site's switches. */
export function shownInAudit(stored: unknown): Readonly<Record<string, unknown>> {
  const { limits, custom, shared, bypass, shadow, plans, thresholds, plan, blocked, until, anchor, ...rest } =
    membersOf(stored)
  return {
    ...rest,
    ...(limits === undefined ? {} : tablesOf(membersOf(limits), bypass !== undefined)),
    ...(custom === undefined ? {} : { custom: custom && tableOf(membersOf(custom), undefined) }),
    ...membersOf(shared),
    ...(bypass === undefined ? {} : { bypassSite: membersOf(bypass).site === true }),
  }
}

function tablesOf(limits: Readonly<Record<string, unknown>>, isOfUser: boolean): object {
  const table = tableOf<unknown>(limits, isOfUser ? null : undefined)
  return isOfUser ? { overrides: table.personal } : { base: table }
}

function membersOf(document: unknown): Readonly<Record<string, unknown>> {
  return { ...(document as object) }
}

/**
 * Settings in the database. Other processes learn of changes through Redis immediately. Redis stores the revision
 * announced last. A process that decides with a different revision reads the database and announces its state. This
 * also repairs missed announcements, data that Redis lost, and an older state restored in the database. It happens once
 * {@link poll} or a decision notices.
 */
export class BroadcastSettings implements AsyncSettingsStore {
  readonly sync = false
  readonly isMarked = true
  readonly #stored: SqlSettings
  readonly #broadcast: RedisBroadcast
  readonly #logger: Logger

  constructor(stored: SqlSettings, broadcast: RedisBroadcast, logger: Logger) {
    this.#stored = stored
    this.#broadcast = broadcast
    this.#logger = logger
  }

  async read(): Promise<StoredDocument | undefined> {
    return await this.#stored.read()
  }

  async readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return await this.#stored.readSubject(layer, key)
  }

  async write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    const reply = await this.#stored.write(document, options)
    if (reply.written) await this.#announce({ kind: 'settings' })
    return reply
  }

  async writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    const reply = await this.#stored.writeSubject(layer, key, document, options)
    if (reply.written) await this.#announce({ kind: 'subject', layer, key })
    return reply
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    const unwatch = [this.#stored.watch(listener), this.#broadcast.watch(listener)]
    return () => {
      for (const each of unwatch) each()
    }
  }

  reannounce(revision: string, seen: string): Promise<void> {
    return this.#broadcast.reannounce(revision, seen)
  }

  /** Reads the database for changes that Redis didn't announce. */
  poll(): Promise<void> {
    return this.#stored.poll()
  }

  close(): Promise<void> {
    this.#broadcast.close()
    return this.#stored.close()
  }

  /** Announces a change. Never rejects: the change is stored, and other processes find it in the database. */
  async #announce(change: SettingsChange): Promise<void> {
    try {
      // Announces the current revision, because another change may have followed.
      const { revision } = (await this.#stored.read()) ?? { revision: '' }
      await this.#broadcast.announce(revision, change)
    } catch (error) {
      this.#logger.warn({ err: error }, 'a change of the settings could not be announced')
    }
  }
}
