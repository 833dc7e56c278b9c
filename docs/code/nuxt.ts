import { createQuota } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'
import { defineEventHandler, toWebRequest } from 'h3'

const quota = createQuota({
  limits: { api: { by: 'user', limit: 2, per: '15m' } },
})
const metered = quotaFetch({
  quota,
  subject: (request) => request.headers.get('x-user'),
})

const scores = metered(() => Response.json([871]))

export default defineEventHandler((event) =>
  scores(toWebRequest(event)),
)
