import { createQuota, money } from '@scoregw/quota'

const usd = money('USD')
export const quota = createQuota({
  limits: {
    perMinute: { by: 'user', limit: 2, per: '1m' },
    steady: { by: 'user', limit: 60, per: '1m', burst: 10 },
    budget: { by: 'team', limit: usd(100), of: usd, per: '30d' },
    atOnce: { by: 'user', concurrency: 3, for: 'chat' },
    service: { shared: 'service', limit: 900, per: '1m' },
  },
  operations: { chat: { cost: { usd: usd(0.009) } }, look: {} },
  plans: { pro: { perMinute: 200 } },
  titles: { service: 'Service' },
})
