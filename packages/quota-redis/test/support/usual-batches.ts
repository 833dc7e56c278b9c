import {
  type CellDefinition,
  cellsIn,
  type Layout,
  type StoreSchema,
  slotsCell,
  windowCell,
} from '@scoregw/quota/store'
import type { Redis } from 'ioredis'
import type { Script } from '../../src/lua/script.ts'
import { Batch } from '../../src/operations/batch.ts'
import { decideScript, generalScript } from '../../src/operations/decide.ts'
import { TakeOperation } from '../../src/operations/take.ts'
import { Keys } from '../../src/store/keys.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
/** When every test batch is decided: half past an hour. */
export const NOW: number = 1_790_000_000_000 - (1_790_000_000_000 % HOUR_MS) + 30 * MINUTE_MS

/** Later than whatever a batch does to the rows that were there. */
const SEEDS_EXPIRE_AT = Date.now() + 20 * 24 * HOUR_MS

const SHORT = windowCell({ label: '5m', lengthMs: 5 * MINUTE_MS })
const MIDDLE = windowCell({ label: '2h', lengthMs: 2 * HOUR_MS })
const LONG = windowCell({ label: '1d', lengthMs: 24 * HOUR_MS })
const CALENDAR = windowCell({ label: 'hour', every: 'hour', timeZone: 'UTC' })
const DAY = windowCell({ label: 'day', every: 'day', timeZone: 'UTC' })

export type ShapeName = 'one' | 'rolling' | 'calendar' | 'calendarAlone' | 'slots'

/** Rows of every kind of cell. */
export const SHAPES: Readonly<Record<ShapeName, readonly CellDefinition[]>> = {
  one: [SHORT],
  rolling: [SHORT, MIDDLE, LONG],
  calendar: [SHORT, CALENDAR, DAY],
  calendarAlone: [CALENDAR],
  slots: [SHORT, MIDDLE, slotsCell('running')],
}

/** Two layers of a subject's own among two that all share. */
function schemaOf(shape: ShapeName): StoreSchema {
  const layers = [
    { name: 'site', shared: true },
    { name: 'org', shared: false },
    { name: 'personal', shared: false },
    { name: 'all', shared: true },
  ]
  return { units: ['tokens'], cells: cellsIn(['tokens'], SHAPES[shape]), categories: ['read', 'write'], layers }
}

/** What a row holds, its windows open since a minute unless said otherwise. */
export interface RowSeed {
  readonly layer: number
  readonly subject: string
  /** By cell: what is used, and when it started, from now. */
  readonly used?: readonly number[] | undefined
  readonly startsInMs?: readonly number[] | undefined
  /** Whether something else than a row is stored there. */
  readonly isHash?: boolean | undefined
  /** Bytes that are changed thereafter. */
  readonly damage?: ((bytes: Buffer) => Buffer) | undefined
}

/** A batch of plain takes of one tariff. */
export interface PlainTakes {
  readonly layers: readonly number[]
  /** A limit a layer and cell. */
  readonly limits: readonly number[]
  readonly cost: number
  /** Whose takes, by the keys of both own layers. */
  readonly subjects: readonly { readonly org: string; readonly personal: string }[]
  /** Their ids, one a take. Without: takes without ids. */
  readonly ids?: readonly string[] | undefined
  /** What the nonces begin with. */
  readonly holder?: string | undefined
  readonly follows?: string | undefined
  /** Hours by which the told periods are behind; of a subject's own anchor, by layer. */
  readonly behind?: readonly number[] | undefined
  /** In place of the calendar's own. */
  readonly periods?: readonly number[] | undefined
}

/** What became of a batch. */
export interface Played {
  /** Whether it was decided as the usual one. */
  readonly isUsual: boolean
  /** What callers heard: replies, or codes of errors. */
  readonly answers: readonly unknown[]
  /** The bytes of every key, by what its name has behind the prefix. */
  readonly stored: Readonly<Record<string, string | undefined>>
  /** When they go, in the same order. */
  readonly expiries: readonly number[]
}

/** Plays batches on one prefix, by the script with the usual part or by that without. */
export class Player {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #keys: Keys
  readonly #layout: Layout
  readonly #script: Script

  constructor(redis: Redis, prefix: string, shape: ShapeName, which: 'usual' | 'general') {
    this.#redis = redis
    this.#prefix = prefix
    this.#keys = new Keys(prefix, schemaOf(shape))
    this.#layout = this.#keys.layout
    this.#script = (which === 'usual' ? decideScript : generalScript)(this.#layout)
  }

  async seed(rows: readonly RowSeed[], revision?: string): Promise<void> {
    if (revision !== undefined) await this.#redis.set(this.#keys.settings, `${revision} and the rest`)
    for (const row of rows) {
      const key = this.#keys.row(row.layer, 0, row.subject)
      if (row.isHash === true) await this.#redis.hset(key, 'field', 'value')
      else await this.#redis.set(key, this.#bytes(row), 'PXAT', SEEDS_EXPIRE_AT)
    }
  }

  /** Stores something that is no record under an id. */
  async seedRecord(subject: string, id: string, isHash: boolean): Promise<void> {
    const key = this.#keys.record(0, { org: subject, personal: subject }, id)
    if (isHash) await this.#redis.hset(key, 'field', 'value')
    else await this.#redis.set(key, 'no record')
  }

  /** The policy's list of limits, as text. */
  get list(): string {
    return this.#layout.list
  }

  /** @param list `undefined`: none is stored */
  async seedList(list: string | undefined): Promise<void> {
    const field = this.#layout.hash.toString(16).padStart(8, '0')
    if (list !== undefined) await this.#redis.hset(this.#keys.lists, field, list)
  }

  async play(takes: PlainTakes): Promise<Played> {
    const answers: unknown[] = []
    const batch = this.#batch(takes, answers)
    const reply = (await this.#redis.callBuffer('EVAL', this.#script.text, ...batch.args())) as unknown as Parameters<
      Batch['answer']
    >[0]
    batch.answer(reply)
    return { isUsual: Buffer.isBuffer(reply), answers, ...(await this.#stored()) }
  }

  #batch(
    { layers, limits, cost, subjects, follows, behind, ids, holder = '', ...told }: PlainTakes,
    answers: unknown[],
  ): Batch {
    const batch = new Batch(this.#keys, NOW)
    const quotas = { layers, limits }
    const periods = told.periods ?? layers.flatMap((_, l) => this.#periods(behind?.[l] ?? 0))
    for (const [index, subject] of subjects.entries()) {
      const terms = { fingerprint: 'operation:', ttlMs: 600_000 }
      const id = ids && { id: ids[index]!, nonce: `${holder}nonce-${index}`, ...terms }
      const request = { subject, category: 0, quotas, cost, settingsRevision: follows, periods, id }
      const hear = (answer: unknown): void => {
        answers[index] = answer
      }
      const waiter = { resolve: hear, reject: (error: unknown) => hear((error as { code?: unknown }).code) }
      batch.add(new TakeOperation(request, waiter, () => undefined))
    }
    return batch
  }

  /** The periods of each calendar window, told by a process whose clock is behind. */
  #periods(hours: number): number[] {
    return this.#layout.calendars.flatMap((cell) => {
      const ms = this.#layout.cells[cell]!.label === 'hour' ? HOUR_MS : 24 * HOUR_MS
      const start = NOW - hours * ms - ((NOW - hours * ms) % ms)
      return [start, start + ms, start + 2 * ms]
    })
  }

  #bytes({ used = [], startsInMs = [], damage = (bytes) => bytes }: RowSeed): Buffer {
    const { size, hash } = this.#layout
    const bytes = Buffer.alloc(5 + 13 * size)
    bytes[0] = 2
    bytes.writeUInt32LE(hash, 1)
    for (let cell = 0; cell < size; cell++) {
      const tokens = BigInt(used[cell] ?? 0)
      bytes.writeUIntLE(Number(BigInt.asUintN(48, tokens)), 5 + 7 * cell, 6)
      bytes.writeUInt8(Number(BigInt.asUintN(8, tokens >> 48n)), 11 + 7 * cell)
      bytes.writeUIntLE(NOW + (startsInMs[cell] ?? -MINUTE_MS), 5 + 7 * size + 6 * cell, 6)
    }
    return damage(bytes)
  }

  async #stored(): Promise<Pick<Played, 'stored' | 'expiries'>> {
    const names = (await this.#redis.keys(`{${this.#prefix}}*`)).sort()
    const bytes = await Promise.all(names.map((name) => this.#redis.dumpBuffer(name)))
    const expiries = await Promise.all(names.map((name) => this.#redis.call('PEXPIRETIME', name)))
    const entries = names.map((name, n) => [name.slice(this.#prefix.length + 2), bytes[n]?.toString('hex')] as const)
    return { stored: Object.fromEntries(entries), expiries: expiries.map(Number) }
  }
}
