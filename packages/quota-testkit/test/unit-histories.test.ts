import { memoryStore } from '@scoregw/quota'
import { cellsIn, slotsCell, windowCell } from '@scoregw/quota/internal'
import type { HoldRef, Quotas, StoreSchema, SyncCounters, WindowStates } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../src/index.ts'
import { modelStore } from './model-store.ts'
import { RUNS, TIMEOUT_MS } from './runs.ts'

const UNITS = ['requests', 'tokens', 'microusd'] as const
type Unit = (typeof UNITS)[number]
/** How long the periods of the calendar are, in milliseconds. */
const PERIOD_MS = 40
const LENGTHS_MS = { requests: 20, tokens: 50, microusd: 80 } as const

/** A window for each unit, and one of the calendar for the first of them. */
function schemaOf(units: readonly Unit[], slots: 'slots' | 'no slots'): StoreSchema {
  const cells = [
    windowCell({ label: 'month', every: 'month', timeZone: 'UTC' }, units[0]),
    ...units.map((unit) => windowCell({ label: unit, lengthMs: LENGTHS_MS[unit] }, unit)),
    ...(slots === 'slots' ? [slotsCell('running')] : []),
  ]
  const layers = ['user', 'team', 'all'].map((name) => ({ name, shared: name === 'all' }))
  return uniform(units, cellsIn(units, cells), layers)
}

/** Those of a history share counters, under whatever places their units have. */
const SCHEMAS = [
  schemaOf(['tokens'], 'no slots'),
  schemaOf(['tokens', 'requests'], 'slots'),
  schemaOf(['requests', 'tokens', 'microusd'], 'slots'),
  schemaOf(['microusd', 'requests', 'tokens'], 'no slots'),
]

const KINDS = ['take', 'take', 'take', 'read', 'settle', 'reset', 'wait', 'wait'] as const
const OF_HOLDS = ['hold', 'hold', 'grow', 'extend', 'end', 'end', 'list', 'sweep'] as const
const amounts = fc.array(fc.nat(4), { minLength: UNITS.length, maxLength: UNITS.length })
const step = fc.record({
  kind: fc.constantFrom(...KINDS, ...OF_HOLDS),
  schema: fc.nat(1),
  user: fc.nat(1),
  id: fc.nat(2),
  amounts,
  more: amounts,
  layers: fc.subarray([0, 1, 2], { minLength: 1 }),
  limits: fc.array(fc.constantFrom(0, 3, 8, 20, Number.POSITIVE_INFINITY), { minLength: 15, maxLength: 15 }),
  ms: fc.integer({ min: 1, max: 60 }),
  as: fc.constantFrom('committed' as const, 'cancelled' as const),
  overrun: fc.constantFrom('refuse' as const, 'charge' as const, 'fit' as const),
  isWhole: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
const histories = fc.record({
  schemas: fc.tuple(fc.constantFrom(...SCHEMAS), fc.constantFrom(...SCHEMAS)),
  steps: fc.array(step, { minLength: 1, maxLength: RUNS.maxSteps, size: 'max' }),
})

/** A store under the schemas of one history. */
class Side {
  readonly #counters: readonly SyncCounters[]
  readonly #schemas: readonly StoreSchema[]
  readonly #now: () => number
  #taken: { readonly step: Step; readonly states: WindowStates } | undefined

  constructor(open: (schema: StoreSchema) => SyncCounters, schemas: readonly StoreSchema[], now: () => number) {
    this.#schemas = schemas
    this.#counters = schemas.map(open)
    this.#now = now
  }

  /** Plays a step. Returns its answer without the parts that differ by store. */
  play(step: Step): unknown {
    const reply = this.#answered(step)
    if (typeof reply !== 'object' || reply === null || !('states' in reply)) return reply
    // What ends nothing says why, and a cancellation not even that.
    if (step.kind === 'end' && step.as === 'cancelled') return undefined
    if (step.kind === 'end' && 'outcome' in reply && reply.outcome !== 'settled') return plainOf(step, reply.outcome)
    const cells = this.#schemas[step.schema]!.layers.flatMap((layer) => layer.cells)
    // When slots were first taken.
    const shown = (value: unknown, at: number): unknown => {
      if (Array.isArray(value)) return value.map(shown)
      return at % 2 === 0 && cells[at / 2]!.kind === 'concurrency' ? 0 : value
    }
    const { added = [1] } = reply as { readonly added?: readonly number[] }
    // Where a commit added nothing, its states are nobody's.
    const states = added.some((amount) => amount > 0) ? (reply.states as readonly unknown[]).map(shown) : []
    return 'outcome' in reply ? { ...reply, states, outcome: plainOf(step, reply.outcome) } : { ...reply, states }
  }

  #answered(step: Step): unknown {
    const counters = this.#counters[step.schema]!
    const { units, layers: all, sets } = this.#schemas[step.schema]!
    const { cells } = all[0]!
    const hasSlots = cells.at(-1)!.label === 'running'
    const subject = { user: `user-${step.user}`, team: 'team' }
    // Slots are taken in the first own layer: a hold is its subject's.
    const layers = step.kind === 'hold' || step.kind === 'grow' || step.kind === 'end' ? [0, 1, 2] : step.layers
    const quotas: Quotas = {
      layers,
      limits: all.flatMap((_, layer) => step.limits.slice(5 * layer, 5 * layer + cells.length)),
    }
    const start = Math.floor(this.#now() / PERIOD_MS) * PERIOD_MS
    const periods = all.flatMap(() => [start, start + PERIOD_MS, start + 2 * PERIOD_MS])
    const costs = step.amounts.slice(0, units.length)
    const id = { id: `id-${step.id}`, nonce: `nonce-${step.id}`, fingerprint: `ask ${step.schema}`, ttlMs: 100 }
    const where = { subject, set: 0, quotas, periods }
    const ref: HoldRef = { subject, id }
    switch (step.kind) {
      case 'take': {
        const reply = counters.take({ ...where, costs: [...costs.map((cost, at) => (at === 0 ? cost + 1 : cost)), 0] })
        if (reply.outcome === 'admitted') this.#taken = { step, states: reply.states }
        return reply
      }
      case 'hold': {
        const slot = Number(hasSlots && step.isWhole)
        return counters.take({ ...where, costs: [...costs, slot], id, hold: { ttlMs: step.ms, maxHolds: 1 } })
      }
      case 'read':
        return counters.read({ subject, set: 0, layers, periods })
      case 'settle':
        return this.#settle(step.more)
      case 'reset':
        return counters.reset({
          subject,
          limits: sets[0]!.filter((at) => layers.includes(Math.floor(at / cells.length))),
        })
      case 'grow':
        return counters.holds!.grow({ ...where, ...ref, costs: [...costs.map((cost) => cost + 1), 0] })
      case 'extend':
        return counters.holds!.extend({ ...ref, ttlMs: step.ms })
      case 'end': {
        const { as, overrun, more, isWhole } = step
        const actual = isWhole || as === 'cancelled' ? undefined : costs
        const maxOverrun = more.slice(0, units.length)
        return counters.holds!.settle({ ...where, ...ref, as, overrun, actual, maxOverrun })
      }
      case 'list': {
        const { holds } = counters.holds!.list({ subject })
        return holds.map((hold) => ({
          ...hold,
          charged: hold.charged.map((value, at) => (hasSlots && Math.floor(at / 2) === cells.length - 1 ? 0 : value)),
        }))
      }
      case 'sweep': {
        const ended = this.#counters.flatMap(({ holds }) => holds!.sweep().ended)
        return ended.map(({ costs, ...each }) => JSON.stringify([each, Object.entries(costs).sort()])).sort()
      }
      case 'wait':
        return undefined
    }
  }

  /** Gives back some of what the last take charged, under its own schema. */
  #settle(back: readonly number[]): unknown {
    if (this.#taken === undefined) return 'nothing'
    const { step, states } = this.#taken
    this.#taken = undefined
    const { units } = this.#schemas[step.schema]!
    const charged = units.map((_, at) => step.amounts[at]! + Number(at === 0))
    const refunds = charged.map((cost, at) => Math.min(cost, back[at]!))
    const subject = { user: `user-${step.user}`, team: 'team' }
    const { layers } = step
    return this.#counters[step.schema]!.settle({ subject, set: 0, layers, states, refunds, as: 'committed' })
  }
}

/** Unites the two answers for an id that was cancelled: before anything was held under it, and after. */
function plainOf({ kind }: Step, outcome: unknown): unknown {
  const isNothing = outcome === 'unknown' || outcome === 'cancelled'
  if (kind === 'end') return isNothing ? 'none' : outcome
  return (kind === 'grow' || kind === 'extend') && (isNothing || outcome === 'settled') ? 'none' : outcome
}

/** What the histories come to, among all else. */
const MET = ['take admitted', 'take refused', 'hold admitted', 'hold refused', 'hold conflict', 'hold too_many_holds']

describe('random histories over several units', () => {
  it('random histories over several units get the answers of the model', { timeout: TIMEOUT_MS }, () => {
    const outcomes = new Set<string>()
    fc.assert(
      fc.property(histories, ({ schemas, steps }) => {
        const clock = manualClock()
        const [memory, model] = [memoryStore({ clock }), modelStore(clock)]
        const usual = new Side(
          (schema) => memory.open(schema),
          schemas,
          () => clock.now(),
        )
        const expected = new Side(
          (schema) => model.open(schema),
          schemas,
          () => clock.now(),
        )
        for (const step of steps) {
          if (step.kind === 'wait') clock.advance(step.ms)
          const reply = usual.play(step)
          expect(reply).toEqual(expected.play(step))
          outcomes.add(`${step.kind} ${(reply as { outcome?: string } | undefined)?.outcome}`)
        }
      }),
      { numRuns: 2 * RUNS.runs },
    )
    expect([...outcomes]).toEqual(expect.arrayContaining(MET))
  })
})
