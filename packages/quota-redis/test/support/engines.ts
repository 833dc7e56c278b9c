import {
  createQuota,
  definePolicy,
  type OneUnit,
  type Policy,
  type Quota,
  QuotaError,
  type QuotaOptions,
} from '@scoregw/quota'
import { ownTime } from '@scoregw/server-kit'
import { type Cluster, Redis } from 'ioredis'
import { expect } from 'vitest'
import { type RedisStore, redisStore } from '../../src/index.ts'
import type { RedisStoreOptions } from '../../src/store/options.ts'
import type { Cleanups } from './cleanups.ts'

type Operation = 'read' | 'write'

/** Limits of both layers alike; so high by default that nothing is refused. */
export function policyOf(limit = 1_000_000): Policy<Operation, OneUnit> {
  const policy = definePolicy({
    limits: {
      'personal-reads-hour': { by: 'personal', limit, per: '1h', for: 'reads' },
      'personal-reads-day': { by: 'personal', limit, per: '1d', for: 'reads' },
      'personal-writes-hour': { by: 'personal', limit, per: '1h', for: 'writes' },
      'personal-writes-day': { by: 'personal', limit, per: '1d', for: 'writes' },
      'site-reads-hour': { shared: 'site', limit, per: '1h', for: 'reads' },
      'site-reads-day': { shared: 'site', limit, per: '1d', for: 'reads' },
      'site-writes-hour': { shared: 'site', limit, per: '1h', for: 'writes' },
      'site-writes-day': { shared: 'site', limit, per: '1d', for: 'writes' },
    },
    operations: { read: { category: 'reads' }, write: { category: 'writes' } },
  })
  return policy
}

export type EngineOptions = Partial<Omit<QuotaOptions<Operation, OneUnit>, 'store'>> &
  Partial<Omit<RedisStoreOptions, 'client'>> & { readonly Client?: typeof Redis; readonly client?: Redis | Cluster }

export interface Engine {
  readonly quota: Quota<Operation, OneUnit>
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

/** What a subject's writes used of its hour. */
export async function usedBy(quota: Quota<Operation, OneUnit>, subject: string): Promise<number> {
  const { limits } = await quota.status(subject)
  return limits['personal-writes-hour']!.used
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
export async function timedWrite(quota: Quota<Operation, OneUnit>, subject = 'u'): Promise<Timed> {
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
export function load(quota: Quota<Operation, OneUnit>, callers = 10): { stop(): Promise<Timed[]> } {
  const results: Timed[] = []
  let stopped = false
  const work = async () => {
    while (!stopped) {
      results.push(await timedWrite(quota))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const all = Promise.all(Array.from({ length: callers }, work))
  // A test that fails leaves them behind, and its own error is the one to see.
  all.catch(() => undefined)
  return {
    async stop() {
      stopped = true
      await all
      return results
    },
  }
}

/** Milliseconds of own time until a write is answered by the store again. */
export async function timeToRecover(quota: Quota<Operation, OneUnit>): Promise<number> {
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
export async function untilSpared(quota: Quota<Operation, OneUnit>): Promise<void> {
  const began = ownTime()
  while (!(await timedWrite(quota)).isSpared) {
    if (ownTime() - began > 2_000) throw new Error('a server that gives no answers is asked on and on')
  }
}

/** A write that is answered by the store, before anything is made bad: on a busy machine not always the first one. */
export async function firstWrite(quota: Quota<Operation, OneUnit>): Promise<void> {
  expect(await timeToRecover(quota)).toBeLessThan(10_000)
}
