import { createQuota, definePolicy } from '@scoregw/quota'
import { quotaFastify } from '@scoregw/quota-fastify'
import Fastify from 'fastify'
import { expect, it } from 'vitest'

const policy = definePolicy({
  limits: {
    calls: { by: 'user', limit: 10, per: '1m' },
    tokens: { by: 'user', limit: 1_000, of: 'tokens', per: '1m' },
  },
  operations: { complete: { cost: { tokens: 100 } } },
})

it('a Fastify handler commits amounts of several units', async () => {
  const quota = createQuota({ policy })
  const used = () => Object.values(quota.statusSync('ann').limits).map((each) => each.used)
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
