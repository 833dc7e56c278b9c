import { expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { quotaExceededBody } from '../src/http.ts'
import { createQuota, definePolicy, memorySettings, memoryStore } from '../src/index.ts'
import type { SubjectSettingsPatch } from '../src/internal.ts'
import { testClock } from './support.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const policy = definePolicy({
  limits: { perHour: { by: 'user', limit: 10, per: '1h' } },
  plans: { pro: { perHour: 100 } },
})

type Patch = (now: number) => SubjectSettingsPatch<NonNullable<typeof policy.counting>>

const overridden =
  (limit: number, ms: number): Patch =>
  (now) => ({ limits: { perHour: limit }, until: { limits: now + ms } })

const blocked =
  (ms: number): Patch =>
  (now) => ({ blocked: true, until: { blocked: now + ms } })

/** A subject that used tokens, then got settings that end. */
async function refused(used: number, patch: Patch, cost: number, usedUnder?: number) {
  const clock = testClock()
  const quota = createQuota({ policy, clock, store: memoryStore({ clock }) })
  const ask = (requests: number) => quota.consumeSync({ subject: 'u', cost: requests })
  if (used > 0) ask(used)
  await quota.subjects.update('u', patch(clock.now()))
  if (usedUnder !== undefined) ask(usedUnder)
  const decision = ask(cost)
  if (decision.allowed) throw new Error('expected a refusal')
  return { clock, ask, decision }
}

it.each<[string, Parameters<typeof refused>, number | undefined]>([
  ['a block for 30 s of a subject that used nothing', [0, blocked(30_000), 1], 30_000],
  ['a block for a day of a subject that used everything', [10, blocked(DAY), 1], DAY],
  ['a limit of 0 for 30 s of a subject that used nothing', [0, overridden(0, 30_000), 1], 30_000],
  ['a limit of 0 for 30 s of a subject that used some', [5, overridden(0, 30_000), 1], 30_000],
  ['a limit of 0 for a day', [5, overridden(0, DAY), 1], DAY],
  ['a limit of 0 for 30 s of a subject that used everything', [10, overridden(0, 30_000), 1], HOUR],
  ['a limit lowered for 30 s', [5, overridden(3, 30_000), 1], 30_000],
  ['a limit lowered for longer than its window', [5, overridden(3, DAY), 1], HOUR],
  ['a cost above a limit that is lowered for a day', [0, overridden(3, DAY), 5], DAY],
  ['a limit raised for 30 s, all of it used', [0, overridden(20, 30_000), 5, 20], HOUR],
  ['a cost above the limit after a raised one ends', [0, overridden(20, 30_000), 15, 10], undefined],
  ['a cost above both limits', [0, overridden(20, 30_000), 25], undefined],
  ['a plan that ends', [0, (now) => ({ plan: 'pro', until: { plan: now + 30_000 } }), 20, 90], undefined],
])('%s has a true wait', async (_, given, waitMs) => {
  const { clock, ask, decision } = await refused(...given)
  const cost = given[2]
  expect([decision.retryable, decision.retryAfterMs]).toEqual([waitMs !== undefined, waitMs ?? null])
  expect(decision.refusedBy.retryable).toBe(decision.retryable)
  if (waitMs === undefined) return
  clock.at += waitMs - 1
  expect(ask(cost).allowed).toBe(false)
  clock.at += 1
  expect(ask(cost).allowed).toBe(true)
})

/** Noon UTC. */
const at = (month: number, day: number): number => Date.UTC(2026, month - 1, day, 12)

it.each([
  ['a changed anchor begins with the next period', { day: 1 }, { day: 20 }, undefined, at(4, 1) - 12 * HOUR],
  ['a removed anchor ends with its period', { day: 20 }, undefined, undefined, at(3, 20) - 12 * HOUR],
  ['a block that ends within a changed anchor’s period', { day: 1 }, { day: 20 }, at(3, 12), at(4, 1) - 12 * HOUR],
  ['a block that outlasts a removed anchor’s period', { day: 20 }, undefined, at(3, 25), at(3, 25)],
  ['a block that outlasts the short period of a change', { day: 1 }, { day: 20 }, at(4, 21), at(4, 21)],
])('%s, and the wait is true', async (_, first, second, blockedUntil, admittedAt) => {
  const clock = testClock(at(3, 10))
  const monthly = definePolicy({
    limits: { perMonth: { by: 'user', limit: 5, every: 'month', timeZone: 'UTC', anchor: 'subject' } },
  })
  const store = memoryStore({ clock })
  const quota = createQuota({ policy: monthly, clock, store, calendar: luxonCalendar() })
  const ask = () => quota.consumeSync({ subject: 'u', cost: 5 })
  await quota.subjects.set('u', { anchor: first })
  expect(ask().allowed).toBe(true)
  await quota.subjects.update('u', { anchor: second ?? null })
  if (blockedUntil !== undefined)
    await quota.subjects.update('u', { limits: { perMonth: 0 }, until: { limits: blockedUntil } })
  const refusal = ask()
  if (refusal.allowed) throw new Error('expected a refusal')
  expect([refusal.retryable, new Date(clock.at + (refusal.retryAfterMs ?? 0))]).toEqual([true, new Date(admittedAt)])
  clock.at = admittedAt - 1
  expect(ask().allowed).toBe(false)
  clock.at = admittedAt
  expect(ask().allowed).toBe(true)
})

it('the body of a block names when it ends', async () => {
  const { decision } = await refused(5, overridden(0, 30_000), 1)
  expect(quotaExceededBody(decision)).toMatchObject({
    msg: expect.stringMatching(/Try again in 30 seconds\.$/),
    retryAfterSeconds: 30,
    retryable: true,
  })
})

it('a bucket that owes more than refills ends with its two lengths, also while some settings of the subject end', async () => {
  const clock = testClock()
  const quota = createQuota({ limits: { api: { by: 'user', limit: 10, per: '1m', burst: 4 } }, clock })
  await quota.subjects.set('u', { until: { limits: clock.at + DAY } })
  const ask = (cost: number, limit: number) =>
    quota.consumeSync({ subject: 'u', cost, limits: { api: { limit, burst: limit } } })
  expect(ask(4, 10).allowed).toBe(true)
  const refusal = ask(1, 1)
  expect(refusal).toMatchObject({ allowed: false, retryable: true, retryAfterMs: 120_000 })
  clock.at += 119_999
  expect(ask(1, 1).allowed).toBe(false)
  clock.at += 1
  expect(ask(1, 1).allowed).toBe(true)
})

it('a blocked subject is refused by its own limits also where none of them counts the operation', async () => {
  const quota = createQuota({
    limits: {
      writes: { by: 'user', limit: 5, per: '1h', for: 'write' },
      all: { shared: 'site', limit: 9, per: '1h' },
    },
    operations: { read: {}, write: {} },
    settingsStore: memorySettings(),
    clock: testClock(),
  })
  await quota.subjects.set({ user: 'u' }, { blocked: true })
  const refusal = { name: 'writes', limit: 0, retryable: false }
  expect(quota.consumeSync({ subject: 'u', operation: 'read' })).toMatchObject({
    ...{ allowed: false, source: 'blocked' },
    ...{ refusals: [refusal], refusedBy: refusal },
  })
})

it('where no slot is free, a second is waited, whatever ends of the subject’s settings', async () => {
  const clock = testClock()
  const limits = { perHour: { by: 'user', limit: 10, per: '1h' }, running: { by: 'user', concurrency: 1 } } as const
  const quota = createQuota({ limits, clock, store: memoryStore({ clock }) })
  await quota.subjects.set('u', { limits: { perHour: 5 }, until: { limits: clock.at + 30_000 } })
  await quota.reserve({ subject: 'u' })
  const { decision } = await quota.reserve({ subject: 'u' })
  expect(decision).toMatchObject({ allowed: false, refusedBy: { name: 'running' }, retryAfterMs: 1_000 })
})
