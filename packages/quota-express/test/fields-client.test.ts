import { createQuota, definePolicy, memoryStore } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import express from 'express'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serve } from './support/server.ts'

const limit = fc.integer({ min: 8, max: 60 })
const limits = fc.tuple(limit, limit, limit)
const run = fc.record({
  user: limits,
  everybody: limits,
  cost: fc.integer({ min: 1, max: 8 }),
  /** How long the client works before each request. */
  worksMs: fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 5, maxLength: 25 }),
})

/** What the fields leave of the one limit that they name. */
function left(field: string | undefined): { readonly r: number; readonly t: number } {
  const [, r, t] = /^"[^"]+";r=(\d+);t=(\d+)$/.exec(field ?? '') ?? []
  if (r === undefined) throw new Error(`no fields: ${field}`)
  return { r: Number(r), t: Number(t) }
}

test('a client that waits as the RateLimit fields say is never refused and never waits too long', async () => {
  let waits = 0
  const property = fc.asyncProperty(run, async ({ user, everybody, cost, worksMs }) => {
    const clock = { at: Date.UTC(2026, 7, 6), now: () => clock.at }
    const policy = definePolicy({
      limits: {
        ownMinute: { by: 'user', limit: user[0], per: '1m' },
        own5Minutes: { by: 'user', limit: user[1], per: '5m' },
        ownHour: { by: 'user', limit: user[2], per: '1h' },
        allMinute: { shared: 'everybody', limit: everybody[0], per: '1m' },
        all5Minutes: { shared: 'everybody', limit: everybody[1], per: '5m' },
        allHour: { shared: 'everybody', limit: everybody[2], per: '1h' },
      },
      operations: { call: { cost } },
    })
    const quota = createQuota({ policy, clock, store: memoryStore({ clock }) })
    const metered = quotaMiddleware({ quota, subject: () => 'u', standardHeaders: 'draft-11' })
    const { ask } = await serve(express().get('/', metered.operation('call'), (_req, res) => void res.end()))
    for (const ms of worksMs) {
      clock.at += ms
      const { status, headers } = await ask('/')
      expect(status).toBe(200)
      const { r, t } = left(headers.ratelimit)
      if (r >= cost) continue
      // Until then it is right to wait.
      clock.at += t * 1_000 - 1_000
      expect((await quota.peek({ subject: 'u', operation: 'call' })).allowed).toBe(false)
      clock.at += 1_000
      waits++
    }
  })
  await fc.assert(property, { numRuns: 40 })
  expect(waits).toBeGreaterThan(40)
})
