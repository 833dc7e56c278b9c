import assert from 'node:assert/strict'
import type { Clock } from '@scoregw/quota'
import type {
  AsyncHolds,
  Counters,
  HoldRecord,
  QuotaStore,
  Quotas,
  ReservationId,
  StoreSchema,
  SubjectKeys,
  SyncHolds,
  WindowStates,
} from '@scoregw/quota/store'
import type { StoreFactory } from '@scoregw/quota-testkit'
import fc from 'fast-check'
import { checkParameters, type HistoryOptions } from './run-history.ts'
import { PERIOD_MS, plans, schemaOf, UNITS } from './set-schemas.ts'

/** Longer than a history, by a server's clock too: a store may keep records of ids for longer than this. */
const ID_MS = 600_000
const KINDS = ['take', 'take', 'once', 'read', 'settle', 'reset', 'wait', 'wait'] as const
const OF_HOLDS = ['hold', 'hold', 'hold', 'grow', 'extend', 'end', 'end', 'end', 'list', 'sweep'] as const
/** Calls on one hold, by its id. */
const ON_A_HOLD: ReadonlySet<string> = new Set(['hold', 'grow', 'extend', 'end'])
/** Mostly room: one limit without it refuses the whole request. */
const MOST = [0, 3, 8, 20, 20, 50, 50, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
const amounts = fc.array(fc.nat(4), { minLength: UNITS.length, maxLength: UNITS.length })
const steps = fc.record({
  kind: fc.constantFrom(...KINDS, ...OF_HOLDS),
  /** Under which of the history's two schemas. */
  schema: fc.nat(1),
  set: fc.nat(3),
  user: fc.nat(1),
  /** In which layers the subject has a key. */
  keys: fc.constantFrom('user and team' as const, 'user' as const, 'team' as const),
  id: fc.nat(1),
  amounts,
  more: amounts,
  layers: fc.subarray([0, 1, 2, 3], { minLength: 1 }),
  limits: fc.array(fc.constantFrom(...MOST), { minLength: 20, maxLength: 20 }),
  ms: fc.integer({ min: 1, max: 60 }),
  as: fc.constantFrom('committed' as const, 'cancelled' as const),
  overrun: fc.constantFrom('refuse' as const, 'charge' as const, 'fit' as const, 'fit' as const),
  isPart: fc.boolean(),
})
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never

/** A take to settle later. */
interface Taken {
  readonly step: Step
  readonly states: WindowStates
  readonly isNamed: boolean
}

/** A store under the schemas of one history. */
class Side {
  readonly #counters: readonly Counters[]
  readonly #schemas: readonly StoreSchema[]
  readonly #history: string
  readonly #clock: Clock
  #taken: Taken | undefined
  /** When each open hold expires, by {@link holdOf}. */
  readonly #ends = new Map<string, number>()

  constructor(store: QuotaStore, schemas: readonly StoreSchema[], history: string, clock: Clock) {
    this.#counters = schemas.map((schema) => store.open(schema))
    this.#schemas = schemas
    this.#history = history
    this.#clock = clock
  }

  /** Plays a step. Returns its answer without the parts that differ by store. */
  async play(step: Step): Promise<unknown> {
    const reply: unknown = await this.#answered(step)
    this.#noteEnd(step, reply)
    if (typeof reply !== 'object' || reply === null || !('states' in reply)) return reply
    // What ends nothing says why, and a cancellation not even that.
    if (step.kind === 'end' && step.as === 'cancelled') return undefined
    const { outcome } = reply as { readonly outcome?: string }
    if (step.kind === 'end' && outcome !== 'settled') return plainOf(step, outcome)
    const { added = [1] } = reply as { readonly added?: readonly number[] }
    // Where a commit added nothing, its states are nobody's.
    const states = added.some((amount) => amount > 0) ? this.#shown(step, reply.states as WindowStates) : []
    return outcome === undefined ? { ...reply, states } : { ...reply, states, outcome: plainOf(step, outcome) }
  }

  /**
   * Ends what has expired, if a step could notice it. A store may take a second for that, except before a call on the
   * hold itself: a hold that alone has expired is left to that call.
   *
   * @returns the holds that ended
   */
  async swept(step?: Step): Promise<string[]> {
    const now = this.#clock.now()
    const due = [...this.#ends].flatMap(([hold, end]) => (end <= now ? [hold] : []))
    const isLeft = due.length === 1 && step !== undefined && ON_A_HOLD.has(step.kind) && due[0] === this.#holdOf(step)
    if (step !== undefined && (due.length === 0 || isLeft)) return []
    for (const hold of due) this.#ends.delete(hold)
    return this.#sweep()
  }

  #noteEnd(step: Step, reply: unknown): void {
    const { outcome, endsAt } = (reply ?? {}) as { readonly outcome?: string; readonly endsAt?: number }
    if (endsAt !== undefined) this.#ends.set(this.#holdOf(step), endsAt)
    else if (step.kind === 'end' && outcome === 'settled') this.#ends.delete(this.#holdOf(step))
  }

  /** The owner and id of the hold that a step is about. */
  #holdOf(step: Step): string {
    const { user, team } = this.#subjectOf(step)
    return `${user ?? team} ${idOf(step).id}`
  }

  /** Leaves out when slots were first taken. */
  #shown(step: Step, pairs: readonly number[]): number[] {
    return pairs.map((value, at) => (at % 2 === 0 && this.#isSlots(step, at) ? 0 : value))
  }

  /** Whether a number of a state is of slots. */
  #isSlots({ schema }: Step, at: number): boolean {
    const cells = this.#schemas[schema]?.layers.flatMap((layer) => layer.cells) ?? []
    return cells[Math.floor(at / 2)]?.kind === 'concurrency'
  }

  #holds({ schema }: Step): SyncHolds | AsyncHolds {
    const { holds } = this.#countersOf(schema)
    assert.ok(holds)
    return holds
  }

  #countersOf(schema: number): Counters {
    const counters = this.#counters[schema]
    assert.ok(counters)
    return counters
  }

  #answered(step: Step): unknown {
    const { schema, set } = step
    const { layers: all, sets } = this.#schemas[schema] as StoreSchema
    const counters = this.#countersOf(schema)
    const subject = this.#subjectOf(step)
    const layers = this.#layersOf(step)
    const layerOf = all.flatMap(({ cells }, layer) => cells.map(() => layer))
    const kinds = all.flatMap(({ cells }) => cells.map(({ kind }) => kind))
    const counted = sets[set]?.filter((at) => layers.includes(layerOf[at] ?? -1)) ?? []
    const quotas: Quotas = { layers, limits: step.limits.slice(0, layerOf.length) }
    const start = Math.floor(this.#clock.now() / PERIOD_MS) * PERIOD_MS
    const month = [start, start + PERIOD_MS, start + 2 * PERIOD_MS]
    const periods = kinds.filter((kind) => kind === 'calendar').flatMap(() => month)
    const id = idOf(step)
    const where = { subject, set, quotas, periods }
    const costs = step.amounts
    switch (step.kind) {
      case 'take':
      case 'once':
        return this.#take(step, {
          ...where,
          costs: [...aboveZero(costs), 0],
          id: step.kind === 'once' ? id : undefined,
        })
      case 'hold': {
        const slot = Number(counted.some((at) => kinds[at] === 'concurrency'))
        return counters.take({
          ...where,
          costs: [...aboveZero(costs), slot],
          id,
          hold: { ttlMs: step.ms, maxHolds: 1 },
        })
      }
      case 'read':
        return counters.read({ subject, set, layers, periods })
      case 'settle':
        return this.#settle(step.more)
      case 'reset':
        return counters.reset({ subject, limits: counted })
      case 'grow':
        return this.#holds(step).grow({ ...where, id, costs: [...aboveZero(costs), 0] })
      case 'extend':
        return this.#holds(step).extend({ subject, id, ttlMs: step.ms })
      case 'end': {
        const { as, overrun, more, isPart } = step
        const actual = isPart && as === 'committed' ? costs.map((cost) => 2 * cost) : undefined
        return this.#holds(step).settle({ ...where, id, as, overrun, actual, maxOverrun: more })
      }
      case 'list':
        return this.#list(step, subject)
      case 'sweep':
        return this.#sweep()
      case 'wait':
        return undefined
    }
  }

  #subjectOf({ user, keys }: Step): Readonly<Record<'user' | 'team', string | null>> {
    return {
      user: keys === 'team' ? null : `user-${user}-${this.#history}`,
      team: keys === 'user' ? null : `team-${this.#history}`,
    }
  }

  /** Leaves out layers in which the subject has no key. */
  #layersOf({ schema, layers, keys }: Step): number[] {
    return layers.filter((layer) => {
      const { shared = false, by = '' } = this.#schemas[schema]?.layers[layer] ?? {}
      return shared || keys.includes(by)
    })
  }

  async #take(step: Step, request: Parameters<Counters['take']>[0]): Promise<unknown> {
    const reply = await this.#countersOf(step.schema).take(request)
    const isNamed = request.id !== undefined
    if (reply.outcome === 'admitted') this.#taken = { step, states: reply.states, isNamed }
    return reply
  }

  /** Gives back some of what the last take charged, under its own schema. */
  async #settle(back: readonly number[]): Promise<unknown> {
    if (this.#taken === undefined) return 'nothing'
    const { step, states, isNamed } = this.#taken
    this.#taken = undefined
    const { schema, set } = step
    const [subject, layers] = [this.#subjectOf(step), this.#layersOf(step)]
    const refunds = aboveZero(step.amounts).map((cost, unit) => Math.min(cost, back[unit] ?? 0))
    const id = isNamed ? idOf(step) : undefined
    return this.#countersOf(schema).settle({ subject, set, layers, states, refunds, as: 'committed', id })
  }

  async #list(step: Step, subject: SubjectKeys): Promise<unknown> {
    const { holds } = await this.#holds(step).list({ subject })
    // The model doesn't say which slots a hold has.
    const withoutSlots = (value: number, at: number): number => (this.#isSlots(step, at) ? 0 : value)
    const shown = holds.map((hold: HoldRecord) => ({ ...hold, charged: hold.charged.map(withoutSlots) }))
    return shown.sort((a, b) => a.id.localeCompare(b.id))
  }

  async #sweep(): Promise<string[]> {
    const replies = await Promise.all(this.#counters.map(({ holds }) => holds?.sweep()))
    const ended = replies.flatMap((reply) => reply?.ended ?? [])
    return ended.map(({ costs, ...each }) => JSON.stringify([each, Object.entries(costs).sort()])).sort()
  }
}

/** Ids of holds are never those of other takes. A subject has other nonces where it has other keys. */
function idOf({ kind, schema, id, keys }: Step): ReservationId {
  const name = `${kind === 'once' ? 'once' : 'hold'}-${id}`
  return { id: name, nonce: `${name} ${keys}`, fingerprint: `ask ${schema}`, ttlMs: ID_MS }
}

/** A take costs something, and a hold grows by something. */
function aboveZero(costs: readonly number[]): number[] {
  return costs.map((cost, unit) => (unit === 0 ? cost + 1 : cost))
}

/** Removes members that are `undefined`. */
function withoutAbsent(reply: unknown): unknown {
  return reply === undefined ? reply : JSON.parse(JSON.stringify(reply))
}

/** Unites the two answers for an id that was cancelled: before anything was held under it, and after. */
function plainOf({ kind }: Step, outcome: unknown): unknown {
  const isNothing = outcome === 'unknown' || outcome === 'cancelled'
  if (kind === 'end') return isNothing ? 'none' : outcome
  return (kind === 'grow' || kind === 'extend') && (isNothing || outcome === 'settled') ? 'none' : outcome
}

/**
 * Plays random histories over layers with different limits and overlapping sets: two schemas at a time, so that a hold
 * is taken under one and settled under the other. Each answer must be that of a reference.
 *
 * @param reference makes a store that is known to be right
 * @returns the outcomes that were met, by step
 * @throws {Error} at the first difference, with the shortest history that shows it
 */
export async function runSetHistories(
  factory: StoreFactory,
  reference: (clock: Clock) => QuotaStore,
  { maxSteps = 30, ...options }: HistoryOptions,
): Promise<ReadonlySet<string>> {
  const harness = await factory({})
  const { store, clock } = harness
  const expected = reference(clock)
  const outcomes = new Set<string>()
  let played = 0
  const histories = fc.asyncProperty(
    fc.tuple(plans, plans),
    fc.array(steps, { minLength: 1, maxLength: maxSteps, size: 'max' }),
    async (both, all) => {
      const history = String(played++)
      const schemas = both.map((plan) => schemaOf(plan, history))
      const [tested, right] = [store, expected].map((each) => new Side(each, schemas, history, clock)) as [Side, Side]
      // The ends of the last history's holds are nobody's.
      await Promise.all([tested, right].map((side) => side.swept()))
      for (const step of all) {
        if (step.kind === 'wait') await harness.advance(step.ms)
        assert.deepEqual(await tested.swept(step), await right.swept(step))
        const reply = await tested.play(step)
        assert.deepEqual(withoutAbsent(reply), withoutAbsent(await right.play(step)))
        outcomes.add(`${step.kind} ${(reply as { outcome?: string } | undefined)?.outcome}`)
      }
    },
  )
  try {
    await fc.assert(histories, checkParameters(options))
  } finally {
    await harness.stop()
  }
  return outcomes
}
