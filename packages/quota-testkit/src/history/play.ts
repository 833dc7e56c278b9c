import assert from 'node:assert/strict'
import type { StoreAbilities } from '@scoregw/quota/store'
import fc from 'fast-check'
import { modelStore } from '../model/model-store.ts'
import { type CaseContext, contextOf, type StoreFactory } from '../suite/harness.ts'
import { plansFor, schemaOf } from './schemas.ts'
import { Side } from './side.ts'
import { type Step, stepsFor } from './steps.ts'

/** How far the clock steps back at once, and in one history: less than any store keeps what has ended. */
const BACK_MS = 70
const MOST_BACK_MS = 1_000

/** How many random histories, and which. */
export interface HistoryOptions {
  /** The number of histories. */
  readonly runs: number
  /** A failure prints its seed. The same seed gives the same histories. */
  readonly seed: number
  /** The most steps of a history. */
  readonly maxSteps?: number
  /** Whether to search for the shortest history that fails. @default true */
  readonly shrink?: boolean
  /** What the histories use. @default everything that the store can */
  readonly abilities?: StoreAbilities
}

/**
 * Plays random histories on a store and on the model. A history has two schemas and two clients, so that a hold is taken
 * under one and settled under the other. Every answer must be the same.
 *
 * @returns the outcomes that were met, by step
 * @throws {Error} at the first difference, with the seed and the shortest history that shows it
 */
export async function playHistories(context: CaseContext, options: HistoryOptions): Promise<ReadonlySet<string>> {
  const { store, peer, clock, capabilities } = context
  const { runs, seed, maxSteps = 30, shrink = true, abilities: can = store.can ?? {} } = options
  const plans = plansFor(can)
  const steps = stepsFor({
    can,
    hasIds: capabilities.includes('ids'),
    canStepClock: capabilities.includes('clock-steps'),
  })
  const outcomes = new Set<string>()
  let played = 0
  const property = fc.asyncProperty(
    fc.tuple(plans, plans),
    fc.array(steps, { minLength: 1, maxLength: maxSteps, size: 'max' }),
    async (pair, history) => {
      const name = String(played++)
      // A new one for each, since the model looks at everything that it has.
      const right = modelStore(clock)
      const terms = { schemas: pair.map((plan) => schemaOf(plan, name)), history: name, clock }
      const tested = new Side({ stores: [store, peer], ...terms })
      const expected = new Side({ stores: [right, right], ...terms })
      await play({ context, tested, expected, outcomes }, history)
    },
  )
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: !shrink })
  return outcomes
}

/**
 * Plays random histories on a new store and on the model, as the suite does, but as many as you like.
 *
 * @returns the outcomes that were met, by step, such as `take refused`
 * @throws {Error} at the first difference, with the seed and the shortest history that shows it
 */
export async function runStoreHistories(factory: StoreFactory, options: HistoryOptions): Promise<ReadonlySet<string>> {
  const harness = await factory({})
  try {
    return await playHistories(contextOf(harness), options)
  } finally {
    await harness.stop()
  }
}

interface Played {
  readonly context: CaseContext
  readonly tested: Side
  readonly expected: Side
  readonly outcomes: Set<string>
}

async function play({ context, tested, expected, outcomes }: Played, history: readonly Step[]): Promise<void> {
  let backMs = 0
  for (const step of history) {
    if (step.kind === 'wait') await context.advance(step.ms)
    if (step.kind === 'back' && backMs < MOST_BACK_MS) {
      backMs += BACK_MS
      await context.stepClock(-BACK_MS)
    }
    assert.deepEqual(await tested.swept(step), await expected.swept(step), `holds that ended before "${step.kind}"`)
    const reply = await tested.play(step)
    assert.deepEqual(withoutAbsent(reply), withoutAbsent(await expected.play(step)), `the answer to "${step.kind}"`)
    outcomes.add(`${step.kind} ${(reply as { outcome?: string } | undefined)?.outcome}`)
  }
}

/** Removes members that are `undefined`. */
function withoutAbsent(reply: unknown): unknown {
  return reply === undefined ? reply : JSON.parse(JSON.stringify(reply))
}
