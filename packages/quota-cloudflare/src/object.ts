/// <reference path="./workers-runtime.d.ts" />
import { DurableObject, type DurableObjectStorage } from 'cloudflare:workers'
import { QuotaError } from '@scoregw/quota'
import { errorText } from '@scoregw/quota/internal'
import type { EndedHold, StoreSchema, SyncCounters, SyncStore } from '@scoregw/quota/store'
import { type SqliteConnection, syncSqliteStore } from '@scoregw/quota-sql/sqlite'
import type { Answered, CounterCall, SettingsCall } from './calls.ts'
import { StoredSettings } from './stored-settings.ts'
import { createTables } from './tables.ts'

/** How often an object in use does its housekeeping. */
const HOUR_MS = 3_600_000
/** At most this many ended holds are kept for the next `sweep`. */
const MAX_ENDED = 1_000
/** Ending holds needs no schema: their records suffice. */
const NO_SCHEMA: StoreSchema = { units: [], layers: [], sets: [] }
const NEXT_END = `select min(at) as at from (select min(ends_at) as at from quota_rows
  union all select min(expires_at) from quota_ids union all select min(hold_ends_at) from quota_ids where hold_ends_at is not null)`
const NEXT_HOLD_END = 'select min(hold_ends_at) as at from quota_ids where hold_ends_at is not null'

/**
 * Counters in a Durable Object with SQLite. Export this class from your Worker, or a class that extends it. Bind it as
 * the namespace of `durableObjectStore()`. Each decision is one synchronous transaction. The runtime sends the response
 * only after the write is durable.
 */
export class QuotaDurableObject<Env = unknown> extends DurableObject<Env> {
  readonly #storage: DurableObjectStorage
  readonly #settings: StoredSettings
  readonly #schemas = new Map<string, SyncCounters>()
  /** Opened by the first call, so that an error, such as `other_version`, reaches its caller with its code. */
  #opened: { readonly store: SyncStore; readonly sweeper: SyncCounters } | undefined
  /** Ended holds that no `sweep` has returned. */
  readonly #ended: EndedHold[] = []
  /** When the next alarm fires, in epoch milliseconds; 0: no alarm is set. */
  #alarmAt = 0
  /** The instant of the current call: a hold that is open when the call begins is open in all of it. */
  #now = 0

  constructor(ctx: ConstructorParameters<typeof DurableObject>[0], env: Env) {
    super(ctx, env)
    this.#storage = ctx.storage as unknown as DurableObjectStorage
    createTables(this.#storage.sql)
    this.#settings = new StoredSettings(this.#storage, () => this.now())
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = (await this.#storage.getAlarm()) ?? 0
    })
  }

  /** Returns epoch milliseconds. Tests override it to control time. */
  protected now(): number {
    return Date.now()
  }

  /**
   * Receives holds that expired unsettled, with the next call to the object, else within an hour. Override it to act on
   * them. The runtime logs errors that it throws; they have no other effect.
   */
  protected quotaHoldsEnded?(ended: readonly EndedHold[]): void | Promise<void>

  /**
   * Executes calls of `durableObjectStore()` in order.
   *
   * @param schema of the policy
   * @param seen the mark of the caller's settings; if it is outdated, the result is `stale`
   */
  quotaCalls(schema: StoreSchema, calls: readonly CounterCall[], seen?: string): readonly Answered[] {
    return calls.map((call) => this.#answered(() => this.#counted(schema, call, seen)))
  }

  /** Executes a call of `durableObjectSettings()`. */
  quotaSettings({ method, request }: SettingsCall): Answered {
    return this.#answered(() => {
      this.#open()
      return this.#settings[method](request as never)
    })
  }

  /** Housekeeping: settles ended holds, and deletes expired rows. */
  override async alarm(): Promise<void> {
    this.#open()
    this.#now = this.now()
    this.#settleDue()
    for (const [table, column] of [
      ['quota_rows', 'ends_at'],
      ['quota_ids', 'expires_at'],
    ]) {
      this.#storage.sql.exec(`delete from ${table} where ${column} <= ?`, this.#now)
    }
    this.#alarmAt = 0
    const next = this.#first(NEXT_END)
    // Without calls, the object sleeps until the next row expires, or forever when no rows are left.
    if (next !== undefined) this.#wakeIn(Math.max(HOUR_MS, next - this.#now))
  }

  #answered(work: () => unknown): Answered {
    try {
      const value = work()
      return { value, mark: this.#settings.mark() }
    } catch (error) {
      return { code: error instanceof QuotaError ? error.code : 'store_error', message: errorText(error) }
    }
  }

  #counted(schema: StoreSchema, call: CounterCall, seen: string | undefined): unknown {
    const { method, request } = call
    this.#open()
    this.#now = this.now()
    if (method === 'sweep') return { open: this.#sweep(), ended: this.#ended.splice(0) }
    this.#settleDue()
    const isMarked = 'settingsRevision' in request && request.settingsRevision !== undefined
    if (isMarked && seen !== undefined && seen !== this.#settings.mark()) {
      const settingsRevision = this.#settings.readText({ layer: '', subject: '' })?.revision ?? ''
      return { outcome: 'stale', now: this.#now, states: [], settingsRevision }
    }
    const value = carriedOut(this.#counters(schema), call)
    const isRead = method === 'read' || method === 'list'
    if (!isRead && (this.#alarmAt === 0 || this.#alarmAt > Date.now() + HOUR_MS)) this.#wakeIn(HOUR_MS)
    return value
  }

  #counters(schema: StoreSchema): SyncCounters {
    const name = JSON.stringify(schema)
    const counters = this.#schemas.get(name) ?? this.#open().store.open(schema)
    this.#schemas.set(name, counters)
    return counters
  }

  #open(): { readonly store: SyncStore; readonly sweeper: SyncCounters } {
    if (this.#opened === undefined) {
      const store = syncSqliteStore({ database: connectionTo(this.#storage), clock: { now: () => this.#now } })
      this.#opened = { store, sweeper: store.open(NO_SCHEMA) }
    }
    return this.#opened
  }

  /** Settles ended holds before each call. Only calls can observe counters, so no timer is needed. */
  #settleDue(): void {
    const next = this.#first(NEXT_HOLD_END)
    if (next !== undefined && next <= this.#now) this.#sweep()
  }

  /** Settles ended holds. @returns the number of open ones */
  #sweep(): number {
    const { ended, open } = this.#open().sweeper.holds!.sweep()
    this.#ended.push(...ended.slice(0, MAX_ENDED - this.#ended.length))
    if (ended.length > 0) this.ctx.waitUntil((async () => this.quotaHoldsEnded?.(ended))())
    return open
  }

  #first(text: string): number | undefined {
    const [row] = this.#storage.sql.exec(text).toArray()
    return (row?.at as number | null) ?? undefined
  }

  #wakeIn(ms: number): void {
    this.#alarmAt = Date.now() + ms
    void this.#storage.setAlarm(this.#alarmAt)
  }
}

function carriedOut(counters: SyncCounters, { method, request }: CounterCall): unknown {
  if (method === 'take' || method === 'read' || method === 'settle' || method === 'reset') {
    return counters[method](request as never)
  }
  const holds = counters.holds!
  return method === 'settleHold' ? holds.settle(request as never) : holds[method as 'list'](request as never)
}

/** The object's SQLite storage as a connection. */
function connectionTo(storage: DurableObjectStorage): SqliteConnection {
  const all = (text: string, values: readonly unknown[]): unknown => storage.sql.exec(text, ...values).toArray()
  return {
    prepare: (text) => ({ all: (...values) => all(text, values), run: (...values) => all(text, values) }),
    exec: (text) => storage.sql.exec(text),
    transactionSync: (work) => storage.transactionSync(work),
  }
}
