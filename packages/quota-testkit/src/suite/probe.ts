import assert from 'node:assert/strict'
import { QuotaError, type QuotaErrorCode } from '@scoregw/quota'
import { keyName } from '@scoregw/quota/internal'
import type {
  AsyncHolds,
  Counters,
  EndedHold,
  HoldReply,
  ListHoldsReply,
  Overrun,
  QuotaStore,
  ReadReply,
  ReservationId,
  SettleHoldOutcome,
  SettleHoldReply,
  StoreSchema,
  SubjectKeys,
  SyncHolds,
  TakeOutcome,
  TakeReply,
} from '@scoregw/quota/store'
import { type Limits, MINUTE_MS, placed } from './limits.ts'

/** More holds than any case has. */
const MOST_ENDED = 1_000
/** The default lifetime of holds. Shorter than any window. */
export const HOLD_MS: number = MINUTE_MS

/** Amounts by unit. A number is of the first unit. */
export type Amount = number | Readonly<Record<string, number>>
/** A period and the one after it, in epoch milliseconds. */
export type TwoPeriods = readonly [start: number, end: number, nextEnd: number]
export type State = readonly [startedAt: number, used: number]

/** Something of each limit by its name, or the same of all. */
type OfEach<T> = T | Readonly<Record<string, T>>

/** How a request differs from one of the subject `u`, in all limits. */
export interface Terms {
  readonly subject?: SubjectKeys
  /** Names of layers. Default: those in which the subject has a key */
  readonly layers?: readonly string[]
  /** The name of a set. */
  readonly set?: string | undefined
  readonly limits?: OfEach<number>
  /** How many tokens come back to buckets per length. */
  readonly rates?: number
  /** The period of all calendar windows, or of single ones. */
  readonly period?: TwoPeriods
  readonly periods?: Readonly<Record<string, TwoPeriods>>
  readonly settingsRevision?: string | undefined
  /** Whether the request takes a slot. */
  readonly slot?: boolean
  readonly store?: QuotaStore
  readonly id?: string
  readonly nonce?: string
  readonly fingerprint?: string
  /** How long the id's record is kept. */
  readonly idTtlMs?: number
  readonly ttlMs?: number
  readonly maxHolds?: number
  readonly actual?: Amount
  readonly overrun?: Overrun
  readonly maxOverrun?: Amount
}

/** A reply, with the states of the limits that counted the request. */
export type Shown<Reply> = Reply & { readonly shown: Readonly<Record<string, State>> }

/** The result of a settlement, in short form. */
export type Settled = readonly [outcome: SettleHoldOutcome, charged: Amount, uncharged: Amount, reserved: Amount]

/** Makes an id as an engine does. */
export function idOf(id: string, nonce = 'nonce-a', fingerprint = 'read:1', ttlMs = 600_000): ReservationId {
  return { id, nonce, fingerprint, ttlMs }
}

function isByName<T>(given: OfEach<T>): given is Readonly<Record<string, T>> {
  return typeof given === 'object' && !Array.isArray(given)
}

function ofEach<T>(names: readonly string[], given: OfEach<T>): Readonly<Record<string, T>> {
  return isByName(given) ? given : Object.fromEntries(names.map((name) => [name, given]))
}

/** Asserts the states of a reply. */
export function shows({ shown }: Shown<object>, due: OfEach<State>, why?: string): void {
  assert.deepEqual(shown, ofEach(Object.keys(shown), due), why)
}

/** Asserts that a call throws a `QuotaError` or rejects with one. Without `code`, any code passes. */
export async function throwsCode(call: () => unknown, code?: QuotaErrorCode): Promise<QuotaError> {
  let thrown: unknown
  try {
    await call()
  } catch (error) {
    thrown = error
  }
  assert.ok(thrown instanceof QuotaError, `expected a QuotaError ${code ?? ''}, got ${String(thrown)}`)
  if (code !== undefined) assert.equal(thrown.code, code)
  return thrown
}

/** Calls on one store with limits by their names. Its members are functions, so that a case can take some of them. */
export class Probe {
  readonly schema: StoreSchema
  readonly #names: readonly string[]
  readonly #limits: Limits
  readonly #store: QuotaStore
  readonly #room: OfEach<number>
  readonly #counters = new Map<QuotaStore, Counters>()

  /** @param room of each limit, unless a request says another */
  constructor(store: QuotaStore, limits: Limits, room: OfEach<number> = 10) {
    this.#store = store
    this.#limits = limits
    this.#room = room
    const { schema, names } = placed(limits)
    this.schema = schema
    this.#names = names
  }

  /** The counters of the schema, opened by their first use. */
  readonly counters = (store: QuotaStore = this.#store): Counters => {
    const counters = this.#counters.get(store) ?? store.open(this.schema)
    this.#counters.set(store, counters)
    return counters
  }

  readonly take = async (cost: Amount, terms: Terms = {}): Promise<Shown<TakeReply>> =>
    this.#take(cost, terms, undefined)

  readonly admit = async (cost: Amount, terms: Terms = {}): Promise<Shown<TakeReply>> =>
    gets('admitted', cost, await this.take(cost, terms))

  readonly refuse = async (cost: Amount, terms: Terms = {}): Promise<Shown<TakeReply>> =>
    gets('refused', cost, await this.take(cost, terms))

  readonly read = async (terms: Terms = {}): Promise<Shown<ReadReply>> => {
    const { subject = 'u' } = terms
    const { set, layers, periods } = this.#asked(terms)
    return this.#shown(await this.counters(terms.store).read({ subject, set, layers, periods }), terms)
  }

  /** Asserts when limits started and what is used of them: `-1`, `0` while nothing is charged. */
  readonly isAt = async (due: OfEach<State>, terms: Terms = {}, why?: string): Promise<void> =>
    shows(await this.read(terms), due, why)

  /** What is used of each limit. */
  readonly used = async (terms: Terms = {}): Promise<Record<string, number>> => {
    const { shown } = await this.read(terms)
    return Object.fromEntries(Object.entries(shown).map(([name, [, used]]) => [name, used]))
  }

  /** Asserts what is used of each limit. */
  readonly isUsed = async (due: OfEach<number>, terms: Terms = {}, why?: string): Promise<void> => {
    const used = await this.used(terms)
    assert.deepEqual(used, ofEach(Object.keys(used), due), why)
  }

  /** @param reply `undefined`: nothing was charged, as far as the caller knows */
  readonly cancel = async (reply: TakeReply | undefined, refund: Amount, terms: Terms = {}): Promise<void> =>
    this.#settle(reply, refund, 'cancelled', terms)

  /** @param refund what the work didn't need */
  readonly commit = async (reply: TakeReply | undefined, refund: Amount, terms: Terms = {}): Promise<void> =>
    this.#settle(reply, refund, 'committed', terms)

  /** Closes the limits of some layers, or these alone. */
  readonly reset = async (terms: Terms = {}, names?: readonly string[]): Promise<void> => {
    const { subject = 'u', store } = terms
    const limits = names === undefined ? this.#counted(terms) : names.map((name) => this.#names.indexOf(name))
    await this.counters(store).reset({ subject, limits })
  }

  /** Requests a hold with an id, and returns any reply. */
  readonly hold = async (id: string, cost: Amount, terms: Terms = {}): Promise<Shown<TakeReply>> => {
    const { ttlMs = HOLD_MS, maxHolds = 100 } = terms
    return this.#take(cost, { ...terms, id }, { ttlMs, maxHolds })
  }

  readonly held = async (id: string, cost: Amount, terms: Terms = {}): Promise<Shown<TakeReply>> =>
    gets('admitted', cost, await this.hold(id, cost, terms))

  readonly extend = async (id: string, ttlMs: number, terms: Terms = {}): Promise<HoldReply> =>
    this.#holds(terms).extend({ ...ref(id, terms), ttlMs })

  readonly grow = async (id: string, cost: Amount, terms: Terms = {}): Promise<Shown<HoldReply>> => {
    const asked = { ...ref(id, terms), ...this.#asked(terms), settingsRevision: terms.settingsRevision }
    return this.#shown(await this.#holds(terms).grow({ ...asked, costs: [...this.#amounts(cost), 0] }), terms)
  }

  readonly settle = async (
    id: string,
    as: 'committed' | 'cancelled',
    terms: Terms = {},
  ): Promise<Shown<SettleHoldReply>> => {
    const { actual, overrun = 'refuse', maxOverrun = 0 } = terms
    const asked = { ...ref(id, terms), ...this.#asked(terms), as, overrun, maxOverrun: this.#amounts(maxOverrun) }
    const given = actual === undefined ? undefined : this.#amounts(actual)
    return this.#shown(await this.#holds(terms).settle({ ...asked, actual: given }), terms)
  }

  /** Commits, and returns the result in short form. */
  readonly committed = async (id: string, terms: Terms = {}): Promise<Settled> => {
    const { outcome, charged, uncharged, reserved } = await this.settle(id, 'committed', terms)
    return [outcome, this.amount(charged), this.amount(uncharged), this.amount(reserved)]
  }

  readonly released = async (id: string, terms: Terms = {}): Promise<SettleHoldOutcome> =>
    (await this.settle(id, 'cancelled', terms)).outcome

  /** The open holds of a subject. */
  readonly list = async (terms: Terms = {}): Promise<ListHoldsReply['holds']> =>
    (await this.#holds(terms).list({ subject: terms.subject ?? 'u' })).holds

  /** Sweeps until nothing is left, and returns the ended holds. */
  readonly sweep = async (store?: QuotaStore): Promise<readonly EndedHold[]> => {
    const all: EndedHold[] = []
    for (let ended: readonly EndedHold[]; ; all.push(...ended)) {
      ended = (await this.#holds(store ? { store } : {}).sweep()).ended
      if (ended.length === 0) return all
      assert.ok(all.length < MOST_ENDED, 'a sweep ends no hold twice')
    }
  }

  /** The number of open holds of all subjects. */
  readonly open = async (): Promise<number> => (await this.#holds({}).sweep()).open

  /** Amounts in short form: a number if there is only one unit. */
  readonly amount = (amounts: readonly number[]): Amount => {
    const [only = 0, ...others] = amounts
    const { units } = this.schema
    return others.length === 0 ? only : Object.fromEntries(units.map((unit, at) => [unit, amounts[at] ?? 0]))
  }

  #amounts(amount: Amount): number[] {
    const given = typeof amount === 'number' ? { [this.schema.units[0] ?? '']: amount } : amount
    return this.schema.units.map((unit) => given[unit] ?? 0)
  }

  #holds({ store }: Terms): SyncHolds | AsyncHolds {
    const { holds } = this.counters(store)
    assert.ok(holds !== undefined, 'a store that can hold has counters with `holds`')
    return holds
  }

  async #take(cost: Amount, terms: Terms, hold: { ttlMs: number; maxHolds: number } | undefined) {
    const { subject = 'u', settingsRevision, id, slot = false } = terms
    const costs = [...this.#amounts(cost), Number(slot)]
    const { layers: _, ...asked } = this.#asked(terms)
    const named = id === undefined ? undefined : ref(id, terms).id
    const reply = await this.counters(terms.store).take({ subject, ...asked, costs, settingsRevision, id: named, hold })
    return this.#shown(reply, terms)
  }

  async #settle(reply: TakeReply | undefined, refund: Amount, as: 'committed' | 'cancelled', terms: Terms) {
    const { subject = 'u', id, store } = terms
    const { set, layers } = this.#asked(terms)
    const of = { subject, set, layers, states: reply?.states ?? [], refunds: this.#amounts(refund), as }
    await this.counters(store).settle({ ...of, id: id === undefined ? undefined : ref(id, terms).id })
  }

  /** The set, layers, limits and periods of a request. */
  #asked(terms: Terms) {
    const { set, limits = {}, rates, period, periods = {} } = terms
    const layers = this.#layers(terms)
    const [asked, room] = [ofEach(this.#names, limits), ofEach(this.#names, this.#room)]
    const cells = this.schema.layers.flatMap((layer) => layer.cells)
    const calendars = this.#names.filter((_, at) => cells[at]?.kind === 'calendar')
    const quotas = {
      layers,
      limits: this.#names.map((name) => asked[name] ?? room[name] ?? 0),
      rates: rates === undefined ? undefined : cells.map(({ kind }) => (kind === 'bucket' ? rates : 0)),
    }
    return {
      set: set === undefined ? 0 : 1 + Object.keys(this.#limits.sets ?? {}).indexOf(set),
      layers,
      quotas,
      periods: calendars.length === 0 ? undefined : calendars.flatMap((name) => periods[name] ?? period ?? []),
    }
  }

  /** The layers of a request: those that it names, or in which its subject has a key. */
  #layers({ subject = 'u', layers }: Terms): number[] {
    return this.schema.layers.flatMap((layer, index) => {
      const hasKey = layer.shared || typeof subject === 'string' || typeof subject[keyName(layer)] === 'string'
      return (layers?.includes(layer.name) ?? hasKey) ? [index] : []
    })
  }

  /** The positions of the limits that count a request. */
  #counted(terms: Terms): number[] {
    const layers = this.#layers(terms)
    const layerOf = this.schema.layers.flatMap(({ cells }, index) => cells.map(() => index))
    const counts = terms.set === undefined ? this.#names : (this.#limits.sets?.[terms.set] ?? [])
    return [...layerOf.keys()].filter(
      (at) => layers.includes(layerOf[at] ?? -1) && counts.includes(this.#names[at] ?? ''),
    )
  }

  /** Names the states of a reply. Those of limits that don't count the request must be as of limits that aren't open. */
  #shown<Reply extends { readonly states: readonly number[] }>(reply: Reply, terms: Terms): Shown<Reply> {
    const { states } = reply
    const counted = states.length === 0 ? [] : this.#counted(terms)
    for (const at of states.keys()) {
      const isOthers = !counted.includes(Math.floor(at / 2))
      if (isOthers) assert.equal(states[at], at % 2 === 0 ? -1 : 0, `${this.#names[Math.floor(at / 2)]} isn't counted`)
    }
    const shown = counted.map((at): [string, State] => [
      this.#names[at] ?? '',
      [states[2 * at] ?? -1, states[2 * at + 1] ?? 0],
    ])
    return { ...reply, shown: Object.fromEntries(shown) }
  }
}

function gets(outcome: TakeOutcome, cost: Amount, reply: Shown<TakeReply>): Shown<TakeReply> {
  assert.equal(reply.outcome, outcome, `a cost of ${JSON.stringify(cost)}, windows ${JSON.stringify(reply.shown)}`)
  return reply
}

function ref(id: string, { subject = 'u', nonce, fingerprint, idTtlMs }: Terms) {
  return { subject, id: idOf(id, nonce, fingerprint, idTtlMs) }
}
