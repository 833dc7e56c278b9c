import { missingOf, type StoreFactory } from '@scoregw/quota-testkit'
import { testSeed } from '@scoregw/server-kit'
import * as fc from 'fast-check'
import { SCENES, type Scene } from './policies.ts'
import { type Step, stepsOf } from './steps.ts'
import { Trial } from './trial.ts'

/** The number of random histories, and their seed. */
export interface HistoryOptions {
  /**
   * The number of histories.
   *
   * @default 1_000
   */
  readonly runs?: number | undefined
  /**
   * The seed of a failed run, to repeat it. Every failure's message contains it.
   *
   * @default {@link testSeed}
   */
  readonly seed?: number | undefined
  /**
   * The most steps of a history.
   *
   * @default 40
   */
  readonly maxSteps?: number | undefined
  /**
   * Whether to search for the shortest failing history.
   *
   * @default true
   */
  readonly shrink?: boolean | undefined
  /**
   * The policies. Those that the store can't have are left out.
   *
   * @default {@link SCENES}
   */
  readonly scenes?: readonly Scene[] | undefined
}

type CheckParameters = Pick<fc.Parameters, 'numRuns' | 'endOnFailure' | 'seed'>

/** The options in fast-check's form. */
export function checkParameters(options: HistoryOptions): CheckParameters {
  const { runs = 1_000, seed = testSeed, shrink = true } = options
  return { numRuns: runs, endOnFailure: !shrink, seed }
}

/** One step as fast-check plays and shrinks it. */
export type QuotaCommand = fc.AsyncCommand<Trial, Trial>

class StepCommand implements QuotaCommand {
  readonly #step: Step

  constructor(step: Step) {
    this.#step = step
  }

  check(trial: Readonly<Trial>): boolean {
    return trial.admits(this.#step)
  }

  async run(trial: Trial): Promise<void> {
    await trial.play(this.#step)
  }

  toString(): string {
    return JSON.stringify(this.#step)
  }
}

/**
 * Random commands on two engines that share a store: requests, settlements, resets, settings, the clock.
 *
 * @param canHold whether holds are made, extended, grown and ended
 */
export function quotaCommands(maxSteps = 40, canHold = true): fc.Arbitrary<Iterable<QuotaCommand>> {
  const commands = stepsOf(canHold).map((steps) => steps.map((step): QuotaCommand => new StepCommand(step)))
  return fc.commands(commands, { maxCommands: maxSteps, size: 'max' })
}

/**
 * Plays one history on a new store and on the model. After each command, the decision and the status must be the same
 * in every member.
 *
 * @throws {AssertionError} at the first difference
 */
export async function runHistory(factory: StoreFactory, scene: Scene, commands: Iterable<QuotaCommand>): Promise<void> {
  const harness = await factory({})
  try {
    const trial = new Trial(scene, harness)
    await fc.asyncModelRun(() => ({ model: trial, real: trial }), commands)
    await trial.compareAll()
  } finally {
    await harness.stop()
  }
}

/** The abilities of a store in histories: the scenes it can play, and whether it has holds. */
export async function playable(
  factory: StoreFactory,
  all: readonly Scene[] = SCENES,
): Promise<{ readonly scenes: readonly Scene[]; readonly canHold: boolean }> {
  const harness = await factory({})
  try {
    const scenes = all.filter(({ needs }) => missingOf(harness, needs) === undefined)
    return { scenes, canHold: missingOf(harness, ['holds']) === undefined }
  } finally {
    await harness.stop()
  }
}

/**
 * Plays random histories on new stores and on the model.
 *
 * @throws {Error} at the first difference, with the seed and the shortest history found that shows it
 */
export async function runHistories(factory: StoreFactory, options: HistoryOptions = {}): Promise<void> {
  const { scenes, canHold } = await playable(factory, options.scenes)
  const commands = quotaCommands(options.maxSteps, canHold)
  const property = fc.asyncProperty(fc.constantFrom(...scenes), commands, (scene, history) =>
    runHistory(factory, scene, history),
  )
  await fc.assert(property, checkParameters(options))
}
