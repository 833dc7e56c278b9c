import assert from 'node:assert/strict'
import { QuotaError, type QuotaErrorCode } from '@scoregw/quota'
import { type CellDefinition, cellsIn, type RollingWindow, windowCell } from '@scoregw/quota/internal'
import type {
  CellSchema,
  Counters,
  HoldOptions,
  QuotaStore,
  Quotas,
  ReadReply,
  ReservationId,
  StoreSchema,
  SubjectKeys,
  TakeOutcome,
  TakeReply,
} from '@scoregw/quota/store'
import { schemaOf, type Table, type TableLayer, TableRows } from './table.ts'

export const SECOND_MS = 1_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

export const PERSONAL: TableLayer = { name: 'personal', shared: false }
export const SITE: TableLayer = { name: 'site', shared: true }

/** The units of schemas that only count tokens. */
export const TOKENS_ALONE: readonly string[] = ['tokens']

/** Cells of tokens and slots, in row order. */
export function tokenCells(...limits: readonly CellDefinition[]): readonly CellSchema[] {
  return cellsIn(TOKENS_ALONE, limits)
}

/** The cells of rolling windows, in row order. */
export function rollingCells(...windows: readonly RollingWindow[]): readonly CellSchema[] {
  return tokenCells(...windows.map((window) => windowCell(window)))
}

/** A cost: one number for the first unit, or one number per unit of the schema. */
export type Amount = number | readonly number[]

/** The smallest table: one window of one hour, one category, one layer. */
export const ONE_WINDOW: Table = {
  units: TOKENS_ALONE,
  cells: rollingCells({ label: '1h', lengthMs: HOUR_MS }),
  categories: ['read'],
  layers: [PERSONAL],
}

/** The table of the score gateway's policy: three windows, two categories, two layers. */
export const SIX_WINDOWS: Table = {
  units: TOKENS_ALONE,
  cells: rollingCells(
    { label: '1h', lengthMs: HOUR_MS },
    { label: '5h', lengthMs: 5 * HOUR_MS },
    { label: '1d', lengthMs: DAY_MS },
  ),
  categories: ['read', 'write'],
  layers: [PERSONAL, SITE],
}

/** A period and the one after it, in epoch milliseconds. */
export type TwoPeriods = readonly [start: number, end: number, nextEnd: number]

/** How a request differs from the probe's default. */
export interface ProbeOptions {
  readonly subject?: SubjectKeys
  readonly category?: number
  readonly layers?: readonly number[]
  readonly limits?: readonly number[]
  /** See the quotas of a request. */
  readonly rates?: readonly number[]
  readonly id?: ReservationId
  readonly settingsRevision?: string
  /** The period of all calendar windows. */
  readonly period?: TwoPeriods
  /** The periods of each layer separately. */
  readonly periods?: readonly number[]
  readonly hold?: HoldOptions
  /** Whether the request takes a slot. */
  readonly slot?: boolean
  readonly store?: QuotaStore
}

/** Makes an id as an engine does. */
export function idOf(id: string, nonce = 'nonce-a', fingerprint = 'read:1', ttlMs = 600_000): ReservationId {
  return { id, nonce, fingerprint, ttlMs }
}

/** Calls to one store with one table and default values. Layers, limits and states are those of one category's rows. */
export class Probe {
  readonly table: Table
  readonly schema: StoreSchema
  readonly #store: QuotaStore
  readonly #rows: TableRows
  readonly #limits: readonly number[]
  readonly #period: TwoPeriods | undefined
  readonly #counters = new Map<QuotaStore, Counters>()

  /**
   * @param limits of each cell of each layer; one number: the same for all
   * @param period of all calendar windows
   */
  constructor(store: QuotaStore, table: Table, limits: number | readonly number[], period?: TwoPeriods) {
    this.#store = store
    this.table = table
    this.schema = schemaOf(table)
    this.#rows = new TableRows(table)
    this.#period = period
    const count = table.layers.length * table.cells.length
    this.#limits = typeof limits === 'number' ? Array.from({ length: count }, () => limits) : limits
    this.counters()
  }

  /** The counters of the schema, opened by their first use. */
  counters(store: QuotaStore = this.#store): Counters {
    const counters = this.#counters.get(store) ?? store.open(this.schema)
    this.#counters.set(store, counters)
    return counters
  }

  get #allLayers(): number[] {
    return this.table.layers.map((_, index) => index)
  }

  /** The periods of a request; `undefined` without calendar windows. */
  #periods({ layers = this.#allLayers, period = this.#period, periods }: ProbeOptions) {
    const calendars = this.table.cells.filter(({ kind }) => kind === 'calendar')
    if (calendars.length === 0) return undefined
    const all = period && Array.from({ length: layers.length * calendars.length }, () => period).flat()
    return this.#rows.periods(layers, periods ?? all)
  }

  /** The set, limits and periods of a request. */
  terms(options: ProbeOptions): { set: number; quotas: Quotas; periods: readonly number[] | undefined } {
    const { category = 0, layers = this.#allLayers, limits = this.#limits, rates } = options
    const spread = (given: readonly number[], other: number): number[] =>
      this.#rows.spread(category, layers, given, other)
    const quotas = {
      layers: this.#rows.layers(category, layers),
      limits: spread(limits, Number.POSITIVE_INFINITY),
      rates: rates && spread(rates, 0),
    }
    return { set: this.#rows.set(category), quotas, periods: this.#periods(options) }
  }

  /** Returns a reply with the pairs of the request's rows. */
  compact<R extends { readonly states: readonly number[] }>(
    reply: R,
    { category = 0, layers = this.#allLayers }: ProbeOptions,
  ): R {
    return { ...reply, states: this.#rows.pairs(category, layers, reply.states) }
  }

  /** An amount for each unit of the schema. */
  amounts(amount: Amount): readonly number[] {
    return typeof amount === 'number' ? this.schema.units.map((_, unit) => (unit === 0 ? amount : 0)) : amount
  }

  /** Amounts in short form: a number if there is only one unit. */
  amount(amounts: readonly number[]): Amount {
    return amounts.length === 1 ? (amounts[0] ?? 0) : [...amounts]
  }

  async take(cost: Amount, options: ProbeOptions = {}): Promise<TakeReply> {
    const { subject = 'u', settingsRevision, id, hold, slot = false } = options
    const costs = [...this.amounts(cost), Number(slot)]
    const asked = { subject, ...this.terms(options), costs, settingsRevision, id, hold }
    return this.compact(await this.counters(options.store).take(asked), options)
  }

  async admitted(cost: Amount, options: ProbeOptions = {}): Promise<TakeReply> {
    return this.#took('admitted', cost, options)
  }

  async refused(cost: Amount, options: ProbeOptions = {}): Promise<TakeReply> {
    return this.#took('refused', cost, options)
  }

  /** The windows of a subject and category: `[startedAt, used]` for each. */
  async states(options: ProbeOptions = {}): Promise<number[]> {
    return [...(await this.read(options)).states]
  }

  async read(options: ProbeOptions = {}): Promise<ReadReply> {
    const { subject = 'u', category = 0, layers = this.#allLayers, store } = options
    const set = this.#rows.set(category)
    const asked = { subject, set, layers: this.#rows.layers(category, layers), periods: this.#periods(options) }
    return this.compact(await this.counters(store).read(asked), options)
  }

  /** The used tokens of each window. */
  async used(options: ProbeOptions = {}): Promise<number[]> {
    return (await this.states(options)).filter((_, index) => index % 2 === 1)
  }

  /** The start of each window; -1: not open. */
  async starts(options: ProbeOptions = {}): Promise<number[]> {
    return (await this.states(options)).filter((_, index) => index % 2 === 0)
  }

  async cancel(reply: TakeReply | undefined, cost: Amount, options: ProbeOptions = {}): Promise<void> {
    await this.#settle(reply, cost, 'cancelled', options)
  }

  /** @param refunds the tokens that the work didn't need */
  async commit(reply: TakeReply | undefined, refunds: Amount, options: ProbeOptions = {}): Promise<void> {
    await this.#settle(reply, refunds, 'committed', options)
  }

  async reset({ subject = 'u', category, layers = this.#allLayers, store }: ProbeOptions = {}): Promise<void> {
    const categories = category === undefined ? this.table.categories.map((_, index) => index) : [category]
    const limits = categories.flatMap((each) => this.#rows.positions(each, layers)).sort((a, b) => a - b)
    await this.counters(store).reset({ subject, limits })
  }

  async #took(outcome: TakeOutcome, cost: Amount, options: ProbeOptions): Promise<TakeReply> {
    const reply = await this.take(cost, options)
    assert.equal(reply.outcome, outcome, `a cost of ${String(cost)}, windows ${JSON.stringify(reply.states)}`)
    return reply
  }

  async #settle(
    reply: TakeReply | undefined,
    amount: Amount,
    as: 'committed' | 'cancelled',
    { subject = 'u', category = 0, layers = this.#allLayers, id, store }: ProbeOptions,
  ): Promise<void> {
    const refunds = this.amounts(amount)
    const states = this.#rows.states(category, layers, reply?.states ?? [])
    const set = this.#rows.set(category)
    await this.counters(store).settle({
      ...{ subject, set, layers: this.#rows.layers(category, layers), states },
      ...{ refunds, as, id },
    })
  }
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
