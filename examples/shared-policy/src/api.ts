import { serve } from '@hono/node-server'
import { quotaFetch } from '@scoregw/quota-fetch'
import { close, quota } from './quota.ts'

const metered = quotaFetch({
  quota,
  subject: (request) => request.headers.get('x-customer'),
  operation: () => 'read',
})
const fetch = metered(() => Response.json([]))

const port = Number(process.env.PORT ?? 3000)
const server = serve({ fetch, port }, (address) =>
  console.log(`http://localhost:${address.port}`),
)
process.once('SIGTERM', () => {
  server.close()
  void close()
})
