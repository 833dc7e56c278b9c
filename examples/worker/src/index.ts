import { env } from 'cloudflare:workers'
import { createQuota, definePolicy } from '@scoregw/quota'
import { durableObjectSettings, durableObjectStore } from '@scoregw/quota-cloudflare'
import { quotaFetch } from '@scoregw/quota-fetch'

export { QuotaDurableObject } from '@scoregw/quota-cloudflare'

const policy = definePolicy({
  windows: [{ label: '1m' }, { label: '1d' }],
  categories: ['api'],
  layers: [{ name: 'user' }, { name: 'team' }],
  operations: { call: { category: 'api', cost: 1 } },
  base: {
    user: { api: { '1m': 5, '1d': 1_000 } },
    team: { api: { '1m': 8, '1d': 10_000 } },
  },
})
const settings = durableObjectSettings({ namespace: env.QUOTA })
const store = durableObjectStore({ namespace: env.QUOTA, shardBy: 'team', settings })
const quota = createQuota({ policy, store, settingsStore: settings })

// Your authentication knows who calls. Here, a key is "team.user".
const subjectOf = (request: Request) => {
  const [team = '', user = ''] = (request.headers.get('x-api-key') ?? '').split('.', 2)
  return team === '' || user === '' ? null : { team, user }
}
const metered = quotaFetch({ quota, subject: subjectOf, operation: () => 'call' })

export default { fetch: metered(() => Response.json({ hello: 'world' })) }
