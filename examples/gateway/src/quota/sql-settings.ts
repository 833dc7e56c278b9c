import type { Clock } from '@scoregw/quota'
import type { AsyncSettingsStore } from '@scoregw/quota/store'
import {
  newRevision,
  type SettingsChange,
  type StoredDocument,
  type StoreWriteOptions,
  type WriteReply,
} from '@scoregw/quota/store'
import type { Selectable, Transaction } from 'kysely'
import { type Deed, writeDown } from '../audit/audit-log.ts'
import type { Db, Tables } from '../db/schema.ts'
import { type ChangeMark, changesSince, NO_CHANGE, newestChange } from './sql-changes.ts'
import { keptKey, keyOf } from './sql-keys.ts'

/** Where the settings of everybody are kept. */
const EVERYBODY = { layer: '', key: '' } as const

interface Place {
  readonly layer: string
  /** As it is kept. */
  readonly key: string
}

type Row = Pick<Selectable<Tables['quota_settings']>, 'version' | 'revision' | 'document'>

/**
 * Quota settings in the database, with versions and revisions and a record of who changed what. Every process that
 * shares the database hears of changes when it calls {@link poll}, which is to happen more than once a second.
 */
export class SqlSettings implements AsyncSettingsStore {
  readonly sync = false
  readonly isMarked = false
  readonly #db: Db
  readonly #clock: Clock
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  /** The last change this process has told of. */
  #seen: ChangeMark
  /** The last change this process has made: also of one that it has not yet looked for, it knows when it is gone. */
  #written = NO_CHANGE
  #polling: Promise<void> | undefined

  private constructor(db: Db, clock: Clock, seen: ChangeMark) {
    this.#db = db
    this.#clock = clock
    this.#seen = seen
  }

  static async open(db: Db, clock: Clock): Promise<SqlSettings> {
    return new SqlSettings(db, clock, await newestChange(db))
  }

  async read(): Promise<StoredDocument | undefined> {
    return this.#read(EVERYBODY)
  }

  async write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write(EVERYBODY, document, options)
  }

  async readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return this.#read({ layer, key: keptKey(key) })
  }

  async writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write({ layer, key: keptKey(key) }, document, options)
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    // A function of our own, so that one listener may watch twice.
    const entry = (change: SettingsChange): void => listener(change)
    this.#listeners.add(entry)
    return () => this.#listeners.delete(entry)
  }

  /** Looks for changes since the last look and tells of them; calls at the same time share one look. */
  poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #poll(): Promise<void> {
    const written = this.#written
    const { places, newest } = await changesSince(this.#db, this.#seen, written)
    this.#seen = newest
    if (places === 'everything') {
      if (this.#written === written) this.#written = NO_CHANGE
      this.#tell({ kind: 'everything' })
    } else for (const place of places) this.#tell(changeOf(place))
  }

  async #read({ layer, key }: Place): Promise<StoredDocument | undefined> {
    const row = await this.#db
      .selectFrom('quota_settings')
      .select(['version', 'revision', 'document'])
      .where('layer', '=', layer)
      .where('key', '=', key)
      .executeTakeFirst()
    return stored(row)
  }

  async #write(place: Place, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    const { reply, made } = await this.#db
      .transaction()
      .execute((transaction) => this.#writeIn(transaction, place, document, options))
    if (made.seq > this.#written.seq) this.#written = made
    if (reply.written) this.#tell(changeOf(place))
    return reply
  }

  async #writeIn(
    transaction: Transaction<Tables>,
    place: Place,
    document: unknown,
    { ifRevision, by }: StoreWriteOptions,
  ): Promise<{ readonly reply: WriteReply; readonly made: ChangeMark }> {
    // A write comes first: it makes writers of all processes take turns, so that sequence numbers come in the order
    // of the commits and nobody who polls can miss one.
    const { last_seq } = await transaction
      .updateTable('quota_change_counter')
      .set(({ ref }) => ({ last_seq: ref('last_seq') }))
      .returning('last_seq')
      .executeTakeFirstOrThrow()
    const before = await transaction
      .selectFrom('quota_settings')
      .select(['version', 'revision', 'document'])
      .where('layer', '=', place.layer)
      .where('key', '=', place.key)
      .executeTakeFirst()
    const { version: storedVersion, revision: storedRevision } = stored(before) ?? NOTHING
    if (ifRevision !== undefined && ifRevision !== storedRevision) {
      const reply = { written: false, version: storedVersion, revision: storedRevision }
      return { reply, made: NO_CHANGE }
    }
    const text = document === null ? null : JSON.stringify(document)
    const row: Row = { version: (before?.version ?? 0) + 1, revision: newRevision(), document: text }
    await transaction
      .insertInto('quota_settings')
      .values({ ...place, ...row })
      .onConflict((conflict) => conflict.columns(['layer', 'key']).doUpdateSet(row))
      .execute()
    const seq = last_seq + 1
    const texts = { before: before?.document ?? null, after: text }
    const who = { changed_by: by ?? null, changed_at: this.#clock.now() }
    await transaction
      .insertInto('quota_changes')
      .values({ seq, ...place, ...who, ...texts, revision: row.revision })
      .execute()
    await transaction.updateTable('quota_change_counter').set({ last_seq: seq }).execute()
    await writeDown(transaction, this.#clock, by ?? null, [deedOf(place, texts)])
    const now = text === null ? NOTHING : { version: row.version, revision: row.revision }
    return { reply: { written: true, ...now }, made: { seq, revision: row.revision } }
  }

  #tell(change: SettingsChange): void {
    for (const listener of [...this.#listeners]) listener(change)
  }
}

const NOTHING = { version: 0, revision: '' } as const

function stored(row: Row | undefined): StoredDocument | undefined {
  if (row === undefined || row.document === null) return undefined
  return { document: parsed(row.document), version: row.version, revision: row.revision }
}

/** Text that is no JSON is a document too, of which the engine takes nothing. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function deedOf({ layer, key }: Place, texts: Readonly<Record<'before' | 'after', string | null>>): Deed {
  const before = texts.before === null ? null : recordOf(parsed(texts.before))
  const after = texts.after === null ? null : recordOf(parsed(texts.after))
  return layer === ''
    ? { action: 'settings.change', before, after }
    : { action: 'user-quota.change', subject: key, before, after }
}

function recordOf(document: unknown): object {
  return typeof document === 'object' && document !== null ? document : { document }
}

function changeOf({ layer, key }: Place): SettingsChange {
  return layer === '' ? { kind: 'settings' } : { kind: 'subject', layer, key: keyOf(key) }
}
