import { deepEqual, equal, ok } from 'node:assert/strict'
import type { TestRunner } from '@scoregw/quota-testkit'
import { HttpClient, type HttpHarness } from '@scoregw/quota-testkit/http'
import { testSeed } from '@scoregw/server-kit'
import * as fc from 'fast-check'
import { type MadeRequest, madeRequest } from './made-request.ts'

/** Random requests per test: few enough to finish long before a runner's time limit. */
const REQUESTS_A_TEST = 500

/**
 * Registers tests that send random requests, and check: every status is as expected, exactly the expected tokens are
 * charged, neither tokens nor slots are held at the end, and no rejected promise stays unhandled. Each names its seed.
 *
 * @param seed repeats the same requests
 */
export function describeHttpFuzz(
  { describe, it }: TestRunner,
  harness: HttpHarness,
  name: string,
  requests: number,
  seed: number = testSeed,
): void {
  describe(name, () => {
    for (let from = 0; from < requests; from += REQUESTS_A_TEST) {
      const numRuns = Math.ceil(Math.min(REQUESTS_A_TEST, requests - from) / 2)
      it(`${2 * numRuns} random requests get their statuses and leave their charges (seed ${seed + from})`, async () => {
        const { statuses, charged } = await playHandled(harness, fc.sample(madeRequest, { numRuns, seed: seed + from }))
        // Otherwise there was nothing to check. A quarter of a sample is charged, so chance alone does not fail it.
        ok(
          numRuns < 50 || (Object.keys(statuses).length > 2 && charged > 0),
          `only ${JSON.stringify({ statuses, charged })}`,
        )
      })
    }
  })
}

/** The result of random requests: answers by status, and the charged tokens. */
interface Played {
  readonly statuses: Readonly<Record<number, number>>
  readonly charged: number
}

/** Plays a sample with both kinds of store. Fails if a promise is rejected and not handled. */
async function playHandled(harness: HttpHarness, sample: readonly MadeRequest[]): Promise<Played> {
  const statuses: Record<number, number> = {}
  let charged = 0
  const unhandled: unknown[] = []
  const collect = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', collect)
  try {
    for (const store of ['now', 'later'] as const) charged += await playAll(harness, store, sample, statuses)
    // Node reports them after the tick in which they stayed unhandled.
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.off('unhandledRejection', collect)
  }
  deepEqual(unhandled, [], 'unhandled rejections')
  return { statuses, charged }
}

/** @returns the charged tokens */
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
