import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { quotaExceededBody, quotaHeaders } from '../../src/http.ts'
import { createQuota, type RefusedDecision } from '../../src/index.ts'
import { scoreGatewayAnswers, scoreGatewayPolicy } from '../../src/score-gateway.ts'
import { RECORDED_OPTIONS, specifiedRefusals } from './refusals.ts'

/** Recorded by running commit 40290d1, when fields named a layer and a window, and no unit. */
const recorded: unknown = JSON.parse(readFileSync(new URL('./answers-of-40290d1.json', import.meta.url), 'utf8'))

/** Fields as they were recorded: `personal-1h` for `personal-write-1h` or another name of the same limit. */
function recordedFields(fields: Record<string, string>, { limits }: RefusedDecision): Record<string, string> {
  const former = (name: string): string => {
    const { by, shared } = limits[name] ?? {}
    return `${by ?? shared}-${name.split('-').at(-1)}`
  }
  // A limit that doesn't count the operation was listed, too.
  const uncounted = 'month' in limits && !('running' in limits) ? ', "personal-running";q=1' : ''
  const asRecorded = (value: string): string =>
    value
      .replace(/;qu="[^"]+"/g, '')
      .replace(/"([^"]+)"/g, (_, name: string) => `"${former(name)}"`)
      .replace(/("personal-month";q=[^,]+)/, `$1${uncounted}`)
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, field.startsWith('RateLimit') ? asRecorded(value) : value]),
  )
}

const FIELDS = { standardHeaders: 'draft-11', fields: 'all', alwaysRetryAfter: true } as const

it('a policy without writes has no limits of writes', () => {
  const policy = scoreGatewayPolicy({ operations: { look: { category: 'read' } } })
  const names = policy.limits.map(({ name }) => name)
  expect(names).toEqual(
    ['personal', 'site'].flatMap((layer) => ['1h', '5h', '1d'].map((per) => `${layer}-read-${per}`)),
  )
  expect(createQuota({ policy }).consumeSync({ subject: 'u', operation: 'look' }).allowed).toBe(true)
})

describe('refusals under the score gateway’s policy', () => {
  it('refusals under the score gateway’s policy equal the recorded answers byte for byte', async () => {
    const answers = (await specifiedRefusals()).map(({ name, decision }) => ({
      name,
      headers: recordedFields(quotaHeaders(decision, FIELDS), decision),
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
