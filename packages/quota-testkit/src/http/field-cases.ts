import { deepEqual, equal, match } from 'node:assert/strict'
import { type AnyStoreCase, type HttpCase, withBothStores } from './http-case.ts'
import { saving } from './outcome-cases.ts'
import type { HttpReply } from './scenario.ts'

const settings = { standardHeaders: 'draft-10' } as const

/** One hour after the suite's clock, in seconds since the epoch. */
const RESET = String(Date.UTC(2026, 7, 6, 15, 6, 26) / 1000)

/** The fields of all windows in the suite's policy. */
const ALL = /^"personal-1h";q=10;w=3600, "personal-5h";q=1000;w=18000, .*"site-1d";q=1000;w=86400$/

function fieldsOf(name: string, reply: HttpReply, remaining: number): AnyStoreCase {
  return {
    name: `RateLimit fields of ${name}`,
    scenario: { ...saving(reply), settings },
    async run(client) {
      const { headers } = await client.ask('/x')
      deepEqual(
        [headers.ratelimit, headers['ratelimit-policy']],
        [`"personal-1h";r=${remaining};t=3600`, '"personal-1h";q=10;w=3600'],
      )
    },
  }
}

/** Makes some requests. Returns the status and fields of a refusal, else of the first response. */
async function legacyOf(client: Parameters<HttpCase['run']>[0], requests = 1) {
  const replies = await Promise.all(Array.from({ length: requests }, () => client.ask('/x')))
  const { status, headers } = replies.reduce((first, reply) => (reply.status === 429 ? reply : first))
  const older = ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`])
  return [status, headers.ratelimit, headers['retry-after'], ...older]
}

function legacyFieldsOf(name: string, reply: HttpReply, remaining: number): AnyStoreCase {
  return {
    name: `X-RateLimit fields of ${name}`,
    scenario: { ...saving(reply), settings: { legacyHeaders: true } },
    async run(client) {
      deepEqual((await legacyOf(client)).slice(1), [undefined, undefined, '10', String(remaining), RESET])
    },
  }
}

/** The draft's fields, with the numbers at the time of the head. */
export const HTTP_FIELD_CASES: readonly HttpCase[] = withBothStores([
  fieldsOf('a success', {}, 5),
  fieldsOf('a stream', { chunks: ['a', 'b'] }, 5),
  fieldsOf('a failure, without the tokens that go back', { status: 400 }, 10),
  fieldsOf('a part that was given back', { settles: { commit: 2 } }, 8),
  fieldsOf('an answer with fields of its own', { headers: { 'x-a': 'b' }, body: 'x' }, 5),
  {
    name: 'RateLimit fields of an operation that costs nothing: none',
    scenario: { routes: [{ path: '/x', operation: 'free', reply: {} }], settings },
    async run(client) {
      equal((await client.ask('/x')).headers.ratelimit, undefined)
    },
  },
  {
    name: 'RateLimit fields of a 429 name the window that binds',
    scenario: { ...saving({}), settings: { standardHeaders: 'draft-11' } },
    async run(client) {
      await client.ask('/x')
      await client.ask('/x')
      const { status, headers } = await client.ask('/x')
      deepEqual(
        [status, headers.ratelimit, headers['ratelimit-policy']],
        [429, '"personal-1h";r=0;t=3600', '"personal-1h";q=10;w=3600'],
      )
    },
  },
  {
    name: 'RateLimit fields of every window, and on a 429 of those that refuse',
    scenario: { ...saving({}), settings: { ...settings, fields: 'all' } },
    async run(client) {
      const first = await client.ask('/x')
      match(first.headers.ratelimit ?? '', /^"personal-1h";r=5;t=3600, "personal-5h";r=995;.*, "site-1d";r=995;/)
      match(first.headers['ratelimit-policy'] ?? '', ALL)
      await client.ask('/x')
      const { status, headers } = await client.ask('/x')
      deepEqual([status, headers.ratelimit], [429, '"personal-1h";r=0;t=3600'])
      match(headers['ratelimit-policy'] ?? '', ALL)
    },
  },
  {
    name: 'who reads the fields and waits as they say is never refused',
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
  {
    name: 'X-RateLimit fields are sent on request only',
    scenario: { ...saving({}), settings },
    async run(client) {
      deepEqual((await legacyOf(client)).slice(3), [undefined, undefined, undefined])
    },
  },
  {
    name: 'X-RateLimit fields of a 429 agree with Retry-After',
    scenario: { ...saving({}), settings: { legacyHeaders: true } },
    async run(client) {
      deepEqual(await legacyOf(client, 3), [429, undefined, '3600', '10', '0', RESET])
    },
  },
  {
    name: 'X-RateLimit fields that a response has stay',
    scenario: {
      ...saving({ headers: { 'x-ratelimit-limit': '7', 'x-ratelimit-remaining': '3' } }),
      settings: { legacyHeaders: true },
    },
    async run(client) {
      deepEqual((await legacyOf(client)).slice(3), ['7', '3', undefined])
    },
  },
  {
    name: 'of two engines, the second sets the X-RateLimit fields',
    scenario: {
      routes: [{ path: '/x', operation: 'save', second: { operation: 'save', settings: { cost: 3 } }, reply: {} }],
      settings: { legacyHeaders: true },
    },
    async run(client) {
      deepEqual((await legacyOf(client)).slice(3), ['10', '7', RESET])
    },
  },
  {
    name: 'RateLimit fields of two engines are one list',
    scenario: {
      routes: [{ path: '/x', operation: 'save', second: { operation: 'save', settings: { cost: 3 } }, reply: {} }],
      settings,
    },
    async run(client) {
      const { headers } = await client.ask('/x')
      deepEqual(headers.ratelimit?.match(/"personal-1h";r=\d+/g), ['"personal-1h";r=7', '"personal-1h";r=5'])
    },
  },
])
