import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { quotaExceededBody, quotaHeaders } from '../../src/index.ts'
import { RECORDED_OPTIONS, specifiedRefusals } from './refusals.ts'

/** Recorded by running commit 40290d1. */
const recorded: unknown = JSON.parse(readFileSync(new URL('./answers-of-40290d1.json', import.meta.url), 'utf8'))

describe('refusals under the default policy', () => {
  it('are answered to the byte as when the specification was built', async () => {
    const answers = (await specifiedRefusals()).map(({ name, decision }) => ({
      name,
      headers: quotaHeaders(decision, { standardHeaders: 'draft-10' }),
      bodies: Object.fromEntries(
        Object.entries(RECORDED_OPTIONS).map(([of, options]) => [
          of,
          JSON.stringify(quotaExceededBody(decision, options)),
        ]),
      ),
    }))
    expect(answers).toEqual(recorded)
  })
})
