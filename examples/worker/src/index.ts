import { env } from 'cloudflare:workers'
import { createQuota } from '@scoregw/quota'
import { durableObjectSettings, durableObjectStore } from '@scoregw/quota-cloudflare'
import { quotaFetch } from '@scoregw/quota-fetch'

export { QuotaDurableObject } from '@scoregw/quota-cloudflare'

const settings = durableObjectSettings({ namespace: env.QUOTA })
const store = durableObjectStore({ namespace: env.QUOTA, shardBy: 'team', settings })
const quota = createQuota({
  limits: {
    perMinute: { by: 'user', limit: 5, per: '1m' },
    perDay: { by: 'user', limit: 1_000, per: '1d' },
    teamPerMinute: { by: 'team', limit: 8, per: '1m' },
    teamPerDay: { by: 'team', limit: 10_000, per: '1d' },
  },
  store,
  settingsStore: settings,
})

// Your authentication knows who calls. Here, a key is "team.user".
const subjectOf = (request: Request) => {
  const [team = '', user = ''] = (request.headers.get('x-api-key') ?? '').split('.', 2)
  return team === '' || user === '' ? null : { team, user }
}
const metered = quotaFetch({ quota, subject: subjectOf })

export default { fetch: metered(() => Response.json({ hello: 'world' })) }
