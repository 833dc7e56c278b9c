import { deepEqual, equal } from 'node:assert/strict'
import { type AnyStoreCase, type HttpCase, plays, withBothStores } from './http-case.ts'
import { saving, USED_UP } from './outcome-cases.ts'
import type { HttpReply, HttpRoute } from './scenario.ts'

const settings = { standardHeaders: 'draft-10' } as const

/** One hour after the suite's clock, in seconds since the epoch. */
const RESET = String(Date.UTC(2026, 7, 6, 15, 6, 26) / 1000)

/** The fields of all windows in the suite's policy. */
const ALL =
  /^"personal-write-1h";q=10;qu="tokens";w=3600, "personal-write-5h";q=1000;qu="tokens";w=18000, .*"site-write-1d";q=1000;qu="tokens";w=86400$/

const POLICY = '"personal-write-1h";q=10;qu="tokens";w=3600'

function fieldsOf(name: string, reply: HttpReply, remaining: number): AnyStoreCase {
  const fields = { ratelimit: `"personal-write-1h";r=${remaining};t=3600`, 'ratelimit-policy': POLICY }
  return plays(`RateLimit fields of ${name}`, { ...saving(reply), settings }, [{ status: reply.status ?? 200, fields }])
}

const OLDER = { settings: { legacyHeaders: true } }

function older(limit?: string, remaining?: string, reset?: string): Record<string, string | undefined> {
  return { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset }
}

function legacyFieldsOf(name: string, reply: HttpReply, remaining: number): AnyStoreCase {
  const fields = { ratelimit: undefined, 'retry-after': undefined, ...older('10', String(remaining), RESET) }
  return plays(`X-RateLimit fields of ${name}`, { ...saving(reply), ...OLDER }, [
    { status: reply.status ?? 200, fields },
  ])
}

/** A route that both engines meter. */
const TWO_ENGINES: readonly HttpRoute[] = [
  { path: '/x', operation: 'save', second: { operation: 'save', settings: { cost: 3 } }, reply: {} },
]

/** The draft's fields, with the numbers at the time of the head. */
export const HTTP_FIELD_CASES: readonly HttpCase[] = withBothStores([
  fieldsOf('a success', {}, 5),
  fieldsOf('a stream', { chunks: ['a', 'b'] }, 5),
  fieldsOf('a failure, without the tokens that go back', { status: 400 }, 10),
  fieldsOf('a part that was given back', { settles: { commit: 2 } }, 8),
  fieldsOf('an answer with fields of its own', { headers: { 'x-a': 'b' }, body: 'x' }, 5),
  plays(
    'a free operation has no RateLimit fields',
    { routes: [{ path: '/x', operation: 'free', reply: {} }], settings },
    [{ status: 200, fields: { ratelimit: undefined } }],
  ),
  plays(
    'RateLimit fields of a 429 name the refusing limit',
    { ...saving({}), settings: { standardHeaders: 'draft-11' } },
    [...USED_UP, { status: 429, fields: { ratelimit: '"personal-write-1h";r=0;t=3600', 'ratelimit-policy': POLICY } }],
  ),
  plays(
    'RateLimit fields can list every window, and on a 429 the refusing ones',
    { ...saving({}), settings: { ...settings, fields: 'all' } },
    [
      {
        status: 200,
        fields: {
          ratelimit: /^"personal-write-1h";r=5;t=3600, "personal-write-5h";r=995;.*, "site-write-1d";r=995;/,
          'ratelimit-policy': ALL,
        },
      },
      { status: 200 },
      { status: 429, fields: { ratelimit: '"personal-write-1h";r=0;t=3600', 'ratelimit-policy': ALL } },
    ],
  ),
  {
    name: 'a caller that waits as the fields say is never refused',
    scenario: { ...saving({}), settings },
    async run(client) {
      let isLeft = true
      let admitted = 0
      while (isLeft) {
        const { status, headers } = await client.ask('/x')
        equal(status, 200)
        admitted++
        // Callers know the cost of a request, so `r` shows them whether another one fits.
        isLeft = Number(/;r=(\d+)/.exec(headers.ratelimit ?? '')?.[1]) >= 5
      }
      equal(admitted, 2)
      equal((await client.ask('/x')).status, 429)
    },
  },
  legacyFieldsOf('a success', {}, 5),
  legacyFieldsOf('a stream', { chunks: ['a', 'b'] }, 5),
  legacyFieldsOf('a failure, without the tokens that go back', { status: 400 }, 10),
  legacyFieldsOf('an answer with fields of its own', { headers: { 'x-a': 'b' }, body: 'x' }, 5),
  plays('X-RateLimit fields are sent on request only', { ...saving({}), settings }, [{ status: 200, fields: older() }]),
  plays('X-RateLimit fields of a 429 agree with Retry-After', { ...saving({}), ...OLDER }, [
    ...USED_UP,
    { status: 429, fields: { ratelimit: undefined, 'retry-after': '3600', ...older('10', '0', RESET) } },
  ]),
  plays(
    'existing X-RateLimit fields of a response are kept',
    { ...saving({ headers: { 'x-ratelimit-limit': '7', 'x-ratelimit-remaining': '3' } }), ...OLDER },
    [{ status: 200, fields: older('7', '3') }],
  ),
  plays('the second of two engines sets the X-RateLimit fields', { routes: TWO_ENGINES, ...OLDER }, [
    { status: 200, fields: older('10', '7', RESET) },
  ]),
  {
    name: 'RateLimit fields of two engines are joined to one list',
    scenario: { routes: TWO_ENGINES, settings },
    async run(client) {
      const { headers } = await client.ask('/x')
      deepEqual(headers.ratelimit?.match(/"personal-write-1h";r=\d+/g), [
        '"personal-write-1h";r=7',
        '"personal-write-1h";r=5',
      ])
    },
  },
])
