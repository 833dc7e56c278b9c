import assert from 'node:assert/strict'
import type { AdmittedDecision, Decision, QuotaRequest } from '@scoregw/quota'
import { ofUnit } from '@scoregw/quota/internal'
import type { StoreFactory, StoreHarness } from '@scoregw/quota-testkit'
import * as fc from 'fast-check'
import { amountIn, costIn, shareOf } from './amounts.ts'
import { Ledger } from './ledger.ts'
import { pick, type Scene } from './policies.ts'
import { checkParameters, type HistoryOptions, playable } from './run-history.ts'
import { PLAIN_STEPS, type Step } from './steps.ts'
import { World } from './world.ts'

/** A request that is retried at the time named in its refusal. */
interface Retry {
  readonly kind: 'retry'
  readonly engine: number
  readonly subject: number
  readonly operation: number
  readonly cost: number
}

type PlainStep = Step | Retry

const retry: fc.Arbitrary<Retry> = fc.record({
  kind: fc.constant('retry'),
  engine: fc.nat({ max: 1 }),
  subject: fc.nat({ max: 3 }),
  operation: fc.nat({ max: 3 }),
  cost: fc.nat({ max: 40 }),
})

/** How much the checks saw. A check that saw nothing proves nothing. */
export interface PromiseCounts {
  admitted: number
  refused: number
  /** Refusals whose wait was tried. */
  retried: number
}

/** Plays one history without a model, and checks the visible promises directly. */
class Witness {
  readonly #scene: Scene
  readonly #world: World
  readonly #ledger: Ledger
  readonly #counts: PromiseCounts
  readonly #held: AdmittedDecision[] = []
  readonly #settled = new Set<number>()

  constructor(scene: Scene, harness: StoreHarness, counts: PromiseCounts) {
    this.#scene = scene
    this.#world = new World(harness, scene)
    this.#ledger = new Ledger()
    this.#counts = counts
  }

  async play(step: PlainStep): Promise<void> {
    if (step.kind === 'consume') this.#enter(await this.#world.consume(step.engine, this.#request(step)))
    else if (step.kind === 'retry') await this.#retry(step)
    else if (step.kind === 'reserve') await this.#reserve(step.engine, this.#request(step))
    else if (step.kind === 'commit') await this.#settle(step.reservation, step.percent)
    else if (step.kind === 'cancel') await this.#settle(step.reservation, undefined)
    else await this.#else(step)
  }

  async #else(step: PlainStep): Promise<void> {
    const { harness } = this.#world
    if (step.kind === 'advance') await this.#world.turnTo(harness.clock.now() + step.ms)
    else if (step.kind === 'to-end') await this.#turnToEnd(step.end, step.offsetMs)
    else if (step.kind === 'mode') await this.#world.engine(step.engine).settings.update({ mode: step.mode })
    else if (step.kind === 'site') await this.#changeSite(step.engine, step.enabled, step.multiplier)
    else if (step.kind === 'reset') await this.#reset(step.engine, step.subject, step.limits)
  }

  #request(step: { subject: number; operation: number; cost?: number | undefined }): QuotaRequest {
    const { operations, limits } = this.#scene.policy
    const slots = limits.filter(({ window }) => window === undefined)
    const plain = Object.keys(operations).filter((name) => !slots.some((limit) => limit.operations?.includes(name)))
    const operation = pick(plain, step.operation)
    const { policy } = this.#scene
    const cost = step.cost === undefined ? undefined : costIn(policy, amountIn(policy, step.cost))
    return { subject: pick(this.#scene.subjects, step.subject), operation, cost }
  }

  #enter(decision: Decision): void {
    if (decision.allowed) this.#ledger.admitted(decision)
    this.#counts[decision.allowed ? 'admitted' : 'refused']++
  }

  async #reserve(engine: number, request: QuotaRequest): Promise<void> {
    const reservation = await this.#world.reserve(engine, request)
    assert.ok(reservation.status === 'reserved' || reservation.status === 'refused')
    this.#enter(reservation.decision)
    if (reservation.status === 'reserved') this.#held.push(reservation.decision)
    else this.#world.reservations.pop()
  }

  /** Commits a part, or cancels. A second settlement must have no effect. */
  async #settle(index: number, percent: number | undefined): Promise<void> {
    const { reservations } = this.#world
    if (reservations.length === 0) return
    const at = index % reservations.length
    const decision = pick(this.#held, at)
    const { cost } = decision
    const actual = shareOf(cost, percent ?? 0)
    if (percent === undefined) await pick(reservations, at).cancel()
    else await pick(reservations, at).commit(costIn(this.#scene.policy, actual))
    if (!this.#settled.has(at)) this.#ledger.gaveBack(decision, (unit) => ofUnit(cost, unit) - ofUnit(actual, unit))
    this.#settled.add(at)
  }

  async #turnToEnd(end: number, offsetMs: number): Promise<void> {
    const { limits } = await this.#world.status(0, pick(this.#scene.subjects, end))
    const ends = Object.values(limits).flatMap((limit) => limit?.resetAt ?? [])
    if (ends.length > 0) await this.#world.turnTo(pick(ends, end) + offsetMs)
  }

  async #changeSite(engine: number, enabled: boolean, multiplier: number): Promise<void> {
    const shared = this.#scene.policy.layers.filter((layer) => layer.shared)
    const switches = Object.fromEntries(shared.map(({ name }) => [name, { enabled, multiplier }]))
    await this.#world.engine(engine).settings.update({ shared: switches })
  }

  async #reset(engine: number, subject: number, given: readonly number[] | undefined): Promise<void> {
    const limits = given?.map((index) => pick(this.#scene.policy.limits, index).name)
    await this.#world.engine(engine).reset(pick(this.#scene.subjects, subject), { limits })
  }

  /**
   * Without other traffic, a request is refused until just before the named end, and admitted after the named seconds.
   */
  async #retry(step: Retry): Promise<void> {
    const request = this.#request(step)
    const first = await this.#world.consume(step.engine, request)
    this.#enter(first)
    if (first.allowed) return
    this.#counts.retried++
    await this.#world.turnTo(first.resetAt - 1)
    assert.equal((await this.#world.peek(step.engine, request)).allowed, false, 'refused 1 ms before resetAt')
    await this.#world.turnTo(
      first.retryAfterSeconds === null ? first.resetAt : first.now + first.retryAfterSeconds * 1_000,
    )
    const then = await this.#world.consume(step.engine, request)
    assert.equal(then.allowed, first.retryable, 'admitted after retryAfterSeconds, unless no waiting helps')
    this.#enter(then)
  }
}

/**
 * Plays random histories without a model, and checks two promises directly: no window instance admits more than its
 * limit, and the time in a refusal is accurate.
 *
 * @returns how many decisions of each kind were seen
 * @throws {Error} at the first broken promise, with the seed and the shortest history found that shows it
 */
export async function checkPromises(factory: StoreFactory, options: HistoryOptions = {}): Promise<PromiseCounts> {
  const counts: PromiseCounts = { admitted: 0, refused: 0, retried: 0 }
  const steps = fc.array(fc.oneof<fc.Arbitrary<PlainStep>[]>(...PLAIN_STEPS, retry, retry), {
    maxLength: options.maxSteps ?? 40,
    size: 'max',
  })
  const { scenes } = await playable(factory, options.scenes)
  const property = fc.asyncProperty(fc.constantFrom(...scenes), steps, async (scene, history) => {
    const harness = await factory({})
    try {
      const witness = new Witness(scene, harness, counts)
      for (const step of history) await witness.play(step)
    } finally {
      await harness.stop()
    }
  })
  await fc.assert(property, checkParameters(options))
  return counts
}
