import { createQuota, definePolicy } from '@scoregw/quota'
import { quotaFastify } from '@scoregw/quota-fastify'
import Fastify from 'fastify'
import { expect, it } from 'vitest'

const policy = definePolicy({
  units: ['requests', 'tokens'],
  windows: [
    { label: '1m', unit: 'requests' },
    { label: 'tokens-1m', per: '1m', unit: 'tokens' },
  ],
  categories: ['chat'],
  layers: [{ name: 'user' }],
  operations: { complete: { category: 'chat', cost: { requests: 1, tokens: 100 } } },
  base: { user: { chat: { '1m': 10, 'tokens-1m': 1_000 } } },
})

it('a Fastify handler commits amounts of several units', async () => {
  const quota = createQuota({ policy })
  const used = () => quota.statusSync('ann').windows.chat?.map((each) => each.used)
  const app = Fastify()
  await app.register(quotaFastify, { quota, subject: () => 'ann', settle: 'end', cost: { tokens: 400 } })
  app.get('/', { config: { quota: 'complete' } }, async (request) => {
    expect(used()).toEqual([1, 400])
    await request.quota?.commit({ tokens: 30 } as never)
    return 'done'
  })
  expect((await app.inject('/')).body).toBe('done')
  expect(used()).toEqual([1, 30])
  await app.close()
})
