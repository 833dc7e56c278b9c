import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore } from '../src/index.ts'
import {
  asyncStore,
  flatLimits,
  type Gateway,
  type GatewayQuota,
  gatewayPolicy,
  type Operation,
  testClock,
} from './support.ts'

const write = { subject: 'u', operation: 'write' } as const
/** More turns of the queue of microtasks than lie between a store's answer and the caller. */
const TURNS = 40

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await Promise.resolve()
}

const policy = gatewayPolicy(flatLimits(1e6, 1e6))

interface Made {
  readonly quota: GatewayQuota
  /** Makes the store wait. */
  readonly shut: () => void
  /** Lets it decide. */
  readonly open: () => void
  readonly used: (subject?: string) => Promise<number>
}

function made(): Made {
  const clock = testClock()
  const store = memoryStore({ clock })
  let open = (): void => undefined
  let gate = Promise.resolve()
  const quota = createQuota<Operation, Gateway>({ policy, clock, store: asyncStore(store, () => gate) })
  const status = createQuota<Operation, Gateway>({ policy, clock, store })
  return {
    quota,
    shut() {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    open: () => open(),
    async used(subject = 'u') {
      open()
      gate = Promise.resolve()
      await new Promise(setImmediate)
      return status.statusSync(subject).limits['personal-write-1h']!.used
    },
  }
}

type CallWith = (quota: GatewayQuota, signal: AbortSignal, subject?: string) => Promise<unknown>

const calls: readonly (readonly [string, CallWith])[] = [
  ['consume', (quota, signal, subject = 'u') => quota.consume({ ...write, subject, signal })],
  ['reserve', (quota, signal, subject = 'u') => quota.reserve({ ...write, subject, signal })],
  ['reserve under an id', (quota, signal, subject = 'u') => quota.reserve({ ...write, subject, signal, id: 'one' })],
]

describe.each(calls)('%s', (_, call) => {
  it('an abort at any moment either rejects the call uncharged or comes after an admission that stays charged', async () => {
    const outcomes = new Set<string>()
    const { quota, shut, open, used } = made()
    for (let before = 0; before < TURNS; before++) {
      const controller = new AbortController()
      shut()
      const calling = call(quota, controller.signal, `u-${before}`).then(
        () => 'admitted',
        (reason: unknown) => reason,
      )
      open()
      await turns(before)
      controller.abort('given up')
      const outcome = (await calling) as string
      outcomes.add(outcome)
      const charged = outcome === 'admitted' ? 15 : 0
      expect({ before, outcome, used: await used(`u-${before}`) }).toEqual({ before, outcome, used: charged })
      expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    }
    expect(outcomes).toEqual(new Set(['admitted', 'given up']))
  })

  it('a call removes its abort listener when it succeeds and when it fails', async () => {
    const { quota, open } = made()
    const { signal } = new AbortController()
    open()
    await call(quota, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    const failing = createQuota<Operation, Gateway>({
      policy,
      store: asyncStore(memoryStore(), () => Promise.reject(new Error('gone'))),
    })
    await expect(call(failing, signal)).rejects.toMatchObject({ code: 'quota_unavailable' })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('a call with an aborted signal sends nothing to the store', async () => {
    const { quota, used } = made()
    await expect(call(quota, AbortSignal.abort('before'))).rejects.toBe('before')
    expect(await used()).toBe(0)
  })

  it('a call rejects when its signal aborts while the store call is in flight', async () => {
    const clock = testClock()
    const inner = memoryStore({ clock })
    const controller = new AbortController()
    const quota = createQuota<Operation, Gateway>({
      policy,
      clock,
      store: asyncStore(inner, () => {
        controller.abort('meanwhile')
        return Promise.resolve()
      }),
    })
    await expect(call(quota, controller.signal)).rejects.toBe('meanwhile')
    await new Promise(setImmediate)
    expect(
      createQuota<Operation, Gateway>({ policy, clock, store: inner }).statusSync('u').limits['personal-write-1h']!
        .used,
    ).toBe(0)
  })
})

describe('an aborted reservation on synchronous stores', () => {
  it('a signal that aborts before the reservation resolves cancels it', async () => {
    const outcomes = new Set<unknown>()
    for (let before = 0; before < 8; before++) {
      const quota = createQuota<Operation, Gateway>({ policy, clock: testClock() })
      const controller = new AbortController()
      const calling = quota.reserve({ ...write, signal: controller.signal }).then(
        () => 'admitted',
        (reason: unknown) => reason,
      )
      if (before > 0) await turns(before)
      controller.abort('given up')
      const outcome = await calling
      outcomes.add(outcome)
      await new Promise(setImmediate)
      const { used } = quota.statusSync('u').limits['personal-write-1h']!
      expect({ before, outcome, used }).toEqual({ before, outcome, used: outcome === 'admitted' ? 15 : 0 })
    }
    expect(outcomes).toEqual(new Set(['admitted', 'given up']))
  })

  it('a signal that a decision listener aborts cancels the reservation', async () => {
    const quota = createQuota<Operation, Gateway>({ policy, clock: testClock() })
    const controller = new AbortController()
    quota.on('admitted', () => controller.abort('by a listener'))
    await expect(quota.reserve({ ...write, signal: controller.signal })).rejects.toBe('by a listener')
    expect(quota.statusSync('u').limits['personal-write-1h']!.used).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})
