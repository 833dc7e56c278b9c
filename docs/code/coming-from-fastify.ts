import rateLimit from '@fastify/rate-limit'
import { createQuota } from '@scoregw/quota'
import { quotaFastify } from '@scoregw/quota-fastify'
import fastify, {
  type FastifyInstance,
  type FastifyRequest,
} from 'fastify'

const userOf = ({ headers }: FastifyRequest): string =>
  headers['x-user']?.toString() ?? 'nobody'

export async function before(max: number): Promise<FastifyInstance> {
  const app = fastify()
  await app.register(rateLimit, {
    max,
    timeWindow: '15 minutes',
    keyGenerator: userOf,
  })
  app.get('/health', { config: { rateLimit: false } }, () => 'ok')
  return app
}

export async function after(limit: number): Promise<FastifyInstance> {
  const quota = createQuota({
    limits: { api: { by: 'user', limit, per: '15m' } },
  })
  const app = fastify()
  await app.register(quotaFastify, {
    quota,
    subject: userOf,
    settle: 'charge-first',
    standardHeaders: 'draft-10',
  })
  app.get('/health', { config: { quota: false } }, () => 'ok')
  return app
}
