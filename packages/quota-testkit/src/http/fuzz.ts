import { deepEqual, equal } from 'node:assert/strict'
import * as fc from 'fast-check'
import { HttpClient } from './client.ts'
import type { HttpHarness } from './http-case.ts'
import type { HttpReply } from './scenario.ts'

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

/** One made-up request, and the tokens that it ought to leave charged. */
interface Made {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly status: number
  readonly charged: number
}

const COST = 5
/** Of the suite's `chat`. */
const MAX_OVERRUN = 20
const chunks = fc.array(fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }), { minLength: 1, maxLength: 4 })
const junk = fc.stringMatching(/^[\x21-\x7e]{0,60}$/)

const reply: fc.Arbitrary<HttpReply> = fc.record(
  {
    status: fc.constantFrom(200, 201, 204, 301, 304, 400, 404, 409, 422, 500, 503),
    body: fc.string({ maxLength: 40, unit: 'grapheme' }),
    chunks,
    fails: fc.constantFrom('now', 'later'),
    settles: fc.oneof(
      fc.constant('cancel' as const),
      fc.record({ commit: fc.integer({ min: -2, max: 8 }) }),
      fc.constant({ commit: Number.NaN }),
    ),
  },
  { requiredKeys: [] },
)

const cost = fc.constantFrom(undefined, '0', '1', '7', 'later:3', 'NaN', '-1', '1.5', '1e21', 'throws', 'rejects', 'x')
const user = fc.constantFrom('u1', 'u2', 'later:u1', 'throws', 'number', 'empty', undefined)
const path = fc.constantFrom('/outcome', '/end', '/chat', '/work', '/first', '/plain')

const made: fc.Arbitrary<Made> = fc
  .record({
    method: fc.constantFrom('GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE'),
    path,
    reply,
    cost,
    user,
    languages: fc.option(junk, { nil: undefined }),
    forwarded: fc.option(junk, { nil: undefined }),
  })
  .map(({ method, path, reply, cost, user, languages, forwarded }) => {
    const headers: Record<string, string> = { 'x-reply': encodeURIComponent(JSON.stringify(reply)) }
    if (cost !== undefined) headers['x-cost'] = cost
    if (user !== undefined) headers['x-user'] = user
    if (languages !== undefined) headers['accept-language'] = languages
    if (forwarded !== undefined) headers['x-forwarded-for'] = forwarded
    return { method, path, headers, ...expectedOf(method, path, reply, cost, user) }
  })

/** What a made-up request ought to get, and to leave charged. */
function expectedOf(
  method: string,
  path: string,
  reply: HttpReply,
  cost: string | undefined,
  user: string | undefined,
): { readonly status: number; readonly charged: number } {
  const answered = reply.fails === undefined ? (reply.status ?? 200) : 500
  if (path === '/plain' || method === 'OPTIONS') return { status: answered, charged: 0 }
  if (user === undefined) return { status: 401, charged: 0 }
  const tokens = cost === undefined ? COST : Number(cost.replace('later:', ''))
  const isWrong = ['throws', 'number', 'empty'].includes(user) || !Number.isSafeInteger(tokens) || tokens < 0
  if (isWrong) return { status: 500, charged: 0 }
  return { status: answered, charged: chargedBy(path, reply, tokens, answered) }
}

function chargedBy(path: string, { fails, settles }: HttpReply, tokens: number, answered: number): number {
  const byOutcome = answered < 400 ? tokens : 0
  if (path === '/first') return tokens
  if (settles === undefined || fails === 'now') return byOutcome
  if (settles === 'cancel') return 0
  // An amount that is none, or too much, leaves the outcome to decide; `chat` charges what was too little.
  const most = path === '/chat' ? tokens + MAX_OVERRUN : tokens
  const isRight = Number.isSafeInteger(settles.commit) && settles.commit >= 0 && settles.commit <= most
  return isRight ? settles.commit : byOutcome
}

/**
 * Sends made-up requests, and counts: every status is as expected, exactly the tokens are charged that ought to be,
 * neither tokens nor slots are held at the end, and no promise of this process was rejected unheard.
 * Fails by throwing an error that names the seed.
 */
export async function runHttpFuzz(harness: HttpHarness, options: HttpFuzzOptions): Promise<HttpFuzzResult> {
  const { requests, seed = Math.floor(Math.random() * 2 ** 31) } = options
  const statuses: Record<number, number> = {}
  let charged = 0
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  try {
    for (const store of ['now', 'later'] as const) charged += await playAll(harness, store, requests, seed, statuses)
    // They are told when the turn is over in which nobody heard them.
    await new Promise((resolve) => setImmediate(resolve))
  } finally {
    process.off('unhandledRejection', hear)
  }
  deepEqual(unheard, [], `rejections that nobody heard, with seed ${seed}`)
  return { seed, statuses, charged }
}

/** @returns tokens that were charged */
async function playAll(
  harness: HttpHarness,
  store: 'now' | 'later',
  requests: number,
  seed: number,
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
  const client = new HttpClient(served.url)
  try {
    const sample = fc.sample(made, { numRuns: Math.ceil(requests / 2), seed })
    for (let at = 0; at < sample.length; at += SIDE_BY_SIDE) {
      await Promise.all(sample.slice(at, at + SIDE_BY_SIDE).map((each) => play(client, each, seed, statuses)))
    }
    const held = await heldInTheEnd(client)
    equal(held, 0, `holds left, with seed ${seed} and a store that answers ${store}`)
    const expected = sample.reduce((sum, each) => sum + each.charged, 0)
    const used = (await client.used('u1')) + (await client.used('u2'))
    equal(used, expected, `tokens charged, with seed ${seed} and a store that answers ${store}`)
    return used
  } finally {
    client.close()
    await served.stop()
  }
}

/** What is held when all that ends behind the last byte has ended. */
async function heldInTheEnd(client: HttpClient): Promise<number> {
  const deadline = performance.now() + SETTLED_WITHIN_MS
  for (;;) {
    const held = (await client.held('u1')) + (await client.held('u2'))
    if (held === 0 || performance.now() > deadline) return held
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A settle may come after the byte that a client saw last; far below the life of a hold. In milliseconds. */
const SETTLED_WITHIN_MS = 2_000

const SIDE_BY_SIDE = 8

async function play(
  client: HttpClient,
  { method, path, headers, status }: Made,
  seed: number,
  statuses: Record<number, number>,
): Promise<void> {
  const own = headers['x-user'] === undefined ? { ...headers, 'x-user': [] } : headers
  const answer = await client.ask(path, { method, headers: own })
  deepEqual(answer.status, status, `status of ${method} ${path} ${JSON.stringify(headers)}, with seed ${seed}`)
  statuses[status] = (statuses[status] ?? 0) + 1
}
