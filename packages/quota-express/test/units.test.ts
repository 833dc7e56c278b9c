import { createQuota, definePolicy } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import { describe, expect, test } from 'vitest'
import { MATRIX } from './support/matrix.ts'
import { serve } from './support/server.ts'

const policy = definePolicy({
  limits: {
    calls: { by: 'user', limit: 10, per: '1m' },
    tokens: { by: 'user', limit: 1_000, of: 'tokens', per: '1m' },
  },
  operations: { complete: { cost: { tokens: 100 } } },
})

describe.each([MATRIX[0]!, MATRIX[2]!])('Express with several units: $title', ({ express }) => {
  test('a handler commits amounts by unit, and a failure gives each unit back', async () => {
    const quota = createQuota({ policy })
    const used = () => Object.values(quota.statusSync('ann').limits).map((each) => each.used)
    const metered = quotaMiddleware({ quota, subject: () => 'ann', settle: 'end', cost: () => ({ tokens: 400 }) })
    const app = express()
    app.get('/done', metered.operation('complete'), async (req, res) => {
      expect(used()).toEqual([1, 400])
      await metered.of(req)?.commit({ tokens: 30 })
      res.send('done')
    })
    app.get('/failed', metered.operation('complete', { cost: { requests: 2 } }), (_, res) => void res.sendStatus(500))
    app.get('/undeclared', metered.operation('complete'), async (req, res) => {
      await req.quota?.commit({ tokens: 5 })
      res.send('done')
    })
    const { ask } = await serve(app)
    expect((await ask('/done')).body).toBe('done')
    expect(used()).toEqual([1, 30])
    expect((await ask('/undeclared')).body).toBe('done')
    expect(used()).toEqual([2, 35])
    expect((await ask('/failed')).status).toBe(500)
    expect(used()).toEqual([2, 35])
  })
})
