import assert from 'node:assert/strict'
import type { Decision, LimitTable, ReserveRequest, Subject, SubjectSettings } from '@scoregw/quota'
import { type ModelReservation, QuotaModel } from '../model/quota-model.ts'
import type { StoreHarness } from '../suite/harness.ts'
import { pick, type Scene } from './policies.ts'
import type { Step } from './steps.ts'
import { ID_TTL_MS, plainDecision, World } from './world.ts'

/** How far all steps back of one history may lead together: less than any store's grace for ended windows. */
const MOST_BACK_MS = 30_000

type StepOf<K extends Step['kind']> = Extract<Step, { readonly kind: K }>

/** A history that is being played: the real thing and the model side by side. */
export class Trial {
  readonly #scene: Scene
  readonly #world: World
  readonly #model: QuotaModel
  readonly #reservations: ModelReservation[] = []
  /** Every reservation that was tried under an id. */
  readonly #attempts: ReserveRequest[] = []
  #backMs = 0

  constructor(scene: Scene, harness: StoreHarness) {
    this.#scene = scene
    this.#world = new World(harness, scene)
    this.#model = new QuotaModel(scene.policy, harness.clock, ID_TTL_MS)
  }

  /** Whether a step can be played now. */
  admits(step: Step): boolean {
    if (step.kind === 'commit' || step.kind === 'cancel') return this.#reservations.length > 0
    if (step.kind === 'again') return this.#attempts.length > 0
    if (step.kind === 'to-end') return this.#model.ends(step.of).length > 0
    if (step.kind !== 'step-back') return true
    // No store has to remember an id again that it was free to forget.
    if (this.#model.remembersAgain(step.ms)) return false
    return this.#world.harness.stepClock !== undefined && this.#backMs + step.ms <= MOST_BACK_MS
  }

  /** Plays a step on both sides and compares what they answer, and the status afterwards. */
  async play(step: Step): Promise<void> {
    if (step.kind === 'consume' || step.kind === 'peek') await this.#ask(step)
    else if (step.kind === 'reserve') await this.#reserve(step.engine, { ...this.#request(step), id: step.id })
    else if (step.kind === 'again') await this.#reserve(step.engine, pick(this.#attempts, step.reservation))
    else if (step.kind === 'commit' || step.kind === 'cancel') await this.#settle(step)
    else if (step.kind === 'reset') await this.#reset(step)
    else if (step.kind === 'override' || step.kind === 'forget') await this.#changeSubject(step)
    else if (step.kind === 'advance' || step.kind === 'to-end' || step.kind === 'step-back') await this.#turn(step)
    else await this.#changeSettings(step)
    await this.#compareStatus('subject' in step ? step.subject : 0)
  }

  /** Compares what can be seen of every subject, by both engines. */
  async compareAll(): Promise<void> {
    for (const [index] of this.#scene.subjects.entries()) await this.#compareStatus(index)
  }

  async #compareStatus(index: number): Promise<void> {
    const subject = this.#subject(index)
    assert.deepEqual(await this.#world.status(index, subject), this.#model.status(subject), 'status')
  }

  #subject(index: number): Subject {
    return pick(this.#scene.subjects, index)
  }

  #request(step: StepOf<'consume' | 'peek' | 'reserve'>) {
    const operation = pick(Object.keys(this.#scene.policy.operations), step.operation)
    return { subject: this.#subject(step.subject), operation, cost: step.cost }
  }

  async #ask(step: StepOf<'consume' | 'peek'>): Promise<void> {
    const request = this.#request(step)
    if (step.kind === 'peek') compareDecisions(await this.#world.peek(step.engine, request), this.#model.peek(request))
    else compareDecisions(await this.#world.consume(step.engine, request), this.#model.consume(request))
  }

  async #reserve(engine: number, request: ReserveRequest): Promise<void> {
    if (request.id !== undefined) this.#attempts.push(request)
    const real = await this.#world.reserve(engine, request)
    const model = this.#model.reserve(request, request.id)
    assert.equal(real.status, model.status, 'status of the reservation')
    if (real.status === 'conflict') return
    this.#reservations.push(model)
    if (real.decision === undefined || model.decision === undefined) assert.equal(real.decision, model.decision)
    else compareDecisions(real.decision, model.decision)
  }

  async #settle(step: StepOf<'commit' | 'cancel'>): Promise<void> {
    const real = pick(this.#world.reservations, step.reservation)
    const model = pick(this.#reservations, step.reservation)
    if (step.kind === 'cancel') {
      await real.cancel()
      this.#model.cancel(model)
      return
    }
    if (real.status === 'refused') return
    const cost = model.decision?.cost ?? 0
    const actual = Math.floor((cost * step.percent) / 100)
    await real.commit(actual)
    this.#model.commit(model, actual)
  }

  async #reset(step: StepOf<'reset'>): Promise<void> {
    const { layers, categories } = this.#scene.policy
    const layer = step.layer === undefined ? undefined : pick(layers, step.layer).name
    const category = step.category === undefined ? undefined : pick(categories, step.category)
    const subject = this.#subject(step.subject)
    await this.#world.engine(step.engine).reset(subject, { layer, category })
    this.#model.reset(subject, { layer, category })
  }

  async #changeSettings(step: StepOf<'mode' | 'custom' | 'site' | 'price'>): Promise<void> {
    const change = this.#change(step)
    await this.#world.engine(step.engine).settings.update(change)
    this.#model.updateSettings(change)
  }

  #change(step: StepOf<'mode' | 'custom' | 'site' | 'price'>) {
    const { policy } = this.#scene
    if (step.kind === 'mode') return { mode: step.mode }
    if (step.kind === 'custom') return { mode: 'custom' as const, custom: this.#flatTable(step.limit) }
    if (step.kind === 'price') {
      const operation = pick(Object.keys(policy.operations), step.operation)
      return { prices: { ...this.#model.settings.prices, [operation]: step.cost } }
    }
    const { enabled, multiplier } = step
    const shared = policy.layers.filter((layer) => layer.shared)
    return { layers: Object.fromEntries(shared.map(({ name }) => [name, { enabled, multiplier }])) }
  }

  /** A table with one limit everywhere. */
  #flatTable(limit: number | 'unlimited'): LimitTable {
    const { layers, categories, windows } = this.#scene.policy
    const ofCategory = Object.fromEntries(windows.map(({ label }) => [label, limit]))
    const ofLayer = Object.fromEntries(categories.map((category) => [category, ofCategory]))
    return Object.fromEntries(layers.map(({ name }) => [name, ofLayer]))
  }

  async #changeSubject(step: StepOf<'override' | 'forget'>): Promise<void> {
    const { subjects } = this.#world.engine(step.engine)
    const own = this.#scene.policy.layers.filter(({ shared }) => !shared)
    const { name: layer } = pick(own, step.subject)
    const subject = this.#subject(step.subject)
    const key = typeof subject === 'string' ? subject : (subject[layer] ?? '')
    const settings = step.kind === 'forget' ? undefined : this.#subjectSettings(step)
    if (settings === undefined) await subjects.remove(key, { layer })
    else await subjects.set(key, settings, { layer })
    this.#model.setSubject(layer, key, settings)
  }

  #subjectSettings({ category, window, limit, bypass }: StepOf<'override'>): SubjectSettings {
    const { layers, categories, windows } = this.#scene.policy
    const shared = layers.filter((layer) => layer.shared).map(({ name }) => name)
    return {
      overrides: { [pick(categories, category)]: { [pick(windows, window).label]: limit } },
      bypass: bypass ? shared : [],
    }
  }

  async #turn(step: StepOf<'advance' | 'to-end' | 'step-back'>): Promise<void> {
    const { harness } = this.#world
    const now = harness.clock.now()
    if (step.kind === 'step-back') {
      this.#backMs += step.ms
      await harness.stepClock?.(-step.ms)
    } else if (step.kind === 'advance') {
      await this.#world.turnTo(now + step.ms)
    } else {
      await this.#world.turnTo(pick(this.#model.ends(step.of), step.end) + step.offsetMs)
    }
  }
}

function compareDecisions(real: Decision, model: Decision): void {
  assert.deepEqual(plainDecision(real), plainDecision(model), 'decision')
}
