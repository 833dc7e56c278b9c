import { describeCases, type TestRunner } from '../suite/harness.ts'
import { ANSWER_ROWS } from './answer-cases.ts'
import { type HttpCase, type HttpHarness, httpCases, runHttpCase } from './http-case.ts'
import { INPUT_ROWS } from './input-cases.ts'
import { LIFETIME_ROWS } from './lifetime-cases.ts'
import { OUTCOME_ROWS } from './outcome-cases.ts'
import { STORE_ROWS } from './store-cases.ts'

/** All cases that an adapter must pass. */
export const HTTP_CASES: readonly HttpCase[] = httpCases({
  ...OUTCOME_ROWS,
  ...ANSWER_ROWS,
  ...INPUT_ROWS,
  ...LIFETIME_ROWS,
  ...STORE_ROWS,
})

/**
 * Registers the cases as tests of a runner.
 *
 * @returns the number of cases, so that a test can check that none is missing
 * @example
 * describeHttp({ describe, it }, { capabilities: ['hang-ups'], serve: (scenario) => myServer(new HttpApp(scenario)) })
 */
export function describeHttp(runner: TestRunner, harness: HttpHarness, name = 'HTTP adapter'): number {
  return describeCases(runner, name, HTTP_CASES, (each) => runHttpCase(each, harness))
}
