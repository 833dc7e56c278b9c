/**
 * A black-box test suite for any rate limiter. It uses a limiter through five functions.
 *
 * @module
 */
import { AssertionError } from 'node:assert'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { CASES, type TortureCase } from './torture/cases.ts'
import { NotOffered, type TortureLimiter } from './torture/limiter.ts'
import { trialOf } from './torture/trial.ts'

export type { TortureCase } from './torture/cases.ts'
export {
  NotOffered,
  type TortureAnswer,
  type TortureLimit,
  type TortureLimiter,
  type TortureLimits,
  type TortureRequest,
} from './torture/limiter.ts'

/** The names of all cases, in the order in which they run. */
export const TORTURE_CASES: readonly TortureCase[] = Object.keys(CASES) as TortureCase[]

/** The outcome of a case. */
export interface TortureFinding {
  readonly case: TortureCase
  readonly verdict: 'kept' | 'broken' | 'not offered'
  /** The finding, in one sentence. */
  readonly found?: string
}

/** Options of a run. */
export interface TortureOptions {
  /**
   * The cases to run.
   *
   * @default all of them
   */
  readonly only?: readonly TortureCase[] | undefined
  /**
   * The length of the shortest window in milliseconds. At least 2,000, because waits are whole seconds.
   *
   * @default 60_000
   */
  readonly windowMs?: number | undefined
  /**
   * The number of subjects in the cases about memory. A tenth of them stay. Below 100,000, noise on the heap dominates.
   *
   * @default 1_000_000
   */
  readonly subjects?: number | undefined
  /**
   * Returns the bytes that all counters use, if they are not on this process's heap.
   *
   * @default the heap's, after garbage collection
   */
  readonly bytes?: (() => Promise<number>) | undefined
}

/**
 * Runs the cases, each on new instances of the limiter.
 *
 * @returns a finding for each case
 * @throws what a function of the limiter throws, other than {@link NotOffered}
 * @example
 * const findings = await torture({ make, consume, retry, kill, advance })
 * expect(findings.filter(({ verdict }) => verdict === 'broken')).toEqual([])
 */
export async function torture<Limiter>(
  limiter: TortureLimiter<Limiter>,
  options: TortureOptions = {},
): Promise<readonly TortureFinding[]> {
  const { only = TORTURE_CASES, windowMs = 60_000, subjects = 1_000_000, bytes = heapBytes } = options
  if (!(windowMs >= 2_000)) throw new RangeError(`windowMs: expected at least 2,000, got ${windowMs}`)
  const trial = trialOf(limiter, { windowMs, subjects, bytes })
  const findings: TortureFinding[] = []
  for (const name of only) findings.push({ case: name, ...(await verdictOf(() => CASES[name](trial))) })
  return findings
}

async function verdictOf(play: () => Promise<void>): Promise<Omit<TortureFinding, 'case'>> {
  try {
    await play()
    return { verdict: 'kept' }
  } catch (error) {
    if (error instanceof NotOffered) return { verdict: 'not offered', found: error.message }
    if (error instanceof AssertionError) return { verdict: 'broken', found: error.message.split('\n')[0] ?? '' }
    throw error
  }
}

/** Bytes of heap and buffers in this process, after garbage collection. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  // Buffers are freed a few turns of the event loop after their collection.
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    gc()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
