import assert from 'node:assert/strict'
import type { Clock } from '@scoregw/quota'
import type {
  AsyncHolds,
  Counters,
  EndedHold,
  HoldRecord,
  QuotaStore,
  Quotas,
  StoreSchema,
  SubjectKeys,
  SyncHolds,
  WindowStates,
} from '@scoregw/quota/store'
import { idOf } from '../suite/probe.ts'
import { periodsAt } from './schemas.ts'
import type { Step } from './steps.ts'

/** Calls on one hold, by its id. */
const ON_A_HOLD: ReadonlySet<string> = new Set(['hold', 'grow', 'extend', 'end'])

/** A take to settle later. */
interface Taken {
  readonly step: Step
  readonly states: WindowStates
}

/** What a history is played on. */
export interface SideOptions {
  /** Two clients of one store, as two processes have them. */
  readonly stores: readonly [QuotaStore, QuotaStore]
  readonly schemas: readonly StoreSchema[]
  readonly history: string
  readonly clock: Clock
}

/** One of the two stores that play a history. */
export class Side {
  readonly #options: SideOptions
  /** By client, those of each schema. */
  readonly #counters: readonly (readonly Counters[])[]
  #taken: Taken | undefined
  /** When each open hold expires, by {@link holdOf}. */
  readonly #ends = new Map<string, number>()

  constructor(options: SideOptions) {
    this.#options = options
    this.#counters = options.stores.map((store) => options.schemas.map((schema) => store.open(schema)))
  }

  /** Plays a step. Returns its answer without the parts that differ by store. */
  async play(step: Step): Promise<unknown> {
    const reply: unknown = await this.#answered(step)
    this.#noteEnd(step, reply)
    if (typeof reply !== 'object' || reply === null || !('states' in reply)) return reply
    // A call that ends no hold says why, and a cancellation not even that.
    if (step.kind === 'end' && step.as === 'cancelled') return undefined
    const { outcome } = reply as { readonly outcome?: string }
    if (step.kind === 'end' && outcome !== 'settled') return plainOf(step, outcome)
    const { added = [1] } = reply as { readonly added?: readonly number[] }
    // If a commit added nothing, its states are nobody's.
    const states = added.some((amount) => amount > 0) ? this.#shown(step, reply.states as WindowStates) : []
    return outcome === undefined ? { ...reply, states } : { ...reply, states, outcome: plainOf(step, outcome) }
  }

  /**
   * Ends what has expired, if a step could notice it. A store may take a second for that, except before a call on the
   * hold itself: a hold that alone has expired is left to that call.
   *
   * @returns the holds that ended
   */
  async swept(step: Step): Promise<string[]> {
    const now = this.#options.clock.now()
    const due = [...this.#ends].flatMap(([hold, end]) => (end <= now ? [hold] : []))
    const isLeft = due.length === 1 && ON_A_HOLD.has(step.kind) && due[0] === this.#holdOf(step)
    if (due.length === 0 || isLeft) return []
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
    return `${user ?? team} ${ofStep(step).id}`
  }

  /** Leaves out when slots were first taken. */
  #shown(step: Step, pairs: readonly number[]): number[] {
    return pairs.map((value, at) => (at % 2 === 0 && this.#isSlots(step, at) ? 0 : value))
  }

  /** Whether a number of a state is of slots. */
  #isSlots(step: Step, at: number): boolean {
    const cells = this.#schemaOf(step).layers.flatMap((layer) => layer.cells)
    return cells[Math.floor(at / 2)]?.kind === 'concurrency'
  }

  #schemaOf({ schema }: Step): StoreSchema {
    const found = this.#options.schemas[schema]
    assert.ok(found)
    return found
  }

  #countersOf({ client, schema }: Step): Counters {
    const counters = this.#counters[client]?.[schema]
    assert.ok(counters)
    return counters
  }

  #holds(step: Step): SyncHolds | AsyncHolds {
    const { holds } = this.#countersOf(step)
    assert.ok(holds, 'a store that can hold has counters with `holds`')
    return holds
  }

  /** What a step requests, and which limits count it. */
  #terms(step: Step) {
    const { layers: all, sets } = this.#schemaOf(step)
    const cells = all.flatMap((layer) => layer.cells)
    const layerOf = all.flatMap((layer, index) => layer.cells.map(() => index))
    const set = step.set % sets.length
    const layers = this.#layersOf(step)
    const counted = sets[set]?.filter((at) => layers.includes(layerOf[at] ?? -1)) ?? []
    const limits = cells.map((_, at) => step.limits[at % step.limits.length] ?? 0)
    // An unlimited bucket refills nothing.
    const rates = cells.map(({ kind }, at) => (kind === 'bucket' && Number.isFinite(limits[at]) ? step.rate : 0))
    const quotas: Quotas = { layers, limits, rates }
    const calendars = cells.filter(({ kind }) => kind === 'calendar')
    const periods = calendars.length === 0 ? undefined : calendars.flatMap(() => periodsAt(this.#options.clock.now()))
    const slot = Number(counted.some((at) => cells[at]?.kind === 'concurrency'))
    return { subject: this.#subjectOf(step), set, layers, quotas, periods, counted, slot }
  }

  #answered(step: Step): unknown {
    const { kind } = step
    const { counted, slot, layers, ...where } = this.#terms(step)
    const { subject, set, periods } = where
    const [id, counters] = [ofStep(step), this.#countersOf(step)]
    const costs = aboveZero(step.amounts)
    if (kind === 'take') return this.#take(step, { ...where, costs: [...costs, 0] })
    if (kind === 'once') return this.#take(step, { ...where, costs: [...costs, 0], id })
    if (kind === 'read') return counters.read({ subject, set, layers, periods })
    if (kind === 'settle') return this.#settle(step)
    if (kind === 'reset') return counters.reset({ subject, limits: counted })
    if (kind === 'hold')
      return counters.take({ ...where, costs: [...costs, slot], id, hold: { ttlMs: step.ms, maxHolds: 1 } })
    if (kind === 'grow') return this.#holds(step).grow({ ...where, id, costs: [...costs, 0] })
    if (kind === 'extend') return this.#holds(step).extend({ subject, id, ttlMs: step.ms })
    if (kind === 'list') return this.#list(step, subject)
    if (kind === 'sweep') return this.#sweep()
    if (kind !== 'end') return undefined
    const { as, overrun, more, isPart } = step
    const actual = isPart && as === 'committed' ? step.amounts.map((cost) => 2 * cost) : undefined
    return this.#holds(step).settle({ ...where, id, as, overrun, actual, maxOverrun: more })
  }

  #subjectOf({ user, keys }: Step): Readonly<Record<'user' | 'team', string | null>> {
    return {
      user: keys === 'team' ? null : `user-${user}-${this.#options.history}`,
      team: keys === 'user' ? null : `team-${this.#options.history}`,
    }
  }

  /** Leaves out layers in which the subject has no key. */
  #layersOf(step: Step): number[] {
    return step.layers.filter((layer) => {
      const { shared = false, by = '' } = this.#schemaOf(step).layers[layer] ?? {}
      return shared || step.keys.includes(by)
    })
  }

  async #take(step: Step, request: Parameters<Counters['take']>[0]): Promise<unknown> {
    const reply = await this.#countersOf(step).take(request)
    if (reply.outcome === 'admitted') this.#taken = { step, states: reply.states }
    return reply
  }

  /**
   * Settles the last take under its own schema. One under an id may also be settled by another id or holder, as when a
   * settlement overtakes its take.
   */
  async #settle({ id, keys, more, as }: Step): Promise<unknown> {
    if (this.#taken === undefined) return 'nothing'
    const { step, states } = this.#taken
    this.#taken = undefined
    const { subject, set, layers } = this.#terms(step)
    const refunds = aboveZero(step.amounts).map((cost, unit) => Math.min(cost, more[unit] ?? 0))
    const named = step.kind === 'once' ? ofStep({ ...step, id, keys }) : undefined
    return this.#countersOf(step).settle({ subject, set, layers, states, refunds, as, id: named })
  }

  async #list(step: Step, subject: SubjectKeys): Promise<unknown> {
    const { holds } = await this.#holds(step).list({ subject })
    // The model doesn't say which slots a hold has.
    const withoutSlots = (value: number, at: number): number => (this.#isSlots(step, at) ? 0 : value)
    const shown = holds.map((hold: HoldRecord) => ({ ...hold, charged: hold.charged.map(withoutSlots) }))
    return shown.sort((a, b) => a.id.localeCompare(b.id))
  }

  async #sweep(): Promise<string[]> {
    const replies = await Promise.all(this.#counters.flat().map(({ holds }) => holds?.sweep()))
    // Holds that earlier histories left open are nobody's.
    const isOurs = ({ owner }: EndedHold): boolean => owner.endsWith(`-${this.#options.history}`)
    const ended = replies.flatMap((reply) => reply?.ended ?? []).filter(isOurs)
    return ended.map(({ costs, ...each }) => JSON.stringify([each, Object.entries(costs).sort()])).sort()
  }
}

/** Ids of holds are never those of other takes. A subject has other nonces where it has other keys. */
function ofStep({ kind, schema, id, keys }: Step) {
  const name = `${kind === 'once' ? 'once' : 'hold'}-${id}`
  return idOf(name, `${name} ${keys}`, `ask ${schema}`)
}

/** A take costs something, and a hold grows by something. */
function aboveZero(costs: readonly number[]): number[] {
  return costs.map((cost, unit) => (unit === 0 ? cost + 1 : cost))
}

/** Unites the two answers for an id that was cancelled: before anything was held under it, and after. */
function plainOf({ kind }: Step, outcome: unknown): unknown {
  const isNothing = outcome === 'unknown' || outcome === 'cancelled'
  if (kind === 'end') return isNothing ? 'none' : outcome
  return (kind === 'grow' || kind === 'extend') && (isNothing || outcome === 'settled') ? 'none' : outcome
}
