import { createQuota, type Policy, type Quota, QuotaError, type QuotaOptions } from '@scoregw/quota'
import { ownTime } from '@scoregw/server-kit'
import { type Cluster, Redis } from 'ioredis'
import { expect } from 'vitest'
import { type RedisStore, redisStore } from '../../src/index.ts'
import type { RedisStoreOptions } from '../../src/store/options.ts'
import type { Cleanups } from './cleanups.ts'

type Operation = 'read' | 'write'

const limits = (tokens: number) => ({ reads: { hour: tokens, day: tokens }, writes: { hour: tokens, day: tokens } })

/** Limits of both layers alike; so high by default that nothing is refused. */
export function policyOf(tokens = 1_000_000): Policy<Operation> {
  return {
    windows: [
      { label: 'hour', lengthMs: 3_600_000 },
      { label: 'day', lengthMs: 86_400_000 },
    ],
    categories: ['reads', 'writes'],
    layers: [
      { name: 'personal', scope: 'Personal', shared: false },
      { name: 'site', scope: 'Site', shared: true },
    ],
    operations: { read: { category: 'reads', cost: 1 }, write: { category: 'writes', cost: 1 } },
    base: { personal: limits(tokens), site: limits(tokens) },
  }
}

export type EngineOptions = Partial<Omit<QuotaOptions<Operation>, 'store'>> &
  Partial<Omit<RedisStoreOptions, 'client'>> & { readonly Client?: typeof Redis; readonly client?: Redis | Cluster }

export interface Engine {
  readonly quota: Quota<Operation>
  readonly store: RedisStore
  /** As a caller may have it: with the defaults of ioredis. */
  readonly client: Redis | Cluster
}

/**
 * An engine on the server behind a port, closed after the test. Its deadline is long, so that a busy machine does not
 * decide what a test comes to.
 */
export function engineOn(port: number, later: Cleanups['later'], options: EngineOptions = {}): Engine {
  const {
    Client = Redis,
    client = new Client({ port }),
    prefix,
    deadlineMs = 1_000,
    evictionPolicy,
    testClock,
    ...rest
  } = options
  client.on('error', () => undefined)
  const store = redisStore({ client, prefix, deadlineMs, evictionPolicy, testClock })
  const quota = createQuota({ policy: policyOf(), ...rest, store })
  later(async () => {
    await quota.close()
    client.disconnect()
  })
  return { quota, store, client }
}

/** Tokens used in the hour's window for writes. */
export async function usedBy(quota: Quota<Operation>, subject: string): Promise<number> {
  const { windows } = await quota.status(subject)
  return windows.writes![0]!.used
}

/** What a call came to, and how long it took in milliseconds of own time. */
export interface Timed {
  readonly ok: boolean
  /** Whether the server was not asked at all, since it had given no answers for a while. */
  readonly isSpared: boolean
  readonly ms: number
  /** When it began and was answered, by `performance.now()`. */
  readonly from: number
  readonly at: number
}

/** One write, timed. Fails for every error but `quota_unavailable`. */
export async function timedWrite(quota: Quota<Operation>, subject = 'u'): Promise<Timed> {
  const began = ownTime()
  const from = performance.now()
  const why = await quota.consume({ subject, operation: 'write' }).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof QuotaError && error.code === 'quota_unavailable') return String(error.cause)
      throw error
    },
  )
  const isSpared = why?.includes('is not called now') === true
  return { ok: why === undefined, isSpared, ms: ownTime() - began, from, at: performance.now() }
}

/** Writes of some callers, each one after the other with a short pause, until stopped. */
export function load(quota: Quota<Operation>, callers = 10): { stop(): Promise<Timed[]> } {
  const results: Timed[] = []
  let stopped = false
  const work = async () => {
    while (!stopped) {
      results.push(await timedWrite(quota))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const all = Promise.all(Array.from({ length: callers }, work))
  return {
    async stop() {
      stopped = true
      await all
      return results
    },
  }
}

/** Milliseconds of own time until a write is answered by the store again. */
export async function timeToRecover(quota: Quota<Operation>): Promise<number> {
  const began = ownTime()
  for (;;) {
    const { ok } = await timedWrite(quota)
    const ms = ownTime() - began
    if (ok) return ms
    if (ms > 10_000) return Number.POSITIVE_INFINITY
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Resolves when the server is not asked any more, as it gives no answers. */
export async function untilSpared(quota: Quota<Operation>): Promise<void> {
  const began = ownTime()
  while (!(await timedWrite(quota)).isSpared) {
    if (ownTime() - began > 2_000) throw new Error('a server that gives no answers is asked on and on')
  }
}

/** A write that is answered by the store, before anything is made bad: on a busy machine not always the first one. */
export async function firstWrite(quota: Quota<Operation>): Promise<void> {
  expect(await timeToRecover(quota)).toBeLessThan(10_000)
}
