import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore, type QuotaError, type Reservation } from '../src/index.ts'
import { notDone, type SettleRequest } from '../src/store/quota-store.ts'
import type { AsyncStore, SyncStore } from '../src/store.ts'
import { flatLimits, type Gateway, gatewayPolicy, type Operation, testClock } from './support.ts'

/** How a settle ends: carried out, certainly not, or nobody knows, and then it was or was not. */
const ENDS = ['done', 'certainly not', 'lost before', 'lost after'] as const
type End = (typeof ENDS)[number]

const CALLS = ['commit all', 'commit 5', 'cancel'] as const
type Call = (typeof CALLS)[number]

/** Sequences of up to `most` of the items, the empty one left out. */
function sequences<T>(items: readonly T[], most: number): T[][] {
  if (most === 0) return [[]]
  return sequences(items, most - 1).flatMap((shorter) =>
    shorter.length < most - 1 ? [shorter] : [shorter, ...items.map((item) => [...shorter, item])],
  )
}

/** An engine on a store whose settles end as given, in turn; later ones are done. */
function failing(isSync: boolean) {
  const clock = testClock()
  const inner = memoryStore({ clock })
  const settles: SettleRequest[] = []
  let ends: readonly End[] = []
  let subject = ''
  function settle(request: SettleRequest, done: () => void): void {
    const end = ends[settles.length] ?? 'done'
    settles.push(request)
    if (end === 'certainly not') throw notDone(new Error(end))
    if (end !== 'lost before') done()
    if (end !== 'done') throw new Error(end)
  }
  const sync: SyncStore = {
    sync: true,
    open(schema) {
      const counters = inner.open(schema)
      return {
        take: (request) => counters.take(request),
        read: (request) => counters.read(request),
        reset: (request) => counters.reset(request),
        settle: (request) => settle(request, () => counters.settle(request)),
      }
    },
  }
  const later: AsyncStore = {
    sync: false,
    open(schema) {
      const counters = sync.open(schema)
      return {
        take: async (request) => counters.take(request),
        read: async (request) => counters.read(request),
        reset: async (request) => counters.reset(request),
        settle: async (request) => {
          await Promise.resolve()
          counters.settle(request)
        },
      }
    },
  }
  const policy = gatewayPolicy(flatLimits(1e6, 1e6))
  const quota = createQuota<Operation, Gateway>({ policy, clock, store: isSync ? sync : later })
  let subjects = 0
  return {
    quota,
    settles,
    used: async (): Promise<number> => (await quota.status(subject)).limits['personal-write-1h']!.used,
    /** Another subject, and how its settles end. */
    next(next: readonly End[]): { readonly subject: string; readonly operation: 'write' } {
      subject = `u-${subjects++}`
      settles.length = 0
      ends = next
      return { subject, operation: 'write' }
    },
  }
}

async function called(reservation: Reservation, call: Call): Promise<'resolved' | 'rejected'> {
  const calling = call === 'cancel' ? reservation.cancel() : reservation.commit(call === 'commit 5' ? 5 : undefined)
  return calling.then(
    () => 'resolved' as const,
    (error: unknown) => {
      if ((error as QuotaError).code !== 'quota_unavailable') throw error
      return 'rejected' as const
    },
  )
}

/** What a handle is to do, call by call: what it answers, and which calls go to the store. */
function expected(calls: readonly Call[], ends: readonly End[], hasId: boolean) {
  const answers: string[] = []
  const sent: Call[] = []
  let used = 15
  let isGiven = false
  let outcome: 'resolved' | 'rejected' | undefined
  for (const call of calls) {
    if (outcome !== undefined) {
      answers.push(outcome)
      continue
    }
    if (call === 'commit all') {
      outcome = 'resolved'
      answers.push(outcome)
      continue
    }
    const end = ends[sent.length] ?? 'done'
    sent.push(call)
    // Under an id the store counts the first settle that reached it.
    if ((end === 'done' || end === 'lost after') && !isGiven) {
      isGiven = true
      used = call === 'cancel' ? 0 : 5
    }
    answers.push(end === 'done' ? 'resolved' : 'rejected')
    const mayRepeat = end === 'certainly not' || (hasId && end !== 'done')
    if (!mayRepeat) outcome = end === 'done' ? 'resolved' : 'rejected'
  }
  return { answers, sent: sent.length, used }
}

describe.each([
  ['a store that answers at once', true],
  ['a store that answers later', false],
])('settling with %s', (_, isSync) => {
  it.each([
    ['without an id', false],
    ['under an id', true],
  ])('settling %s gives the expected results for any calls and store answers', async (__, hasId) => {
    const { quota, settles, used, next } = failing(isSync)
    const differing: object[] = []
    for (const calls of sequences(CALLS, 3)) {
      for (const ends of sequences(ENDS, 2)) {
        const reservation = await quota.reserve({ ...next(ends), ...(hasId ? { id: 'one' } : {}) })
        const answers: string[] = []
        for (const call of calls) answers.push(await called(reservation, call))
        const came = JSON.stringify({ answers, sent: settles.length, used: await used() })
        const wanted = JSON.stringify(expected(calls, ends, hasId))
        if (came !== wanted) differing.push({ calls, ends, came, wanted })
      }
    }
    expect(differing).toEqual([])
  })
})

describe('calls while a settle is in flight', () => {
  it.each(sequences(CALLS.slice(0, 3), 2).filter(({ length }) => length === 2))(
    'concurrent calls share one settle: cancel, then %s and %s',
    async (second, third) => {
      const { quota, settles, next } = failing(false)
      for (const end of ENDS) {
        const reservation = await quota.reserve(next([end]))
        const answers = await Promise.all((['cancel', second, third] as const).map((call) => called(reservation, call)))
        expect(new Set(answers)).toEqual(new Set([end === 'done' ? 'resolved' : 'rejected']))
        expect(settles).toHaveLength(1)
      }
    },
  )

  it('a call after a failed settle sends another one', async () => {
    const { quota, settles, used, next } = failing(false)
    const reservation = await quota.reserve(next(['certainly not']))
    const first = called(reservation, 'cancel')
    expect(await first).toBe('rejected')
    expect(await called(reservation, 'cancel')).toBe('resolved')
    expect(settles).toHaveLength(2)
    expect(await used()).toBe(0)
  })
})

describe('run', () => {
  it('run() throws the work’s error even if its cancel fails', async () => {
    const { quota, next } = failing(false)
    for (const end of ENDS.slice(1)) {
      const running = quota.run(next([end]), () => Promise.reject(new Error('broken')))
      await expect(running).rejects.toThrowError('broken')
    }
  })

  it('run() cancels again if the work’s own cancel failed', async () => {
    const { quota, settles, used, next } = failing(false)
    const running = quota.run(next(['certainly not']), (reservation) => reservation.cancel())
    await expect(running).rejects.toMatchObject({ code: 'quota_unavailable' })
    expect(settles).toHaveLength(2)
    expect(await used()).toBe(0)
  })

  it('run() reports a failed commit that the work didn’t await, and keeps the tokens', async () => {
    const { quota, settles, used, next } = failing(false)
    for (const end of ENDS.slice(1)) {
      const running = quota.run(next([end]), (reservation) => {
        reservation.commit(5).catch(() => undefined)
        return 'done'
      })
      await expect(running).rejects.toMatchObject({ code: 'quota_unavailable' })
      expect(settles).toHaveLength(1)
      expect(await used()).toBe(end === 'lost after' ? 5 : 15)
    }
  })
})
