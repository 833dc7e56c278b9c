import assert from 'node:assert/strict'
import { createQuota, definePolicy, QuotaError, type Reservation, type UnitsOf } from '@scoregw/quota'
import { missingOf, type StoreFactory, type StoreHarness } from '@scoregw/quota-testkit'
import { ModelCounters, type ModelId, type ModelLimit } from '@scoregw/quota-testkit/model'
import * as fc from 'fast-check'
import { checkParameters, type HistoryOptions } from './run-history.ts'

const UNITS = ['requests', 'tokens', 'money'] as const
type Unit = (typeof UNITS)[number]
/** The amounts of some units, as a caller writes them; results show all units. */
type Cost = { readonly [unit in Unit]?: number }
type Held = Extract<Reservation<UnitsOf<Unit>>, { readonly status: 'reserved' }>

const LENGTHS_MS = { requests: 20_000, tokens: 50_000, money: 80_000 } as const
const LIMITS = {
  user: { requests: 4, tokens: 12, money: 30 },
  team: { requests: 7, tokens: 18, money: 40 },
  all: { requests: 20, tokens: 25, money: 60 },
} as const
type Layer = keyof typeof LIMITS
const LAYERS = Object.keys(LIMITS) as Layer[]

const OPERATIONS = {
  complete: { category: 'ask', cost: { requests: 1, tokens: 3, money: 2 } },
  list: { category: 'ask', cost: { requests: 1 } },
  late: {
    category: 'ask',
    cost: { requests: 1, tokens: 2, money: 5 },
    overrun: 'charge',
    maxOverrun: { requests: 0, tokens: 3, money: 4 },
  },
} as const
type Operation = keyof typeof OPERATIONS

const POLICY = definePolicy({
  units: UNITS,
  windows: [
    { label: '20s', unit: 'requests' },
    { label: 'tokens', per: '50s', unit: 'tokens' },
    { label: 'money', lengthMs: 80_000, unit: 'money' },
  ],
  categories: ['ask'],
  layers: [{ name: 'user' }, { name: 'team' }, { name: 'all', shared: true }],
  operations: OPERATIONS,
  base: { user: { ask: limitsOf('user') }, team: { ask: limitsOf('team') }, all: { ask: limitsOf('all') } },
})

function limitsOf(layer: Layer) {
  const { requests, tokens, money } = LIMITS[layer]
  return { '20s': requests, tokens, money }
}

const amount = fc.option(fc.nat(6), { nil: undefined })
const cost = fc.record({ requests: fc.option(fc.nat(2), { nil: undefined }), tokens: amount, money: amount })
const step = fc.record({
  kind: fc.constantFrom('consume', 'reserve', 'hold', 'hold', 'commit', 'commit', 'cancel', 'add', 'wait', 'wait'),
  operation: fc.constantFrom(...(Object.keys(OPERATIONS) as Operation[])),
  user: fc.constantFrom('ann', 'bob'),
  cost,
  at: fc.nat(9),
  ms: fc.constantFrom(1, 4_999, 5_001, 20_000, 50_001),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The visible part of a record. */
function said(record: { readonly [unit in Unit]?: number | undefined }): Cost {
  return Object.fromEntries(UNITS.flatMap((unit) => (record[unit] === undefined ? [] : [[unit, record[unit]]])))
}

function whole(record: Cost, missing: Cost = {}): Record<Unit, number> {
  return Object.fromEntries(UNITS.map((unit) => [unit, record[unit] ?? missing[unit] ?? 0])) as Record<Unit, number>
}

/** A reservation with the model's. */
interface Pair {
  readonly real: Held
  readonly operation: Operation
  readonly user: string
  readonly costs: Record<Unit, number>
  /** Set for a hold; for a reservation, the starts of its charges. */
  readonly id?: ModelId | undefined
  readonly starts: readonly (readonly [name: string, startedAt: number])[]
}

/** One engine over several units, and its expected answers, from counters that are plain objects. */
class UnitHistory {
  readonly #harness: StoreHarness
  readonly #quota
  readonly #model: ModelCounters
  readonly #pairs: Pair[] = []
  #holds = 0

  constructor(harness: StoreHarness) {
    this.#harness = harness
    const { store, clock } = harness
    this.#quota = createQuota({ policy: POLICY, store, clock, logger: false })
    this.#model = new ModelCounters(clock)
  }

  async play(played: Step): Promise<void> {
    if (played.kind === 'wait') await this.#wait(played.ms)
    else if (played.kind === 'consume') await this.#consume(played)
    else if (played.kind === 'reserve' || played.kind === 'hold') await this.#reserve(played)
    else await this.#settle(played)
    for (const user of ['ann', 'bob']) await this.#record(user)
  }

  close(): Promise<void> {
    return this.#quota.close()
  }

  async #wait(ms: number): Promise<void> {
    await this.#harness.advance(ms)
    await this.#quota.holds.sweep()
    this.#model.sweep()
  }

  async #consume({ operation, user, cost: given }: Step): Promise<void> {
    const costs = whole(said(given), OPERATIONS[operation].cost)
    const taken = this.#model.take({ costs, windows: windowsOf(user) })
    const decision = await this.#quota.consume({ subject: subjectOf(user), operation, ...costOf(given) })
    assert.deepEqual([decision.allowed, decision.cost], [taken.outcome === 'admitted', costs])
  }

  async #reserve({ kind, operation, user, cost: given }: Step): Promise<void> {
    const costs = whole(said(given), OPERATIONS[operation].cost)
    const name = `hold ${this.#holds++}`
    const id = kind === 'hold' ? { name, holder: name, use: operation, ttlMs: 600_000 } : undefined
    const hold = id && { owner: user, ttlMs: 10_000, maxHolds: Number.POSITIVE_INFINITY, slots: [] }
    const isFree = UNITS.every((unit) => costs[unit] === 0) && id === undefined
    const taken = this.#model.take({ costs, windows: windowsOf(user), id, hold })
    const ttl = id === undefined ? {} : { ttlMs: 10_000 }
    const real = await this.#quota.reserve({ subject: subjectOf(user), operation, ...costOf(given), ...ttl })
    assert.equal(real.status, taken.outcome === 'admitted' ? 'reserved' : taken.outcome)
    if (real.status !== 'reserved' || isFree) return
    const starts = Object.entries(taken.charged).map(([window, { startedAt }]) => [window, startedAt] as const)
    this.#pairs.push({ real, operation, user, costs, id, starts })
  }

  async #settle({ kind, cost: given, at }: Step): Promise<void> {
    const pair = this.#pairs[at % Math.max(1, this.#pairs.length)]
    if (pair === undefined) return
    const record = said(given)
    if (kind === 'add') return this.#add(pair, record)
    const as = kind === 'commit' ? 'committed' : 'cancelled'
    const isSaid = as === 'committed' && Object.keys(record).length > 0
    const actual = isSaid ? record : {}
    const expected = pair.id === undefined ? this.#settlePlain(pair, as, actual) : this.#settleHold(pair, as, actual)
    const { real } = pair
    const answer = await answerOf(() => (as === 'cancelled' ? real.cancel() : real.commit(isSaid ? record : undefined)))
    assert.deepEqual(answer, as === 'cancelled' ? undefined : expected, kind)
    if (typeof expected !== 'string') this.#pairs.splice(this.#pairs.indexOf(pair), 1)
  }

  async #add({ real, user, id }: Pair, record: Cost): Promise<void> {
    if (id === undefined || UNITS.every((unit) => !record[unit])) return
    const { outcome } = this.#model.grow(id, whole(record), windowsOf(user))
    const expected = { held: true, refused: false }[outcome as string] ?? 'reservation_expired'
    const answer = await answerOf(async () => {
      const decision = await real.add(record)
      assert.deepEqual(decision.cost, whole(record))
      return decision.allowed
    })
    assert.deepEqual(answer, expected, 'add')
  }

  #settlePlain({ costs, starts, user }: Pair, as: 'committed' | 'cancelled', actual: Cost): unknown {
    const spent = as === 'cancelled' ? whole({}) : whole(actual, costs)
    if (UNITS.some((unit) => spent[unit] > costs[unit])) return 'commit_above_reservation'
    for (const { name, unit } of windowsOf(user)) {
      const started = starts.find(([window]) => window === name)
      if (started !== undefined) this.#model.windows.refund(name, started[1], costs[unit as Unit] - spent[unit as Unit])
    }
    return { charged: spent, uncharged: whole({}) }
  }

  #settleHold({ operation, user, id }: Pair, as: 'committed' | 'cancelled', actual: Cost): unknown {
    const { overrun = 'refuse', maxOverrun = {} } = OPERATIONS[operation] as {
      readonly overrun?: 'refuse' | 'charge'
      readonly maxOverrun?: Cost
    }
    const terms = { as, actual, overrun, maxOverrun: whole(maxOverrun), windows: windowsOf(user) }
    const { outcome, charged = {}, uncharged = {} } = this.#model.settleHold(id as ModelId, terms)
    if (outcome === 'above') return 'commit_above_reservation'
    return outcome === 'settled' ? { charged: whole(charged), uncharged: whole(uncharged) } : 'reservation_expired'
  }

  async #record(user: string): Promise<void> {
    const { windows } = await this.#quota.status(subjectOf(user))
    const shown = windows.ask?.map(({ used, startedAt, unit }) => [unit, used, startedAt])
    const expected = windowsOf(user).map(({ name, span, unit }) => {
      const open = this.#model.windows.open(name, span)
      return [unit, open?.used ?? 0, open?.startedAt ?? null]
    })
    assert.deepEqual(shown, expected, `what ${user} has used`)
  }
}

function costOf(given: Step['cost']): { readonly cost?: Cost } {
  const record = said(given)
  return Object.keys(record).length === 0 ? {} : { cost: record }
}

async function answerOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof QuotaError) return error.code
    throw error
  }
}

function subjectOf(user: string): { readonly user: string; readonly team: string } {
  return { user, team: 'team' }
}

/** The windows of a subject's layers, as the model names them, in the policy's order. */
function windowsOf(user: string): ModelLimit[] {
  return LAYERS.flatMap((layer) =>
    UNITS.map((unit) => {
      const name = `${layer} ${layer === 'user' ? user : ''} ${unit}`
      return { name, unit, span: { lengthMs: LENGTHS_MS[unit] }, limit: LIMITS[layer][unit] }
    }),
  )
}

/**
 * Plays random histories of one engine over several units, on a store and on the model's counters. Every answer and
 * every counter must be the same.
 *
 * @returns the number of steps played; 0 on a store without holds
 * @throws the shortest history that differs, and its seed
 */
export async function runUnitHistories(factory: StoreFactory, options: HistoryOptions = {}): Promise<number> {
  const probe = await factory({})
  const canHold = missingOf(probe, 'holds') === undefined
  await probe.stop()
  if (!canHold) return 0
  let steps = 0
  const histories = fc.array(step, { minLength: 1, maxLength: options.maxSteps ?? 40, size: 'max' })
  const property = fc.asyncProperty(histories, async (history) => {
    const harness = await factory({})
    const played = new UnitHistory(harness)
    try {
      for (const each of history) await played.play(each)
      steps += history.length
    } finally {
      await played.close()
      await harness.stop()
    }
  })
  await fc.assert(property, checkParameters(options))
  return steps
}
