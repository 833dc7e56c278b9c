import assert from 'node:assert/strict'
import {
  type Decision,
  type HeldReservation,
  type Policy,
  QuotaError,
  type QuotaErrorCode,
  type ReserveRequest,
  type Subject,
  type SubjectSettings,
} from '@scoregw/quota'
import type { StoreHarness } from '@scoregw/quota-testkit'
import {
  type ModelDecision,
  type ModelReservation,
  type ModelReserveRequest,
  QuotaModel,
  utcCalendar,
} from '@scoregw/quota-testkit/model'
import { amountIn, costIn, everyUnit, givenLimit, numberFor, shareOf } from './amounts.ts'
import { ownLimits, type SettingsStep, settingsChange } from './changes.ts'
import { crossed, inWords } from './near-limits.ts'
import { pick, type Scene, subjectIn } from './policies.ts'
import type { Step, StepOf } from './steps.ts'
import { HOLD_TTL_MS, ID_TTL_MS, World } from './world.ts'

/**
 * How far back all steps of one history together may turn the clock: less than the grace of any store for ended
 * windows.
 */
const MOST_BACK_MS = 30_000

type AskingStep = StepOf<'consume' | 'peek' | 'reserve' | 'again' | 'resume' | 'commit' | 'cancel' | 'extend' | 'add'>
type ManagingStep = Exclude<Step, AskingStep>
/** The methods of a hold, on any engine. */
type AnyHeld = Pick<HeldReservation, 'token' | 'extend' | 'add'> | Synchronous
type Synchronous = Pick<Extract<World['reservations'][number], { status: 'reserved' }>, 'token' | 'extend' | 'add'>

/** An attempted reservation under an id: by which engine, of what. */
interface Attempt {
  readonly subject: number
  readonly request: ModelReserveRequest
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
    if (step.kind === 'resume') return this.#heldAt(step.reservation)?.[0].token !== undefined
    if (step.kind === 'thresholds') return this.#policy(step.engine).units.length === 1
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
    else if (step.kind === 'resume') await this.#resume(step)
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
      assert.deepEqual(await this.#world.status(engine, subject, { plan }), model.status(subject, plan), 'status')
    }
  }

  async #compareHolds(index: number): Promise<void> {
    for (const engine of [0, 1]) {
      const subject = this.#subject(engine, index)
      const holds = await this.#world.engine(engine).holds.list(subject)
      const seen = holds.map(({ tokens, cost, endsAt }) => ({ cost: tokens ?? cost ?? 0, endsAt }))
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

  #request(step: StepOf<'consume' | 'peek' | 'reserve'>): ModelReserveRequest {
    const policy = this.#policy(step.engine)
    const { plan, cost, limits } = step
    const own = ownLimits(policy)
    const rule = pick(own, limits?.limit ?? 0)
    const number = limits === undefined || limits.number === null ? null : numberFor(rule, limits.number)
    return {
      subject: this.#subject(step.engine, step.subject),
      operation: pick(Object.keys(policy.operations), step.operation),
      cost: cost === undefined ? undefined : amountIn(policy, cost),
      plan,
      limits: limits === undefined ? undefined : { [rule.name]: number, unknown: 5 },
    }
  }

  /** The request as the engine's callers write it. */
  #given<R extends ModelReserveRequest>(engine: number, request: R) {
    const policy = this.#policy(engine)
    const { cost, limits, ...rest } = request
    const numbers = Object.entries(limits ?? {}).map(([name, number]) => {
      const rule = policy.limits.find((each) => each.name === name)
      return [
        name,
        rule === undefined || number === null || number === undefined ? number : givenLimit(policy, rule, number),
      ]
    })
    return {
      ...rest,
      cost: cost === undefined ? undefined : costIn(policy, cost),
      limits: limits && (Object.fromEntries(numbers) as NonNullable<ReserveRequest['limits']>),
    }
  }

  async #decide(step: StepOf<'consume' | 'peek'>): Promise<void> {
    const request = this.#request(step)
    const model = this.#model(step.engine)
    if (step.kind === 'consume' && model.takesSlot(request.operation))
      assert.deepEqual(await answerOf(() => this.#world.consume(step.engine, this.#given(step.engine, request))), {
        code: 'reservation_required',
      })
    else if (step.kind === 'peek')
      compareDecisions(await this.#world.peek(step.engine, this.#given(step.engine, request)), model.peek(request))
    else await this.#consume(step.engine, request)
  }

  async #consume(engine: number, request: ModelReserveRequest): Promise<void> {
    this.#world.near = []
    const model = this.#model(engine)
    const due = model.consume(request)
    compareDecisions(await this.#world.consume(engine, this.#given(engine, request)), due)
    // A crossing beside an open reservation waits for it.
    if (this.#reservations.some(({ status }) => status !== 'refused')) return
    assert.deepEqual(this.#world.near.map(inWords), crossed(due, model.settings.thresholds), 'limits that are near')
  }

  async #reserveAnew(step: StepOf<'reserve'>): Promise<void> {
    const ttlMs = this.#world.canHold ? step.ttlMs : undefined
    await this.#reserve(step.engine, step.subject, { ...this.#request(step), id: step.id, ttlMs })
  }

  async #reserve(engine: number, subject: number, request: ModelReserveRequest): Promise<void> {
    if (request.id !== undefined) this.#attempts.push({ subject, request })
    const real = await this.#world.reserve(engine, this.#given(engine, request))
    const model = this.#model(engine).reserve(request)
    assert.equal(real.status, model.status, 'status of the reservation')
    if (real.status === 'conflict') return
    this.#reservations.push(model)
    if (real.decision === undefined || model.decision === undefined) assert.equal(real.decision, model.decision)
    else compareDecisions(real.decision, model.decision)
    if (real.status === 'reserved') assert.equal(real.endsAt, model.endsAt, 'the end of a hold')
  }

  /** Whether an engine's policy has the operation of an earlier attempt, and buckets for its bursts. */
  #isKnown({ engine, reservation }: StepOf<'again'>): boolean {
    if (this.#attempts.length === 0) return false
    const { request } = pick(this.#attempts, reservation)
    const { operations, limits } = this.#policy(engine)
    const isPlain = ({ name, window }: Policy['limits'][number]): boolean =>
      window?.burst !== undefined || typeof (request.limits?.[name] ?? 0) !== 'object'
    return Object.hasOwn(operations, request.operation) && limits.every(isPlain)
  }

  async #again({ engine, reservation }: StepOf<'again'>): Promise<void> {
    const { subject, request } = pick(this.#attempts, reservation)
    await this.#reserve(engine, subject, { ...request, subject: this.#subject(engine, subject) })
  }

  /** Continues a hold in either process, under its policy of today. */
  async #resume({ engine, reservation }: StepOf<'resume'>): Promise<void> {
    const [real, model] = this.#heldAt(reservation) ?? []
    if (real?.token === undefined || model === undefined) return
    const { token } = real
    const due = this.#model(engine).resume(model)
    const answer = await answerOf(() => this.#world.resume(engine, token))
    assert.deepEqual(answer, 'code' in due ? due : { value: undefined }, 'a hold that another process continues')
    if ('value' in due) this.#reservations.push(due.value)
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
    const actual = shareOf(model.decision?.cost ?? everyUnit(this.#scene.policy, 4), step.percent)
    const given = costIn(this.#scene.policy, actual)
    assert.deepEqual(await answerOf(() => real.commit(given)), this.#models[0].commit(model, actual), 'a commit')
  }

  /** A reservation that was not refused, and the model's. */
  #heldAt(index: number): readonly [real: AnyHeld, model: ModelReservation] | undefined {
    const { reservations } = this.#world
    if (reservations.length === 0) return undefined
    const real = pick(reservations, index)
    const isHeld = real.status === 'reserved' || real.status === 'resumed'
    return isHeld ? [real, pick(this.#reservations, index)] : undefined
  }

  async #change(step: StepOf<'extend' | 'add'>): Promise<void> {
    const [real, model] = this.#heldAt(step.reservation) ?? []
    if (real === undefined || model === undefined) return
    if (step.kind === 'extend') {
      const due = this.#models[0].extend(model, step.ttlMs)
      assert.deepEqual(await answerOf(() => real.extend(step.ttlMs)), due, 'an extension')
      return
    }
    const cost = amountIn(this.#scene.policy, step.cost)
    const due = this.#models[0].add(model, cost)
    const answer = await answerOf(async () => real.add(costIn(this.#scene.policy, cost)))
    if ('value' in answer && 'value' in due) compareDecisions(answer.value, due.value)
    else assert.deepEqual(answer, due, 'a growth')
  }

  async #reset(step: StepOf<'reset'>): Promise<void> {
    const limits = step.limits?.map((index) => pick(this.#policy(step.engine).limits, index).name)
    const subject = this.#subject(step.engine, step.subject)
    await this.#world.engine(step.engine).reset(subject, { limits })
    this.#model(step.engine).reset(subject, limits)
  }

  async #changeSettings(step: SettingsStep): Promise<void> {
    const change = settingsChange(this.#model(step.engine), step)
    await this.#world.engine(step.engine).settings.update(change)
    this.#model(step.engine).updateSettings(change)
  }

  async #changeSubject(step: StepOf<'override' | 'forget'>): Promise<void> {
    const { subjects } = this.#world.engine(step.engine)
    const own = this.#policy(step.engine).layers.filter(({ shared }) => !shared)
    const { name: layer } = pick(own, step.subject)
    const subject = this.#subject(step.engine, step.subject)
    const key = typeof subject === 'string' ? subject : (subject[layer] ?? 'without a key')
    const settings = step.kind === 'forget' ? undefined : this.#subjectSettings(step, layer)
    if (settings === undefined) await subjects.remove({ [layer]: key })
    else await subjects.set({ [layer]: key }, settings)
    this.#model(step.engine).setSubject(layer, key, settings)
  }

  #subjectSettings(step: StepOf<'override'>, layer: string): SubjectSettings {
    const { engine, limit, number, bypass, plan, until, anchor, blocked } = step
    const policy = this.#policy(engine)
    const ends = until === null ? null : this.#world.harness.clock.now() + until
    const shared = policy.layers.filter((each) => each.shared).map(({ name }) => name)
    const own = policy.limits.filter((rule) => policy.layers[rule.layer]?.name === layer)
    const rule = pick(own, limit)
    return {
      limits: { [rule.name]: number === null ? null : numberFor(rule, number) },
      bypass: bypass ? Object.fromEntries(shared.map((name) => [name, true])) : {},
      plan: plan !== null && this.#model(engine).plans.includes(plan) ? plan : null,
      blocked,
      until: { limits: ends, plan: number === null ? ends : null, blocked: blocked ? ends : null },
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
function inOrder<H extends { readonly endsAt: number; readonly cost: unknown }>(holds: readonly H[]): H[] {
  const text = ({ cost }: H): string => JSON.stringify(cost)
  return [...holds].sort((a, b) => a.endsAt - b.endsAt || text(a).localeCompare(text(b)))
}
