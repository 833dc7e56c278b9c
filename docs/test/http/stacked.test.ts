import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createQuota } from '@scoregw/quota'
import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readPage } from '../markdown.ts'

const MINUTE_MS = 60_000

interface Limit {
  readonly name: 'user' | 'team' | 'service'
  readonly limit: number
  readonly per: '1h' | '1m'
}

const USER: Limit = { name: 'user', limit: 10, per: '1h' }
const TEAM: Limit = { name: 'team', limit: 20, per: '1h' }
const SERVICE: Limit = { name: 'service', limit: 10, per: '1m' }

const LENGTHS_MS = { '1h': 60 * MINUTE_MS, '1m': MINUTE_MS } as const

type Caller = Readonly<Record<Limit['name'], string>>
/** Sends a request; `true` when it is admitted. */
type Send = (caller: Caller) => Promise<boolean>

/** Limiters that each count one limit, in an order. */
type Stack = (order: readonly Limit[]) => Send | Promise<Send>

const byExpressRateLimit: Stack = async (order) => {
  const app = express()
  for (const { name, limit, per } of order) {
    app.use(
      rateLimit({
        windowMs: LENGTHS_MS[per],
        limit,
        keyGenerator: (req) => req.get(`x-${name}`) ?? '',
        legacyHeaders: false,
      }),
    )
  }
  app.get('/', (_req, res) => void res.sendStatus(204))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return async ({ user, team, service }) =>
    (await fetch(url, { headers: { 'x-user': user, 'x-team': team, 'x-service': service } })).ok
}

const byFlexible: Stack = (order) => {
  const limiters = order.map(({ name, limit, per }) => ({
    name,
    limiter: new RateLimiterMemory({ points: limit, duration: LENGTHS_MS[per] / 1_000, keyPrefix: name }),
  }))
  return async (caller) => {
    for (const { name, limiter } of limiters) {
      const isAdmitted = await limiter.consume(caller[name]).then(
        () => true,
        () => false,
      )
      if (!isAdmitted) return false
    }
    return true
  }
}

/** One policy, whose limits stand in that order. */
const byQuota: Stack = (order) => {
  const limits = order.map(({ name, limit, per }) => [name, { by: name as string, limit, per }] as const)
  const quota = createQuota({ limits: Object.fromEntries(limits) })
  return async (caller) => {
    const subject = Object.fromEntries(order.map(({ name }) => [name, caller[name]]))
    return (await quota.consume({ subject })).allowed
  }
}

const SIDES: Readonly<Record<string, Stack>> = {
  'express-rate-limit': byExpressRateLimit,
  'rate-limiter-flexible': byFlexible,
  '@scoregw/quota': byQuota,
}

const caller = (user: string, team: string): Caller => ({ user, team, service: 'api' })

async function admittedOf(send: Send, from: Caller, requests: number): Promise<number> {
  let admitted = 0
  for (let request = 0; request < requests; request++) if (await send(from)) admitted++
  return admitted
}

/** Ann sends 30 requests, then Bob of her team 10: how many of Bob's are admitted? */
async function ofTwoLimits(send: Send): Promise<number> {
  await admittedOf(send, caller('ann', 'blue'), 30)
  return admittedOf(send, caller('bob', 'blue'), 10)
}

/** Bob is of a team that used nothing, in a minute with no other admission. */
async function ofThreeLimits(send: Send): Promise<number> {
  await admittedOf(send, caller('carl', 'red'), 10)
  vi.setSystemTime(Date.now() + MINUTE_MS)
  await admittedOf(send, caller('cora', 'red'), 10)
  // The service's minute is full.
  for (const user of ['ann', 'amy']) expect(await admittedOf(send, caller(user, 'blue'), 10)).toBe(0)
  vi.setSystemTime(Date.now() + MINUTE_MS)
  // Carl has used up his hour, and Cleo's team its own.
  for (const user of ['carl', 'cleo']) expect(await admittedOf(send, caller(user, 'red'), 10)).toBe(0)
  return admittedOf(send, caller('bob', 'blue'), 10)
}

const ORDERS = [
  [USER, TEAM, SERVICE],
  [USER, SERVICE, TEAM],
  [TEAM, USER, SERVICE],
  [TEAM, SERVICE, USER],
  [SERVICE, USER, TEAM],
  [SERVICE, TEAM, USER],
]

/** Admitted of Bob's ten, for each row of the table and each side. */
const ROWS: readonly (readonly [row: string, orders: readonly (readonly Limit[])[], play: typeof ofTwoLimits])[] = [
  ['team, then user', [[TEAM, USER]], ofTwoLimits],
  ['user, then team', [[USER, TEAM]], ofTwoLimits],
  ['user, team and service, in any order', ORDERS, ofThreeLimits],
]

it('a refused request uses up other limits of stacked limiters and none of one policy, as the README’s table says', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  const table: Record<string, number[]> = {}
  for (const [row, orders, play] of ROWS) {
    table[row] = []
    for (const stack of Object.values(SIDES)) {
      const admitted = new Set<number>()
      for (const order of orders) admitted.add(await play(await stack(order)))
      expect([row, ...admitted]).toHaveLength(2)
      table[row].push(...admitted)
    }
  }
  expect(table).toEqual({
    'team, then user': [0, 0, 10],
    'user, then team': [10, 10, 10],
    'user, team and service, in any order': [0, 0, 10],
  })
  const inChinese = ['先团队，后用户', '先用户，后团队', '用户、团队、服务，任何顺序']
  for (const page of ['README.md', 'README.zh-CN.md', 'docs/index.md', 'docs/zh/index.md']) {
    const names = page.includes('zh') ? inChinese : Object.keys(table)
    const rows = [...readPage(page).matchAll(/^\| ([^|`]+?) +\| +(\d+) \/ 10 +\| +(\d+) \/ 10 +\| +(\d+) \/ 10 +\|$/gm)]
    const shown = rows.map(([, name, ...counts]) => [name, counts.map(Number)])
    expect([page, shown]).toEqual([page, names.map((name, index) => [name, Object.values(table)[index]])])
  }
})
