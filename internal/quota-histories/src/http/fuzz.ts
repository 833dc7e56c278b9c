import { deepEqual, equal, ok } from 'node:assert/strict'
import type { TestRunner } from '@scoregw/quota-testkit'
import { HttpClient, type HttpHarness } from '@scoregw/quota-testkit/http'
import * as fc from 'fast-check'
import { type MadeRequest, madeRequest } from './made-request.ts'

/** Made-up requests of one test: as many as are answered long before a runner gives a test up. */
const REQUESTS_A_TEST = 500

/**
 * Registers tests that send made-up requests, and count: every status is as expected, exactly the tokens are charged that
 * ought to be, neither tokens nor slots are held at the end, and no promise of this process was rejected unheard. Each
 * names its seed.
 *
 * @param seed for made-up requests that shall be the same again
 */
export function describeHttpFuzz(
  { describe, it }: TestRunner,
  harness: HttpHarness,
  name: string,
  requests: number,
  seed: number = Math.floor(Math.random() * 2 ** 31),
): void {
  describe(name, () => {
    for (let from = 0; from < requests; from += REQUESTS_A_TEST) {
      const numRuns = Math.ceil(Math.min(REQUESTS_A_TEST, requests - from) / 2)
      it(`${2 * numRuns} made-up requests get their statuses and leave their charges (seed ${seed + from})`, async () => {
        const { statuses, charged } = await playHeard(harness, fc.sample(madeRequest, { numRuns, seed: seed + from }))
        // Else there was nothing to count. A quarter of a sample is charged, so that chance alone does not fail it.
        ok(
          numRuns < 50 || (Object.keys(statuses).length > 2 && charged > 0),
          `only ${JSON.stringify({ statuses, charged })}`,
        )
      })
    }
  })
}

/** The result of made-up requests: answers by status, and the tokens that were charged. */
interface Played {
  readonly statuses: Readonly<Record<number, number>>
  readonly charged: number
}

/** Plays a sample with both kinds of store; fails where a promise of this process is rejected meanwhile. */
async function playHeard(harness: HttpHarness, sample: readonly MadeRequest[]): Promise<Played> {
  const statuses: Record<number, number> = {}
  let charged = 0
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  try {
    for (const store of ['now', 'later'] as const) charged += await playAll(harness, store, sample, statuses)
    // Node reports them after the turn in which they stayed unhandled.
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
