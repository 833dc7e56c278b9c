import { describeCases, type TestRunner } from '../suite/harness.ts'
import { HTTP_CALLER_CASES } from './caller-cases.ts'
import { HTTP_ENDED_CASES } from './ended-cases.ts'
import { HTTP_FIELD_CASES } from './field-cases.ts'
import { HTTP_FUNCTION_CASES } from './function-cases.ts'
import { HTTP_HOLD_CASES } from './hold-cases.ts'
import { type HttpCase, type HttpHarness, runHttpCase } from './http-case.ts'
import { HTTP_INPUT_CASES } from './input-cases.ts'
import { HTTP_OUTCOME_CASES } from './outcome-cases.ts'
import { HTTP_REFUSAL_CASES } from './refusal-cases.ts'
import { HTTP_SETTLE_CASES } from './settle-cases.ts'
import { HTTP_STORE_CASES } from './store-cases.ts'

/** All cases that an adapter must pass. */
export const HTTP_CASES: readonly HttpCase[] = [
  ...HTTP_OUTCOME_CASES,
  ...HTTP_SETTLE_CASES,
  ...HTTP_HOLD_CASES,
  ...HTTP_REFUSAL_CASES,
  ...HTTP_FIELD_CASES,
  ...HTTP_INPUT_CASES,
  ...HTTP_CALLER_CASES,
  ...HTTP_STORE_CASES,
  ...HTTP_FUNCTION_CASES,
  ...HTTP_ENDED_CASES,
]

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
