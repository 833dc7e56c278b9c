import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createQuota, definePolicy } from '@scoregw/quota'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { expect, it, onTestFinished } from 'vitest'
import { readPage } from '../markdown.ts'

const OF_USER = 10
const OF_TEAM = 20

/** Sends a request of a user of the one team; `true` when it is admitted. */
type Send = (user: string) => Promise<boolean>

async function byExpressRateLimit(): Promise<Send> {
  const app = express()
  const shared = { windowMs: 3_600_000, legacyHeaders: false }
  app.use(rateLimit({ ...shared, limit: OF_TEAM, keyGenerator: (req) => req.get('x-team') ?? '' }))
  app.use(rateLimit({ ...shared, limit: OF_USER, keyGenerator: (req) => req.get('x-user') ?? '' }))
  app.get('/', (_req, res) => void res.sendStatus(204))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return async (user) => (await fetch(url, { headers: { 'x-user': user, 'x-team': 'blue' } })).ok
}

function byFlexible(): Send {
  const ofUser = new RateLimiterMemory({ points: OF_USER, duration: 3_600, keyPrefix: 'user' })
  const ofTeam = new RateLimiterMemory({ points: OF_TEAM, duration: 3_600, keyPrefix: 'team' })
  return async (user) => {
    const results = await Promise.allSettled([ofUser.consume(user), ofTeam.consume('blue')])
    return results.every(({ status }) => status === 'fulfilled')
  }
}

function byQuota(): Send {
  const quota = createQuota({
    policy: definePolicy({
      windows: [{ label: '1h', lengthMs: 3_600_000 }],
      categories: ['all'],
      layers: [{ name: 'user' }, { name: 'team' }],
      operations: { request: { category: 'all', cost: 1 } },
      base: { user: { all: { '1h': OF_USER } }, team: { all: { '1h': OF_TEAM } } },
    }),
  })
  return async (user) => (await quota.consume({ subject: { user, team: 'blue' }, operation: 'request' })).allowed
}

it('a refused request burns the other limits of stacked limiters, and none of one policy: as the first screens say', async () => {
  const sides = {
    'express-rate-limit': await byExpressRateLimit(),
    'rate-limiter-flexible': byFlexible(),
    '@scoregw/quota': byQuota(),
  }
  const admitted: Record<string, number[]> = {}
  for (const [name, send] of Object.entries(sides)) {
    admitted[name] = [0, 0]
    for (const [index, [user, requests]] of (
      [
        ['ann', 30],
        ['bob', 10],
      ] as const
    ).entries()) {
      for (let request = 0; request < requests; request++) {
        if (await send(user)) admitted[name][index] = (admitted[name][index] ?? 0) + 1
      }
    }
  }
  expect(admitted).toEqual({
    'express-rate-limit': [10, 0],
    'rate-limiter-flexible': [10, 0],
    '@scoregw/quota': [10, 10],
  })
  for (const page of ['README.md', 'README.zh-CN.md', 'docs/index.md', 'docs/zh/index.md']) {
    const rows = [...readPage(page).matchAll(/^\| `?([@\w/-]+)`?[^|]*\| +(\d+) \/ 30 +\| +(\d+) \/ 10 +\|$/gm)]
    expect([page, Object.fromEntries(rows.map(([, name, ann, bob]) => [name, [Number(ann), Number(bob)]]))]).toEqual([
      page,
      admitted,
    ])
  }
})
