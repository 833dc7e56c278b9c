import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { quotaExceededBody, quotaHeaders } from '../../src/index.ts'
import { scoreGatewayAnswers } from '../../src/score-gateway.ts'
import { RECORDED_OPTIONS, specifiedRefusals } from './refusals.ts'

/** Recorded by running commit 40290d1. */
const recorded: unknown = JSON.parse(readFileSync(new URL('./answers-of-40290d1.json', import.meta.url), 'utf8'))

describe('refusals under the default policy', () => {
  it('refusals under the default policy equal the recorded answers byte for byte', async () => {
    const answers = (await specifiedRefusals()).map(({ name, decision }) => ({
      name,
      headers: quotaHeaders(decision, { standardHeaders: 'draft-11', fields: 'all', alwaysRetryAfter: true }),
      bodies: Object.fromEntries(
        Object.entries(RECORDED_OPTIONS).map(([of, { locale, ...options }]) => {
          // With nothing to say beside the policy it is the policy that answers.
          const answers = Object.keys(options).length === 0 ? undefined : scoreGatewayAnswers(options)
          return [of, JSON.stringify(quotaExceededBody(decision, { locale, answers }))]
        }),
      ),
    }))
    expect(answers).toEqual(recorded)
  })
})
