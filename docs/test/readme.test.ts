import { createQuota } from '@scoregw/quota'
import { quotaExceededBody } from '@scoregw/quota/http'
import { expect, it } from 'vitest'
import { readPage } from './markdown.ts'

it('the README shows the real response to a refused caller', () => {
  const quota = createQuota({
    limits: { api: { by: 'user', limit: 100, per: '15m' } },
    clock: { now: () => Date.UTC(2026, 7, 6, 14, 6, 26) },
  })
  quota.consumeSync({ subject: 'u42', cost: 100 })
  const decision = quota.consumeSync({ subject: 'u42' })
  if (decision.allowed) throw new Error('expected a refusal')

  const shown: unknown = JSON.parse(/^```json\n(.*?)^```$/ms.exec(readPage('README.md'))?.[1] ?? '')
  expect(shown).toEqual(quotaExceededBody(decision))
})
