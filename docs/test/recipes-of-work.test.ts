import { createQuota } from '@scoregw/quota'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { after as ours, before as theirs } from '../code/coming-from-flexible.ts'
import { runOnce } from '../code/cron.ts'
import { guard, logIn } from '../code/log-in.ts'
import { buy, subjectOf, quota as tenants } from '../code/tenants.ts'
import { deliver, quota as deliveries } from '../code/webhooks.ts'

describe('the recipe for tenants and teams', () => {
  const ask = (user: string, team: string, tenant: string) =>
    tenants.consume({ subject: subjectOf({ user, team, tenant }), operation: 'export' })

  it('limits stop a person before the team and a team before the tenant', async () => {
    for (let count = 0; count < 5; count++) expect((await ask('ann', 'blue', 'acme')).allowed).toBe(true)
    expect(await ask('ann', 'blue', 'acme')).toMatchObject({ refusedBy: { name: 'userHourly' } })
    for (const user of ['bob', 'cleo']) for (let count = 0; count < 5; count++) await ask(user, 'blue', 'acme')
    expect(await ask('dan', 'blue', 'acme')).toMatchObject({ refusedBy: { name: 'teamHourly', used: 300 } })
    expect((await ask('dan', 'red', 'acme')).allowed).toBe(true)
    expect((await ask('ann', 'blue', 'other')).allowed).toBe(true)
  })

  it('equal names in two tenants have separate counters', () => {
    expect(subjectOf({ user: 'c', team: 'x', tenant: 'a/b' }).user).not.toBe(
      subjectOf({ user: 'b/c', team: 'x', tenant: 'a' }).user,
    )
  })

  it('a tenant gets the limits of the plan that it bought', async () => {
    const limit = async () =>
      (await tenants.status(subjectOf({ user: 'u', team: 't', tenant: 'acme' }))).limits.tenantDaily?.limit
    expect(await limit()).toBe(10_000)
    await buy('acme', 'business')
    expect(await limit()).toBe(100_000)
    await buy('acme', null)
    expect(await limit()).toBe(10_000)
  })
})

describe('the recipe for log-in protection', () => {
  const wrong = () => Promise.resolve(false)
  const right = () => Promise.resolve(true)

  it('only wrong passwords are charged, by account and by address', async () => {
    for (let count = 0; count < 30; count++) {
      expect(await logIn('ann', '192.0.2.1', right)).toEqual({ outcome: 'welcome' })
    }
    for (let count = 0; count < 5; count++) {
      expect(await logIn('Ann ', `192.0.2.${count}`, wrong)).toEqual({ outcome: 'wrong' })
    }
    expect(await logIn('ann', '192.0.2.99', right)).toEqual({ outcome: 'wait', seconds: 900 })
    for (let count = 0; count < 20; count++) await logIn(`user${count}`, '2001:db8::1', wrong)
    expect(await logIn('zoe', '2001:db8::2', right)).toMatchObject({ outcome: 'wait' })
  })

  it.each(['', '   '])('a guess without an account (%j) is charged to its address alone', async (account) => {
    const address = `192.0.2.${200 + account.length}`
    for (let count = 0; count < 20; count++) {
      expect(await logIn(account, address, wrong)).toEqual({ outcome: 'wrong' })
    }
    expect(await logIn(account, address, wrong)).toMatchObject({ outcome: 'wait' })
    expect(await logIn(account, '192.0.2.250', right)).toEqual({ outcome: 'welcome' })
  })

  it('parallel guesses can’t pass together, and a check that throws holds nothing', async () => {
    let checks = 0
    const slow = async (): Promise<boolean> => {
      checks++
      await new Promise(setImmediate)
      return false
    }
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => logIn('bob', '198.51.100.7', slow)))
    expect([checks, outcomes.filter(({ outcome }) => outcome === 'wait').length]).toEqual([5, 45])
    await expect(logIn('cleo', '198.51.100.8', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    const status = await guard.status({ account: 'account:cleo', address: 'ip:198.51.100.8' })
    expect(status.limits.perAccount?.used).toBe(0)
  })
})

it('the webhook recipe sends each attempt once and waits as its receiver says', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  let sent = 0
  const send = (): Promise<void> => {
    sent++
    return Promise.resolve()
  }
  const of = (event: string, attempt = 1) => ({ event, attempt, receiver: 'https://a.example' })
  expect(await deliver(of('e1'), send)).toBe('sent')
  expect(await deliver(of('e1'), send)).toBe('drop')
  expect(await deliver(of('e2'), () => Promise.reject(new Error('500')))).toEqual({ againInMs: 2_000 })
  expect(await deliver(of('e2', 2), send)).toBe('sent')
  for (const event of ['e3', 'e4']) await deliver(of(event), send)
  expect(await deliver(of('e5'), send)).toEqual({ againInMs: 1_000 })
  expect(sent).toBe(4)
  expect((await deliveries.status('https://b.example')).limits.receiver?.used).toBe(0)
})

it('the cron recipe runs a job once per slot and never above its budget', async () => {
  const quota = createQuota({
    limits: { budget: { by: 'job', limit: 60, per: '1h' } },
    operations: { write: {} },
  })
  const job = { name: 'report', operation: 'write', cost: 25, everyMs: 60_000 } as const
  let runs = 0
  const work = (): Promise<void> => {
    runs++
    return Promise.resolve()
  }
  const both = await Promise.all([runOnce(quota, job, 60_000, work), runOnce(quota, job, 119_999, work)])
  expect(both.sort()).toEqual(['elsewhere', 'ran'])
  expect(await runOnce(quota, job, 120_000, work)).toBe('ran')
  expect(await runOnce(quota, job, 180_000, work)).toBe('no budget')
  expect(runs).toBe(2)
})

describe('the migration from rate-limiter-flexible', () => {
  it('rate-limiter-flexible and its replacement admit and refuse equal requests with equal remainders', async () => {
    const sides = [theirs(3), ours(3)]
    for (const user of ['u1', 'u1', 'u1', 'u1', 'u2']) {
      const [old, now] = await Promise.all(sides.map((ask) => ask(user)))
      expect({ ...now, waitMs: 0 }).toEqual({ ...old, waitMs: 0 })
      expect(Math.abs((now?.waitMs ?? 0) - (old?.waitMs ?? 0))).toBeLessThan(2_000)
    }
  })

  it('rate-limiter-flexible charges refused requests and its replacement doesn’t, as the page says', async () => {
    const [old, now] = [theirs(10), ours(10)]
    for (const ask of [old, now]) await ask('u1', 6)
    expect([(await old('u1', 5)).allowed, (await now('u1', 5)).allowed]).toEqual([false, false])
    expect([(await old('u1', 4)).allowed, (await now('u1', 4)).allowed]).toEqual([false, true])
  })
})
