import type { AddressInfo } from 'node:net'
import { createQuota } from '@scoregw/quota'
import { quotaStatusBody } from '@scoregw/quota/http'
import { quotaErrorHandler, quotaMiddleware } from '@scoregw/quota-express'
import express from 'express'

const quota = createQuota({
  limits: {
    reads: { by: 'user', limit: 120, per: '1h', for: 'notes.list' },
    writes: { by: 'user', limit: 60, per: '1h', for: 'notes.add' },
    service: { shared: 'service', limit: 3_000, per: '1h' },
  },
  operations: { 'notes.list': {}, 'notes.add': { cost: 15 } },
})

const notes: string[] = []
const userOf = (req: express.Request) => req.get('x-user')
const metered = quotaMiddleware({ quota, subject: userOf, standardHeaders: 'draft-10' })

const app = express()
app.use(express.json())
app.get('/notes', metered.operation('notes.list'), (_req, res) => void res.json(notes))
app.post('/notes', metered.operation('notes.add'), (req, res) => {
  if (typeof req.body?.text !== 'string') return void res.status(422).json({ error: 'text is missing' })
  res.status(201).json({ count: notes.push(req.body.text) })
})
app.get('/quota', async (req, res) => void res.json(quotaStatusBody(await quota.status(userOf(req) ?? 'nobody'))))
app.use(quotaErrorHandler())

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo
  console.log(`Try: curl -i -X POST -H 'X-User: u42' --json '{"text":"hello"}' http://localhost:${port}/notes`)
})
