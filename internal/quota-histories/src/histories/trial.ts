import assert from 'node:assert/strict'
import {
  type Decision,
  type HeldReservation,
  type Limit,
  type LimitTable,
  type Policy,
  QuotaError,
  type QuotaErrorCode,
  type QuotaRequest,
  type ReserveRequest,
  type Settings,
  type Subject,
  type SubjectSettings,
} from '@scoregw/quota'
import type { StoreHarness } from '@scoregw/quota-testkit'
import { type ModelDecision, type ModelReservation, QuotaModel, utcCalendar } from '@scoregw/quota-testkit/model'
import { crossed, inWords } from './near-limits.ts'
import { pick, type Scene, subjectIn } from './policies.ts'
import type { Step } from './steps.ts'
import { HOLD_TTL_MS, ID_TTL_MS, World } from './world.ts'

/**
 * How far back all steps of one history together may turn the clock: less than the grace of any store for ended
 * windows.
 */
const MOST_BACK_MS = 30_000

type AskingStep = StepOf<'consume' | 'peek' | 'reserve' | 'again' | 'commit' | 'cancel' | 'extend' | 'add'>
type ManagingStep = Exclude<Step, AskingStep>
type SettingsStep = StepOf<'mode' | 'custom' | 'site' | 'price' | 'shadow' | 'plan' | 'thresholds'>
/** The methods of a hold, on any engine. */
type AnyHeld = Pick<HeldReservation, 'extend' | 'add'> | Synchronous
type Synchronous = Pick<Extract<World['reservations'][number], { status: 'reserved' }>, 'extend' | 'add'>

type StepOf<K extends Step['kind']> = Extract<Step, { readonly kind: K }>

/** An attempted reservation under an id: by which engine, of what. */
interface Attempt {
  readonly subject: number
  readonly request: ReserveRequest
}

/** A history in progress, on the store and on the model. */
export class Trial {
  readonly #scene: Scene
  readonly #world: World
  /** One per engine, under its policy. */
  readonly #models: [QuotaModel, QuotaModel]
  readonly #reservations: ModelReservation[] = []
  readonly #attempts: Attempt[] = []
  #backMs = 0

  constructor(scene: Scene, harness: StoreHarness) {
    this.#scene = scene
    this.#world = new World(harness, scene)
    const options = { idTtlMs: ID_TTL_MS, holdTtlMs: HOLD_TTL_MS, calendar: utcCalendar.periods }
    const model = new QuotaModel(scene.policy, harness.clock, options)
    this.#models = [model, model.under(scene.policy)]
  }

  /** Whether a step can be played now. */
  admits(step: Step): boolean {
    if (step.kind === 'commit' || step.kind === 'cancel') return this.#reservations.length > 0
    if (step.kind === 'extend' || step.kind === 'add') return this.#heldAt(step.reservation) !== undefined
    if (step.kind === 'again') return this.#isKnown(step)
    if (step.kind === 'to-end') return this.#models[0].ends(step.of).length > 0
    if (step.kind === 'policy') return this.#canRestart(step)
    if (step.kind !== 'step-back') return true
    // A store need not remember an id again after it was free to forget it.
    if (this.#models[0].remembersAgain(step.ms)) return false
    return this.#world.harness.stepClock !== undefined && this.#backMs + step.ms <= MOST_BACK_MS
  }

  /** Plays a step on both sides, and compares the answers and then the status. */
  async play(step: Step): Promise<void> {
    if (step.kind === 'consume' || step.kind === 'peek') await this.#decide(step)
    else if (step.kind === 'reserve') await this.#reserveAnew(step)
    else if (step.kind === 'again') await this.#again(step)
    else if (step.kind === 'commit' || step.kind === 'cancel') await this.#settle(step)
    else if (step.kind === 'extend' || step.kind === 'add') await this.#change(step)
    else await this.#manage(step)
    await this.#compareStatus(
      'subject' in step ? step.subject : 0,
      'plan' in step ? (step.plan ?? undefined) : undefined,
    )
  }

  /** Plays steps of administrators, and of time. */
  async #manage(step: ManagingStep): Promise<void> {
    if (step.kind === 'reset') await this.#reset(step)
    else if (step.kind === 'policy') this.#restart(step)
    else if (step.kind === 'override' || step.kind === 'forget') await this.#changeSubject(step)
    else if (step.kind === 'advance' || step.kind === 'to-end' || step.kind === 'step-back') await this.#turn(step)
    else await this.#changeSettings(step)
  }

  /** Compares the visible state of every subject on both engines. */
  async compareAll(): Promise<void> {
    for (const [index] of this.#scene.subjects.entries()) {
      await this.#compareStatus(index)
      if (this.#world.canHold) await this.#compareHolds(index)
    }
  }

  async #compareStatus(index: number, plan?: string): Promise<void> {
    for (const engine of [0, 1]) {
      const subject = this.#subject(engine, index)
      const model = this.#model(engine)
      assert.deepEqual(await this.#world.status(engine, subject, plan), model.status(subject, plan), 'status')
    }
  }

  async #compareHolds(index: number): Promise<void> {
    for (const engine of [0, 1]) {
      const subject = this.#subject(engine, index)
      const holds = await this.#world.engine(engine).holds.list(subject)
      const seen = holds.map(({ tokens, endsAt }) => ({ tokens, endsAt }))
      assert.deepEqual(inOrder(seen), inOrder(this.#model(engine).holds(subject)), 'holds')
    }
  }

  #model(engine: number): QuotaModel {
    return pick(this.#models, engine)
  }

  #policy(engine: number): Policy {
    return this.#model(engine).policy
  }

  #subject(engine: number, index: number): Subject {
    return subjectIn(this.#policy(engine), pick(this.#scene.subjects, index))
  }

  #request(step: StepOf<'consume' | 'peek' | 'reserve'>) {
    const operation = pick(Object.keys(this.#policy(step.engine).operations), step.operation)
    return { subject: this.#subject(step.engine, step.subject), operation, cost: step.cost, plan: step.plan }
  }

  async #decide(step: StepOf<'consume' | 'peek'>): Promise<void> {
    const request = this.#request(step)
    const model = this.#model(step.engine)
    if (step.kind === 'consume' && model.takesSlot(request.operation))
      assert.deepEqual(await answerOf(() => this.#world.consume(step.engine, request)), {
        code: 'reservation_required',
      })
    else if (step.kind === 'peek') compareDecisions(await this.#world.peek(step.engine, request), model.peek(request))
    else await this.#consume(step.engine, request)
  }

  async #consume(engine: number, request: QuotaRequest): Promise<void> {
    this.#world.near = []
    const model = this.#model(engine)
    const due = model.consume(request)
    compareDecisions(await this.#world.consume(engine, request), due)
    // A crossing beside an open reservation waits for it.
    if (this.#reservations.some(({ status }) => status !== 'refused')) return
    assert.deepEqual(this.#world.near.map(inWords), crossed(due, model.settings.thresholds), 'limits that are near')
  }

  async #reserveAnew(step: StepOf<'reserve'>): Promise<void> {
    const ttlMs = this.#world.canHold ? step.ttlMs : undefined
    await this.#reserve(step.engine, step.subject, { ...this.#request(step), id: step.id, ttlMs })
  }

  async #reserve(engine: number, subject: number, request: ReserveRequest): Promise<void> {
    if (request.id !== undefined) this.#attempts.push({ subject, request })
    const real = await this.#world.reserve(engine, request)
    const model = this.#model(engine).reserve(request)
    assert.equal(real.status, model.status, 'status of the reservation')
    if (real.status === 'conflict') return
    this.#reservations.push(model)
    if (real.decision === undefined || model.decision === undefined) assert.equal(real.decision, model.decision)
    else compareDecisions(real.decision, model.decision)
    if (real.status === 'reserved') assert.equal(real.endsAt, model.endsAt, 'the end of a hold')
  }

  /** Whether an engine's policy has the operation of an earlier attempt. */
  #isKnown({ engine, reservation }: StepOf<'again'>): boolean {
    if (this.#attempts.length === 0) return false
    const { request } = pick(this.#attempts, reservation)
    return Object.hasOwn(this.#policy(engine).operations, request.operation)
  }

  async #again({ engine, reservation }: StepOf<'again'>): Promise<void> {
    const { subject, request } = pick(this.#attempts, reservation)
    await this.#reserve(engine, subject, { ...request, subject: this.#subject(engine, subject) })
  }

  #edited({ policy }: StepOf<'policy'>): Policy {
    return pick([this.#scene.policy, ...this.#scene.edits], policy)
  }

  /** Not every store continues its own counters when their number changes. */
  #canRestart(step: StepOf<'policy'>): boolean {
    const own = ({ layers }: Policy): number => layers.filter(({ shared }) => !shared).length
    const regroups = own(this.#edited(step)) > 1 !== own(this.#scene.policy) > 1
    return !regroups || this.#world.harness.capabilities.includes('regroup')
  }

  #restart(step: StepOf<'policy'>): void {
    const policy = this.#edited(step)
    this.#world.restart(step.engine, policy)
    this.#models[step.engine === 0 ? 0 : 1] = this.#models[0].under(policy)
  }

  async #settle(step: StepOf<'commit' | 'cancel'>): Promise<void> {
    const real = pick(this.#world.reservations, step.reservation)
    const model = pick(this.#reservations, step.reservation)
    if (step.kind === 'cancel') {
      assert.deepEqual(await answerOf(() => real.cancel()), this.#models[0].cancel(model), 'a cancel')
      return
    }
    if (real.status === 'refused') return
    const cost = model.decision?.cost ?? 0
    const actual = Math.floor((cost * step.percent) / 100)
    assert.deepEqual(await answerOf(() => real.commit(actual)), this.#models[0].commit(model, actual), 'a commit')
  }

  /** A reservation that was not refused, and the model's. */
  #heldAt(index: number): readonly [real: AnyHeld, model: ModelReservation] | undefined {
    const { reservations } = this.#world
    if (reservations.length === 0) return undefined
    const real = pick(reservations, index)
    return real.status === 'reserved' ? [real, pick(this.#reservations, index)] : undefined
  }

  async #change(step: StepOf<'extend' | 'add'>): Promise<void> {
    const [real, model] = this.#heldAt(step.reservation) ?? []
    if (real === undefined || model === undefined) return
    if (step.kind === 'extend') {
      const due = this.#models[0].extend(model, step.ttlMs)
      assert.deepEqual(await answerOf(() => real.extend(step.ttlMs)), due, 'an extension')
      return
    }
    const due = this.#models[0].add(model, step.tokens)
    const answer = await answerOf(async () => real.add(step.tokens))
    if ('value' in answer && 'value' in due) compareDecisions(answer.value, due.value)
    else assert.deepEqual(answer, due, 'a growth')
  }

  async #reset(step: StepOf<'reset'>): Promise<void> {
    const { layers, categories } = this.#policy(step.engine)
    const layer = step.layer === undefined ? undefined : pick(layers, step.layer).name
    const category = step.category === undefined ? undefined : pick(categories, step.category)
    const subject = this.#subject(step.engine, step.subject)
    await this.#world.engine(step.engine).reset(subject, { layer, category })
    this.#model(step.engine).reset(subject, { layer, category })
  }

  async #changeSettings(step: SettingsStep): Promise<void> {
    const change = this.#settingsChange(step)
    await this.#world.engine(step.engine).settings.update(change)
    this.#model(step.engine).updateSettings(change)
  }

  #settingsChange(step: SettingsStep): Partial<Settings> {
    const model = this.#model(step.engine)
    const { policy } = model
    if (step.kind === 'mode') return { mode: step.mode }
    if (step.kind === 'custom') return { mode: 'custom' as const, custom: flatTable(policy, step.limit) }
    if (step.kind === 'price') {
      const operation = pick(Object.keys(policy.operations), step.operation)
      return { prices: { ...model.settings.prices, [operation]: step.cost } }
    }
    if (step.kind === 'shadow') return { shadow: { ...model.settings.shadow, ...shadowOf(policy, step) } }
    if (step.kind === 'thresholds') return { thresholds: step.thresholds }
    if (step.kind === 'plan') return { plans: planOf(policy, step) }
    const { enabled, multiplier } = step
    const shared = policy.layers.filter((layer) => layer.shared)
    return { layers: Object.fromEntries(shared.map(({ name }) => [name, { enabled, multiplier }])) }
  }

  async #changeSubject(step: StepOf<'override' | 'forget'>): Promise<void> {
    const { subjects } = this.#world.engine(step.engine)
    const own = this.#policy(step.engine).layers.filter(({ shared }) => !shared)
    const { name: layer } = pick(own, step.subject)
    const subject = this.#subject(step.engine, step.subject)
    const key = typeof subject === 'string' ? subject : (subject[layer] ?? '')
    const settings = step.kind === 'forget' ? undefined : this.#subjectSettings(step)
    if (settings === undefined) await subjects.remove(key, { layer })
    else await subjects.set(key, settings, { layer })
    this.#model(step.engine).setSubject(layer, key, settings)
  }

  #subjectSettings(step: StepOf<'override'>): SubjectSettings {
    const { engine, category, window, limit, bypass, plan, until, anchor } = step
    const { layers, categories, windows } = this.#policy(engine)
    const ends = until === null ? null : this.#world.harness.clock.now() + until
    const shared = layers.filter((layer) => layer.shared).map(({ name }) => name)
    return {
      overrides: { [pick(categories, category)]: { [pick(windows, window).label]: limit } },
      bypass: bypass ? shared : [],
      plan: plan !== null && this.#model(engine).plans.includes(plan) ? plan : null,
      until: { overrides: ends, plan: limit === null ? ends : null },
      anchor,
    }
  }

  async #turn(step: StepOf<'advance' | 'to-end' | 'step-back'>): Promise<void> {
    const { harness } = this.#world
    const now = harness.clock.now()
    if (step.kind === 'step-back') {
      this.#backMs += step.ms
      await harness.stepClock?.(-step.ms)
      await this.#world.sweep()
    } else if (step.kind === 'advance') {
      await this.#world.turnTo(now + step.ms)
    } else {
      await this.#world.turnTo(pick(this.#models[0].ends(step.of), step.end) + step.offsetMs)
    }
  }
}

/** A table with one limit everywhere. */
function flatTable({ base }: Policy, limit: Limit): LimitTable {
  const each = <T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
  return each(base, (layer) => each(layer, (category) => each(category, () => limit)))
}

/** The limits of a layer that become shadow limits. */
function shadowOf({ layers, windows }: Policy, { layer, limits }: StepOf<'shadow'>): Settings['shadow'] {
  const shadows = { all: 'all', one: [pick(windows, layer).label], none: [] } as const
  return { [pick(layers, layer).name]: shadows[limits] }
}

/** A plan's limit for one per-subject window. */
function planOf({ layers, categories, windows }: Policy, { plan, subject, window, limit }: StepOf<'plan'>) {
  const own = layers.filter(({ shared }) => !shared)
  const ofCategory = { [pick(windows, window).label]: limit }
  return { [plan]: { [pick(own, subject).name]: { [pick(categories, subject)]: ofCategory } } }
}

/** The value of a call, or the code of its error. */
async function answerOf<T>(call: () => T | PromiseLike<T>): Promise<{ value: T } | { code: QuotaErrorCode }> {
  try {
    return { value: await call() }
  } catch (error) {
    if (error instanceof QuotaError) return { code: error.code }
    throw error
  }
}

function compareDecisions(real: Decision, model: ModelDecision): void {
  assert.deepEqual(real.toJSON(), model, 'decision')
}

/** Earliest end first. Holds with the same end may come in any order. */
function inOrder<H extends { readonly endsAt: number; readonly tokens: number }>(holds: readonly H[]): H[] {
  return [...holds].sort((a, b) => a.endsAt - b.endsAt || a.tokens - b.tokens)
}
