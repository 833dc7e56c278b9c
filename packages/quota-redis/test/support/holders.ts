import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import { type CellDefinition, cellsIn, hash32, type Settled, slotsCell, windowCell } from '@scoregw/quota/internal'
import type {
  AsyncHolds,
  HoldReply,
  Overrun,
  Quotas,
  ReservationId,
  SettleHoldReply,
  SettleHoldRequest,
  StoreSchema,
  TakeReply,
} from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { Redis } from 'ioredis'
import { type RedisCounters, type RedisStore, redisStore } from '../../src/index.ts'

const HOUR = windowCell({ label: '1h', lengthMs: 3_600_000 })
const MONTH = windowCell({ label: 'month', every: 'month', timeZone: 'UTC' })
const UNITS = ['tokens']
const LAYERS = [
  { name: 'personal', shared: false },
  { name: 'site', shared: true },
]

/** Counters of one hour and of slots, and parts of that and more, as other policies have. */
export const HOURS: StoreSchema = schemaOf([HOUR])
export const SLOTS: StoreSchema = schemaOf([HOUR, slotsCell('running')])
export const MONTHS: StoreSchema = schemaOf([HOUR, MONTH])
export const EVERYTHING: StoreSchema = schemaOf([HOUR, MONTH, slotsCell('running')])

function schemaOf(cells: readonly CellDefinition[]): StoreSchema {
  return uniform(UNITS, cellsIn(UNITS, cells), LAYERS)
}

/** What one holder of holds works with. */
export interface HolderOptions {
  readonly port: number
  readonly prefix: string
  readonly schema: StoreSchema
  /** Of each limit of a row in turn. */
  readonly limits: readonly number[]
  readonly clock?: Clock | undefined
  readonly deadlineMs?: number | undefined
}

const FAR = 4_102_444_800_000

/** The difference from a usual hold. */
export interface HoldOverrides {
  readonly ttlMs?: number
  readonly slot?: boolean
  readonly nonce?: string
  readonly maxHolds?: number
  /** Limits and layers, where they are not the usual ones. */
  readonly quotas?: Quotas
  readonly settingsRevision?: string
}

/** The outcome of a hold, in tokens. */
interface Ended extends Omit<SettleHoldReply, keyof Settled | 'added'>, Settled<number> {
  readonly added: number | undefined
}

/** One process of several, with holds on one subject. */
export class Holder {
  readonly store: RedisStore
  readonly counters: RedisCounters
  readonly #options: HolderOptions
  /** When the month began. */
  readonly #began: number

  constructor(options: HolderOptions) {
    const { port, prefix, schema, clock, deadlineMs = 1_000 } = options
    const client = new Redis({ port, lazyConnect: true })
    this.#options = options
    const now = new Date(clock?.now() ?? Date.now())
    this.#began = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)
    this.store = redisStore({ client, prefix, deadlineMs, testClock: clock })
    this.counters = this.store.open(schema)
  }

  get holds(): AsyncHolds {
    if (this.counters.holds === undefined) throw new TypeError('there are no holds')
    return this.counters.holds
  }

  take(cost: number, subject = 'u'): Promise<TakeReply> {
    return this.counters.take({ ...this.#terms(subject), costs: [cost, 0] })
  }

  hold(id: string, cost: number, terms: HoldOverrides = {}): Promise<TakeReply> {
    const { ttlMs = 60_000, slot = false, nonce = 'n', maxHolds = 1_000, ...more } = terms
    const hold = { ttlMs, maxHolds }
    const costs = [cost, Number(slot)]
    return this.counters.take({ ...this.#terms(), ...more, costs, id: idOf(id, nonce), hold })
  }

  async extend(id: string, ttlMs: number): Promise<HoldReply> {
    return this.holds.extend({ subject: 'u', id: idOf(id), ttlMs })
  }

  async grow(id: string, tokens: number): Promise<HoldReply> {
    return this.holds.grow({ ...this.#terms(), id: idOf(id), costs: [tokens, 0] })
  }

  commit(id: string, actual?: number, overrun: Overrun = 'refuse', nonce = 'n'): Promise<Ended> {
    const of = actual === undefined ? undefined : [actual]
    const settle = { as: 'committed', actual: of, overrun, maxOverrun: [1_000] } as const
    return this.#settle({ ...this.#terms(), id: idOf(id, nonce), ...settle })
  }

  cancel(id: string, nonce = 'n'): Promise<Ended> {
    const settle = { as: 'cancelled', overrun: 'refuse', maxOverrun: [0] } as const
    return this.#settle({ ...this.#terms(), id: idOf(id, nonce), ...settle })
  }

  async #settle(request: SettleHoldRequest): Promise<Ended> {
    const { charged, uncharged, reserved, added, ...reply } = await this.holds.settle(request)
    const settled = { charged: charged[0]!, uncharged: uncharged[0]!, reserved: reserved[0]! }
    return { ...reply, ...settled, added: added?.[0] }
  }

  /** The used amount of each limit of the first layer. */
  async used(subject = 'u'): Promise<number[]> {
    const { periods } = this.#terms()
    const { states } = await this.counters.read({ subject, set: 0, layers: [0], periods })
    return states.slice(0, states.length / 2).filter((_, index) => index % 2 === 1)
  }

  close(): Promise<void> {
    return this.store.close()
  }

  #terms(subject = 'u') {
    const { schema, limits } = this.#options
    const quotas = { layers: [0, 1], limits: [...limits, ...limits] }
    const calendars = schema.layers[0]!.cells.filter(({ kind }) => kind === 'calendar')
    const period = [this.#began, FAR, 2 * FAR]
    const periods = calendars.length === 0 ? undefined : [...period, ...period]
    return { subject, set: 0, quotas, periods }
  }
}

function idOf(id: string, nonce = 'n'): ReservationId {
  return { id, nonce, fingerprint: `f${hash32(id) % 2}`, ttlMs: 600_000 }
}

/**
 * Takes a hold on the server at a port, says so, and lives until it is killed.
 *
 * @public The text of the child's program imports it.
 */
export async function holdAndWait(port: number, prefix: string, tokens: number, ttlMs: number): Promise<void> {
  const holder = new Holder({ port, prefix, schema: SLOTS, limits: [500, 2] })
  await holder.store.ready()
  const { outcome, endsAt } = await holder.hold(randomUUID(), tokens, { ttlMs, slot: true })
  process.stdout.write(`${outcome} ${endsAt}\n`)
  setInterval(() => undefined, 60_000)
}
