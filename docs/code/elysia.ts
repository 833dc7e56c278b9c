import { createQuota } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'
import { Elysia } from 'elysia'

const quota = createQuota({
  limits: { api: { by: 'user', limit: 2, per: '15m' } },
})
const metered = quotaFetch({
  quota,
  subject: (request) => request.headers.get('x-user'),
})

const api = new Elysia().get('/scores', () => [871])

export const app = new Elysia().mount('/api', metered(api.fetch))
