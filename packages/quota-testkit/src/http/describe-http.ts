import { ok } from 'node:assert/strict'
import type { TestRunner } from '../suite/describe-store.ts'
import { HTTP_CALLER_CASES } from './caller-cases.ts'
import { HTTP_FIELD_CASES } from './field-cases.ts'
import { newSeed, runHttpFuzz } from './fuzz.ts'
import { HTTP_HOLD_CASES } from './hold-cases.ts'
import { type HttpCase, type HttpHarness, runHttpCase } from './http-case.ts'
import { HTTP_INPUT_CASES } from './input-cases.ts'
import { HTTP_OUTCOME_CASES } from './outcome-cases.ts'
import { HTTP_REFUSAL_CASES } from './refusal-cases.ts'
import { HTTP_SETTLE_CASES } from './settle-cases.ts'
import { HTTP_STORE_CASES } from './store-cases.ts'

/** Everything that an adapter has to do, one case each. */
export const HTTP_CASES: readonly HttpCase[] = [
  ...HTTP_OUTCOME_CASES,
  ...HTTP_SETTLE_CASES,
  ...HTTP_HOLD_CASES,
  ...HTTP_REFUSAL_CASES,
  ...HTTP_FIELD_CASES,
  ...HTTP_INPUT_CASES,
  ...HTTP_CALLER_CASES,
  ...HTTP_STORE_CASES,
]

export interface DescribeHttpOptions {
  /** Made-up requests that are sent as well; 0: none. Default: 300 */
  readonly requests?: number
  /** For made-up requests that shall be the same again; told where they fail. */
  readonly seed?: number
}

/** Made-up requests of one test: as many as are answered long before a runner gives a test up. */
const REQUESTS_A_TEST = 500

/**
 * Registers the cases as tests of a runner, and made-up requests behind them, which count every token.
 *
 * @returns how many cases there are, so that a test can tell that none went missing
 * @example
 * describeHttp({ describe, it }, { capabilities: ['hang-ups'], serve: (scenario) => myServer(new HttpApp(scenario)) })
 */
export function describeHttp(
  runner: TestRunner,
  harness: HttpHarness,
  name = 'HTTP adapter',
  { requests = 300, seed = newSeed() }: DescribeHttpOptions = {},
): number {
  runner.describe(name, () => {
    for (const testCase of HTTP_CASES) runner.it(testCase.name, () => runHttpCase(testCase, harness))
    for (let from = 0; from < requests; from += REQUESTS_A_TEST) {
      const some = Math.min(REQUESTS_A_TEST, requests - from)
      // In the name, so that a run that is given up tells it as well.
      runner.it(
        `${some} made-up requests get their statuses and leave their charges (seed ${seed + from})`,
        async () => {
          const { statuses, charged } = await runHttpFuzz(harness, { requests: some, seed: seed + from })
          // Else there was nothing to count. A quarter of a sample is charged, so that chance alone does not fail it.
          ok(
            some < 100 || (Object.keys(statuses).length > 2 && charged > 0),
            `only ${JSON.stringify({ statuses, charged })}`,
          )
        },
      )
    }
  })
  return HTTP_CASES.length
}
