import { deepEqual, equal } from 'node:assert/strict'
import * as fc from 'fast-check'
import { HttpClient } from './client.ts'
import type { HttpHarness } from './http-case.ts'
import { type MadeRequest, madeRequest } from './made-request.ts'

export interface HttpFuzzOptions {
  /** Requests that are made up. */
  readonly requests: number
  /** For a run that shall be the same again. */
  readonly seed?: number
}

/** What came of it, so that a test can tell that there was something of everything. */
export interface HttpFuzzResult {
  readonly seed: number
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** Tokens that were charged. */
  readonly charged: number
}

/**
 * Sends made-up requests, and counts: every status is as expected, exactly the tokens are charged that ought to be,
 * neither tokens nor slots are held at the end, and no promise of this process was rejected unheard.
 * Fails by throwing an error that names the seed.
 */
export async function runHttpFuzz(harness: HttpHarness, options: HttpFuzzOptions): Promise<HttpFuzzResult> {
  const { requests, seed = newSeed() } = options
  try {
    const sample = fc.sample(madeRequest, { numRuns: Math.ceil(requests / 2), seed })
    return { seed, ...(await playHeard(harness, sample)) }
  } catch (error) {
    throw new Error(`with seed ${seed}: ${(error as Error).message}`, { cause: error })
  }
}

export function newSeed(): number {
  return Math.floor(Math.random() * 2 ** 31)
}

type Played = Omit<HttpFuzzResult, 'seed'>

/** Plays a sample with both kinds of store; fails where a promise of this process is rejected meanwhile. */
async function playHeard(harness: HttpHarness, sample: readonly MadeRequest[]): Promise<Played> {
  const statuses: Record<number, number> = {}
  let charged = 0
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  try {
    for (const store of ['now', 'later'] as const) charged += await playAll(harness, store, sample, statuses)
    // They are told when the turn is over in which nobody heard them.
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.off('unhandledRejection', hear)
  }
  deepEqual(unheard, [], 'rejections that nobody heard')
  return { statuses, charged }
}

/** @returns tokens that were charged */
async function playAll(
  harness: HttpHarness,
  store: 'now' | 'later',
  sample: readonly MadeRequest[],
  statuses: Record<number, number>,
): Promise<number> {
  const served = await harness.serve({
    store,
    hourly: 10 ** 8,
    slots: 1_000,
    settings: { standardHeaders: 'draft-10' },
    routes: [
      { path: '/outcome', operation: 'save', reply: 'asked' },
      { path: '/end', operation: 'save', settings: { settle: 'end' }, reply: 'asked' },
      { path: '/chat', operation: 'chat', settings: { settle: 'end' }, reply: 'asked' },
      { path: '/work', operation: 'work', reply: 'asked' },
      { path: '/first', operation: 'save', settings: { settle: 'charge-first' }, reply: 'asked' },
      { path: '/plain', reply: 'asked' },
    ],
  })
  const client = new HttpClient(served.url, served.app)
  try {
    for (let at = 0; at < sample.length; at += SIDE_BY_SIDE) {
      await Promise.all(sample.slice(at, at + SIDE_BY_SIDE).map((each) => play(client, each, statuses)))
    }
    await client.untilNothingIsHeld('u1', 'u2')
    const expected = sample.reduce((sum, each) => sum + each.charged, 0)
    const used = (await client.used('u1')) + (await client.used('u2'))
    equal(used, expected, `tokens charged, with a store that answers ${store}`)
    return used
  } finally {
    client.close()
    await served.stop()
  }
}

const SIDE_BY_SIDE = 8

async function play(
  client: HttpClient,
  { method, path, headers, status }: MadeRequest,
  statuses: Record<number, number>,
): Promise<void> {
  const own = headers['x-user'] === undefined ? { ...headers, 'x-user': [] } : headers
  const answer = await client.ask(path, { method, headers: own })
  deepEqual(answer.status, status, `status of ${method} ${path} ${JSON.stringify(headers)}`)
  statuses[status] = (statuses[status] ?? 0) + 1
}
