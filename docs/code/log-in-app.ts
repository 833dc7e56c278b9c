import { createQuota, definePolicy } from '@scoregw/quota'
import { ipSubject, quotaMiddleware } from '@scoregw/quota-express'
import express from 'express'

/** Failed log-ins, by account and by network address. */
const guard = createQuota({
  policy: definePolicy({
    windows: [{ label: '15m' }, { label: '1d' }],
    categories: ['attempt'],
    layers: [{ name: 'account' }, { name: 'address' }],
    operations: { attempt: { category: 'attempt', cost: 1 } },
    base: {
      account: { attempt: { '15m': 5, '1d': 20 } },
      address: { attempt: { '15m': 20, '1d': 100 } },
    },
  }),
})

const metered = quotaMiddleware({
  quota: guard,
  settle: 'failures',
  subject: ({ body, ip }) => ({
    account: String(Object(body).account).trim().toLowerCase(),
    address: ipSubject(ip ?? '') ?? 'unknown',
  }),
})

/** Whether a password is right; a real one compares hashes. */
type Check = (account: string, password: string) => Promise<boolean>

export function logInApp(isRight: Check) {
  const app = express()
  app.post(
    '/log-in',
    express.json({ limit: '4kb' }),
    metered.operation('attempt'),
    async (req, res) => {
      const { account, password } = Object(req.body)
      const ok = await isRight(String(account), String(password))
      res.sendStatus(ok ? 204 : 401)
    },
  )
  return app
}
