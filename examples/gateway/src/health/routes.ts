import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { HttpError } from '../http/http-error.ts'
import { envelope, type Route, route, success } from '../http/route.ts'
import type { ReadinessCheck } from './readiness.ts'

const healthAnswer = envelope(z.object({ status: z.literal('ok'), version: z.string() }))
const aliveAnswer = z.object({ status: z.literal('alive') })
const readyAnswer = z.object({ status: z.literal('ready') })

/** When clients should check again, in seconds. */
const RETRY_SECONDS = 1

/** Routes that report whether the gateway is up. Free and public. */
export function healthRoutes(checks: readonly ReadinessCheck[]): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/health',
      docs: {
        id: 'health',
        tag: 'Health',
        summary: 'Whether the gateway is up, and its version',
        description: 'For clients, in the form of other responses.',
      },
      access: 'public',
      answer: healthAnswer,
      handle: () => ({ body: success({ status: 'ok' as const, version: packageJson.version }) }),
    }),
    ...probeRoutes(checks),
  ]
}

/** Routes for monitoring, the same in every service. */
export function probeRoutes(checks: readonly ReadinessCheck[]): Route[] {
  return [
    route({
      method: 'get',
      path: '/healthz',
      docs: {
        id: 'alive',
        tag: 'Health',
        summary: 'Whether the process is alive',
        description: 'For process supervisors. It contacts no store.',
      },
      access: 'public',
      answer: aliveAnswer,
      handle: () => ({ body: { status: 'alive' as const } }),
    }),
    route({
      method: 'get',
      path: '/readyz',
      docs: {
        id: 'ready',
        tag: 'Health',
        summary: 'Whether the stores are available',
        description: 'For load balancers: 503 while a store is unavailable, and while the service is stopping.',
        errors: ['quota_unavailable'],
      },
      access: 'public',
      answer: readyAnswer,
      async handle() {
        const results = await Promise.allSettled(checks.map(({ check }) => check()))
        const silent = checks.filter((_check, index) => results[index]?.status === 'rejected')
        if (silent.length > 0) {
          const msg = `No answer from ${silent.map(({ name }) => name).join(' and ')}.`
          const cause = results.find((result) => result.status === 'rejected')?.reason
          throw new HttpError('quota_unavailable', msg, { retryAfterSeconds: RETRY_SECONDS, cause })
        }
        return { body: { status: 'ready' as const } }
      },
    }),
  ]
}
