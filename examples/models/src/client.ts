/** A caller of an API of three requests a second, which sends ten at once and is refused none after the first answer. */

import { createQuota } from '@scoregw/quota'
import { pacedFetch } from '@scoregw/quota-client'
import { quotaFetch } from '@scoregw/quota-fetch'

const quota = createQuota({ limits: { api: { by: 'user', limit: 3, per: '1s' } } })
const metered = quotaFetch({
  quota,
  subject: () => 'ann',
  standardHeaders: 'draft-11',
})
const api = metered(() => new Response('ok'))

const statuses: number[] = []
const send: typeof fetch = async (input, init) => {
  const response = await api(new Request(input, init))
  statuses.push(response.status)
  return response
}
const paced = pacedFetch(send)
const startedAt = Date.now()
const responses = await Promise.all(Array.from({ length: 10 }, () => paced('http://localhost/')))
const refused = statuses.filter((status) => status === 429).length
console.log(`${responses.filter(({ ok }) => ok).length} of 10 requests answered, ${refused} refused`)
console.log(`took at least 3 seconds: ${Date.now() - startedAt >= 3_000}`)
await quota.close()
