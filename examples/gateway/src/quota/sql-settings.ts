import type {
  Clock,
  Settings,
  SettingsChange,
  SettingsStore,
  SubjectSettings,
  VersionedSettings,
  VersionedSubjectSettings,
  WriteOptions,
  WriteReply,
} from '@scoregw/quota'
import { type Deed, writeDown } from '../audit/audit-log.ts'
import type { Db } from '../db/schema.ts'

/** Where the settings of everybody are kept. */
const EVERYBODY = { layer: '', key: '' } as const

/** Most changes told one by one; after more, everything is read anew. */
const MAX_TOLD = 1_000

interface Place {
  readonly layer: string
  readonly key: string
}

/**
 * Quota settings in the database, versioned, with a record of who changed what. Every process that shares the database
 * hears of changes when it calls {@link poll}, which is to happen more than once a second.
 */
export class SqlSettings implements SettingsStore {
  readonly sync = false
  readonly #db: Db
  readonly #clock: Clock
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  /** The last change this process has told of. */
  #seenSeq: number
  #polling: Promise<void> | undefined

  private constructor(db: Db, clock: Clock, seenSeq: number) {
    this.#db = db
    this.#clock = clock
    this.#seenSeq = seenSeq
  }

  static async open(db: Db, clock: Clock): Promise<SqlSettings> {
    const { last_seq } = await db.selectFrom('quota_change_counter').select('last_seq').executeTakeFirstOrThrow()
    return new SqlSettings(db, clock, last_seq)
  }

  async read(): Promise<VersionedSettings | undefined> {
    return this.#read<VersionedSettings>(EVERYBODY)
  }

  async write(settings: Settings, options: WriteOptions): Promise<WriteReply> {
    return this.#write(EVERYBODY, settings, options)
  }

  async readSubject(layer: string, key: string): Promise<VersionedSubjectSettings | undefined> {
    return this.#read<VersionedSubjectSettings>({ layer, key })
  }

  async writeSubject(
    layer: string,
    key: string,
    settings: SubjectSettings | null,
    options: WriteOptions,
  ): Promise<WriteReply> {
    return this.#write({ layer, key }, settings, options)
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Looks for changes since the last look and tells of them; calls at the same time share one look. */
  poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  async #poll(): Promise<void> {
    const changes = await this.#db
      .selectFrom('quota_changes')
      .select(['seq', 'layer', 'key'])
      .where('seq', '>', this.#seenSeq)
      .orderBy('seq', 'desc')
      .limit(MAX_TOLD + 1)
      .execute()
    const newest = changes[0]
    if (newest === undefined) return
    this.#seenSeq = newest.seq
    if (changes.length > MAX_TOLD) this.#tell({ kind: 'everything' })
    else for (const place of changes.reverse()) this.#tell(changeOf(place))
  }

  async #read<T>({ layer, key }: Place): Promise<T | undefined> {
    const row = await this.#db
      .selectFrom('quota_settings')
      .select(['version', 'document'])
      .where('layer', '=', layer)
      .where('key', '=', key)
      .executeTakeFirst()
    if (row === undefined || row.document === null) return undefined
    return { ...JSON.parse(row.document), version: row.version } as T
  }

  async #write(place: Place, document: object | null, { ifVersion, by }: WriteOptions): Promise<WriteReply> {
    const text = document === null ? null : JSON.stringify(document)
    const reply = await this.#db.transaction().execute(async (transaction): Promise<WriteReply> => {
      // A write comes first: it makes writers of all processes take turns, so that sequence numbers come in the order
      // of the commits and nobody who polls can miss one.
      const { last_seq } = await transaction
        .updateTable('quota_change_counter')
        .set(({ ref }) => ({ last_seq: ref('last_seq') }))
        .returning('last_seq')
        .executeTakeFirstOrThrow()
      const before = await transaction
        .selectFrom('quota_settings')
        .select(['version', 'document'])
        .where('layer', '=', place.layer)
        .where('key', '=', place.key)
        .executeTakeFirst()
      const stored = before === undefined || before.document === null ? 0 : before.version
      if (ifVersion !== undefined && ifVersion !== stored) return { written: false, version: stored }
      const version = (before?.version ?? 0) + 1
      await transaction
        .insertInto('quota_settings')
        .values({ ...place, version, document: text })
        .onConflict((conflict) => conflict.columns(['layer', 'key']).doUpdateSet({ version, document: text }))
        .execute()
      const seq = last_seq + 1
      await transaction
        .insertInto('quota_changes')
        .values({
          seq,
          ...place,
          changed_by: by ?? null,
          changed_at: this.#clock.now(),
          before: before?.document ?? null,
          after: text,
        })
        .execute()
      await transaction.updateTable('quota_change_counter').set({ last_seq: seq }).execute()
      await writeDown(transaction, this.#clock, by ?? null, [deedOf(place, before?.document ?? null, document)])
      return { written: true, version: text === null ? 0 : version }
    })
    if (reply.written) this.#tell(changeOf(place))
    return reply
  }

  #tell(change: SettingsChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

function deedOf({ layer, key }: Place, before: string | null, after: object | null): Deed {
  const documents = { before: before === null ? null : JSON.parse(before), after }
  return layer === ''
    ? { action: 'settings.change', ...documents }
    : { action: 'user-quota.change', subject: key, ...documents }
}

function changeOf({ layer, key }: Place): SettingsChange {
  return layer === '' ? { kind: 'settings' } : { kind: 'subject', layer, key }
}
