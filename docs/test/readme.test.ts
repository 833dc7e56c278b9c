import { createQuota, defaultPolicy, quotaExceededBody, quotaHeaders } from '@scoregw/quota'
import { scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import { expect, it } from 'vitest'
import { readPage } from './markdown.ts'

it('the README shows the real answer to a refused caller', () => {
  const quota = createQuota({ clock: { now: () => Date.UTC(2026, 7, 6, 14, 6, 26) }, policy: defaultPolicy() })
  quota.consumeSync({ subject: 'demo', operation: 'write', cost: 60 })
  const decision = quota.consumeSync({ subject: 'demo', operation: 'write', cost: 15 })
  if (decision.allowed) throw new Error('expected a refusal')

  const answers = scoreGatewayAnswers({ supportForumUrl: 'https://forum.example.com/quota' })
  const text = readPage('README.md')
  const shown: unknown = JSON.parse(/^```json\n(.*?)^```$/ms.exec(text)?.[1] ?? '')
  expect(shown).toEqual(quotaExceededBody(decision, { answers }))
  for (const [name, value] of Object.entries(quotaHeaders(decision))) expect(text).toContain(`${name}: ${value}`)
})
