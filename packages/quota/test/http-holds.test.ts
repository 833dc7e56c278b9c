import { openTimers } from '@scoregw/server-kit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AdmittedRequest, type HttpMeterOptions, type HttpRequest, httpMeter } from '../src/http.ts'
import { createQuota, type QuotaError } from '../src/index.ts'
import { testClock } from './support.ts'

type Operation = 'write' | 'chat' | 'work'
type Engine = ReturnType<typeof engine>['quota']

function engine(options: { readonly maxHolds?: number; readonly holdTtlMs?: number } = {}) {
  const clock = testClock()
  const quota = createQuota({
    limits: {
      perHour: { by: 'user', limit: 100, per: '1h' },
      running: { by: 'user', concurrency: 1, for: 'work' },
    },
    operations: { write: { cost: 5 }, chat: { cost: 5, overrun: 'charge', maxOverrun: 10 }, work: { cost: 5 } },
    plans: { pro: { perHour: 1_000 } },
    clock,
    ...options,
  })
  const used = () => quota.statusSync('u').limits.perHour?.used
  const held = async () => (await quota.holds.list('u')).length
  return { clock, quota, used, held }
}

type Options = Omit<HttpMeterOptions<HttpRequest<Operation>, Operation>, 'quota'>

async function admit(quota: Engine, operation: Operation, options: Options = {}) {
  const logger = { warn: vi.fn(), error: vi.fn() }
  const given = { quota, logger, ...options } as Parameters<typeof httpMeter<Operation>>[0]
  const admission = await httpMeter(given).admit({ method: 'POST', operation, subject: 'u', plan: undefined })
  if (!(admission instanceof AdmittedRequest)) throw new Error('not admitted')
  return { admission, logger }
}

describe('metered requests with a hold', () => {
  let timers: () => number
  beforeEach(() => {
    vi.useFakeTimers()
    timers = openTimers(['reservations/handle.ts', 'http/metered-request.ts'])
  })
  afterEach(() => void vi.useRealTimers())

  async function pass(clock: { at: number }, ms: number): Promise<void> {
    for (let gone = 0; gone < ms; gone += 100) {
      clock.at += 100
      await vi.advanceTimersByTimeAsync(100)
    }
  }

  it('a hold is kept alive until its request is committed', async () => {
    const { quota, clock, used, held } = engine()
    const { admission } = await admit(quota, 'write', { settle: 'end', ttlMs: 900 })
    await pass(clock, 10_000)
    expect(await held()).toBe(1)
    expect([admission.charged, timers()]).toEqual([5, 1])
    expect(await admission.commit(2)).toEqual({ charged: 2, uncharged: 0 })
    expect([admission.charged, timers()]).toEqual([2, 0])
    expect([used(), await held()]).toEqual([2, 0])
  })

  it('a hold lasts as long as the request’s option says, else the meter’s default', async () => {
    const { quota, clock } = engine({ holdTtlMs: 7_000 })
    await admit(quota, 'write', { settle: 'end' })
    await admit(quota, 'write', { settle: 'end', ttlMs: 900 })
    await admit(quota, 'work', { ttlMs: 1_234 })
    const ends = (await quota.holds.list('u')).map(({ endsAt }) => endsAt - clock.at)
    expect(ends).toEqual([900, 1_234, 7_000])
  })

  it('a commit above the hold reports the charge, and a second commit returns the first result', async () => {
    const { quota, used } = engine()
    const { admission } = await admit(quota, 'chat', { settle: 'end' })
    expect(await admission.commit(20)).toEqual({ charged: 15, uncharged: 5 })
    expect(await admission.commit(1)).toEqual({ charged: 15, uncharged: 5 })
    expect(used()).toBe(15)
  })

  it('a handler can grow and extend its hold', async () => {
    const { quota, clock, used } = engine()
    const { admission } = await admit(quota, 'chat', { settle: 'end', standardHeaders: 'draft-10' })
    expect((await admission.add(30)).allowed).toBe(true)
    expect((await admission.add(90)).allowed).toBe(false)
    expect(await admission.extend(500_000)).toBe(clock.at + 500_000)
    expect(admission.headersFor(200).RateLimit).toBe('"perHour";r=65;t=3600')
    await admission.settle(200)
    await admission.end()
    expect(used()).toBe(35)
  })

  it('a hold settled at the end follows the status of the response head, and ignores its handler after a failure', async () => {
    const { quota, used, held } = engine()
    const { admission } = await admit(quota, 'work')
    await admission.settle(500)
    expect([used(), await held()]).toEqual([5, 1])
    expect(await admission.commit()).toEqual({ charged: 0, uncharged: 0 })
    await admission.end()
    expect([used(), await held()]).toEqual([0, 0])
  })

  it('a hold that expired before it was settled is logged once', async () => {
    const { quota, clock } = engine()
    const { admission, logger } = await admit(quota, 'write', { settle: 'end', ttlMs: 900 })
    clock.at += 10_000
    await expect(admission.commit(2)).rejects.toMatchObject({ code: 'reservation_expired' })
    await admission.end()
    expect(logger.error).toHaveBeenCalledTimes(1)
  })

  it('a hold stays open for a while after an early close, and its handler’s commit counts', async () => {
    const { quota, clock, used, held } = engine()
    const { admission, logger } = await admit(quota, 'chat', { settle: 'end', ttlMs: 60_000 })
    admission.abort()
    // What a handler does to a response that nothing reads ends nothing.
    await admission.end()
    await pass(clock, 4_900)
    expect(await held()).toBe(1)
    expect(await admission.commit(7)).toEqual({ charged: 7, uncharged: 0 })
    await pass(clock, 1_000)
    expect([used(), await held(), timers()]).toEqual([7, 0, 0])
    expect(logger.error).not.toHaveBeenCalled()
  })

  it.each([
    ['charged in full', {}, 5],
    ['given back', { abortedAs: 'cancel' }, 0],
  ] as const)(
    'a hold is %s some time after an early close, and a later commit is an error that is logged once',
    async (_, options, tokens) => {
      const { quota, clock, used, held } = engine()
      const { admission, logger } = await admit(quota, 'chat', { settle: 'end', ttlMs: 60_000, ...options })
      admission.abort()
      await pass(clock, 5_100)
      expect([used(), await held()]).toEqual([tokens, 0])
      for (let time = 0; time < 2; time++) {
        await expect(admission.commit(7)).rejects.toMatchObject({ code: 'reservation_expired' })
      }
      expect([used(), admission.charged]).toEqual([tokens, tokens])
      expect(logger.error).toHaveBeenCalledTimes(1)
    },
  )

  it('a hold waits for its handler until it expires', async () => {
    const { quota, clock, held } = engine()
    const { admission } = await admit(quota, 'chat', { settle: 'end', ttlMs: 1_200 })
    admission.abort()
    await pass(clock, 1_100)
    expect(await held()).toBe(1)
    await pass(clock, 200)
    expect([await held(), timers()]).toEqual([0, 0])
  })

  it('a commit after the end of the response rejects, without an unhandled rejection', async () => {
    const { quota, used } = engine()
    const { admission, logger } = await admit(quota, 'chat', { settle: 'end' })
    await admission.end()
    void admission.commit(2)
    await expect(admission.commit(2)).rejects.toMatchObject({
      code: 'reservation_expired',
      message: expect.stringContaining('"chat" was settled without its handler, and its cost (5) was charged'),
    })
    expect(logger.error).toHaveBeenCalledTimes(1)
    expect(used()).toBe(5)
  })

  it('an early close frees the slot immediately, unless the hold is settled at the end', async () => {
    const { quota, held } = engine()
    const { admission } = await admit(quota, 'work')
    admission.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(await held()).toBe(0)
  })
})

describe('meters of holds', () => {
  it('a meter answers 503 for a subject with too many holds', async () => {
    const { quota } = engine({ maxHolds: 1 })
    await admit(quota, 'chat', { settle: 'end' })
    const meter = httpMeter({ quota, settle: 'end' } as Parameters<typeof httpMeter<Operation>>[0])
    const answer = await meter.admit({ method: 'POST', operation: 'chat', subject: 'u' })
    expect(answer).toMatchObject({ kind: 'answer', status: 503, error: { code: 'too_many_holds' } })
  })

  it('a meter uses the plan that the request names', async () => {
    const { quota } = engine()
    const meter = httpMeter<Operation>({ quota })
    const ask = (plan: string | undefined) =>
      meter.admit({ method: 'POST', operation: 'write', subject: 'u', cost: 101, plan })
    expect(await ask(undefined)).toMatchObject({ status: 429 })
    expect(await ask('pro')).toMatchObject({ kind: 'metered' })
  })

  it('a meter that can’t reserve a slot first throws at construction, or rejects the request', async () => {
    const { quota } = engine()
    const meter = httpMeter<Operation>({ quota, settle: 'charge-first' })
    const faults = [{ path: 'settle', message: expect.stringMatching(/"work" needs a slot/) }]
    expect(() => meter.operation('work')).toThrow(expect.objectContaining({ code: 'invalid_options', faults }))
    expect(() => meter.admit({ method: 'POST', operation: 'work', subject: 'u' })).toThrow(
      expect.objectContaining({ code: 'reservation_required' } satisfies Partial<QuotaError>),
    )
  })

  it('a meter rejects an invalid time to live and an unknown plan', () => {
    const { quota } = engine()
    const make = () => httpMeter({ quota, ttlMs: 0, plan: '' } as Parameters<typeof httpMeter<Operation>>[0])
    expect(make).toThrow(/ttlMs: expected a whole number of milliseconds/)
  })

  it('growing or extending a request without a hold fails with the reason', async () => {
    const { quota } = engine()
    const { admission } = await admit(quota, 'write')
    await expect(admission.add(1)).rejects.toMatchObject({ code: 'hold_required' })
    const first = await admit(quota, 'write', { settle: 'charge-first' })
    await expect(first.admission.extend()).rejects.toMatchObject({ code: 'hold_required' })
    expect(await first.admission.commit()).toEqual({ charged: 5, uncharged: 0 })
  })
})
