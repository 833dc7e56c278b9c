import { createQuota } from '@scoregw/quota'
import { ipSubject, quotaMiddleware } from '@scoregw/quota-express'
import express from 'express'

/** Failed log-ins, by account and by network address. */
const guard = createQuota({
  limits: {
    perAccount: { by: 'account', limit: 5, per: '15m' },
    perAccountDaily: { by: 'account', limit: 20, per: '1d' },
    perAddress: { by: 'address', limit: 20, per: '15m' },
    perAddressDaily: { by: 'address', limit: 100, per: '1d' },
  },
})

const metered = quotaMiddleware({
  quota: guard,
  settle: 'failures',
  subject: ({ body, ip }) => ({
    account: accountOf(body),
    address: ipSubject(ip ?? '') ?? 'unknown',
  }),
})

/** Without an account, only the address is charged. */
function accountOf(body: unknown): string | null {
  const { account } = Object(body) as { readonly account?: unknown }
  const name = typeof account === 'string' ? account.trim() : ''
  return name === '' ? null : name.toLowerCase()
}

/** Whether a password is right; a real one compares hashes. */
type Check = (account: string, password: string) => Promise<boolean>

export function logInApp(isRight: Check) {
  const app = express()
  app.post(
    '/log-in',
    express.json({ limit: '4kb' }),
    metered,
    async (req, res) => {
      const { account, password } = Object(req.body)
      const ok = await isRight(String(account), String(password))
      res.sendStatus(ok ? 204 : 401)
    },
  )
  return app
}
