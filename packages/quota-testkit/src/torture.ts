/**
 * A black-box suite for rate limiters of any kind: five functions are its whole view of one.
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

/** The names of all cases, in the order of their run. */
export const TORTURE_CASES: readonly TortureCase[] = Object.keys(CASES) as TortureCase[]

/** The outcome of a case. */
export interface TortureFinding {
  readonly case: TortureCase
  readonly verdict: 'kept' | 'broken' | 'not offered'
  /** What was found, in a sentence. */
  readonly found?: string
}

/** How the suite plays a limiter. */
export interface TortureOptions {
  /**
   * Cases to play.
   * @default all of them
   */
  readonly only?: readonly TortureCase[] | undefined
  /**
   * The length of the shortest window in milliseconds: at least 2,000, since waiting times count in whole seconds.
   * @default 60_000
   */
  readonly windowMs?: number | undefined
  /**
   * How many subjects come in the cases about memory; a tenth of them stay. Of fewer than 100,000 the heap shows other things.
   * @default 1_000_000
   */
  readonly subjects?: number | undefined
  /**
   * Bytes that all counters take up, where they are not on this process' heap.
   * @default the heap's, after garbage collection
   */
  readonly bytes?: (() => Promise<number>) | undefined
}

/**
 * Plays the cases on a limiter, each on new instances.
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

/** Bytes on the heap of this process, and in its buffers, after garbage collection. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  // Buffers are given back some turns of the event loop after they were collected.
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    gc()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
