import { deepEqual, equal, match } from 'node:assert/strict'
import { type AnyStoreCase, withBothStores } from './both-stores.ts'
import type { HttpCase } from './http-case.ts'
import { saving } from './outcome-cases.ts'
import type { HttpReply } from './scenario.ts'

const settings = { standardHeaders: 'draft-10' } as const

function fieldsOf(name: string, reply: HttpReply, remaining: number): AnyStoreCase {
  return {
    name: `draft-10 fields of ${name}`,
    scenario: { ...saving(reply), settings },
    async run(client) {
      const { headers } = await client.ask('/x')
      match(
        headers.ratelimit ?? '',
        new RegExp(`^"personal-1h";r=${remaining};t=\\d+, "personal-5h";r=${remaining + 990}`),
      )
      match(headers['ratelimit-policy'] ?? '', /^"personal-1h";q=10;w=3600, "personal-5h";q=1000;w=18000, /)
    },
  }
}

/** The fields of the draft, with the numbers as they are when the head leaves. */
export const HTTP_FIELD_CASES: readonly HttpCase[] = withBothStores([
  fieldsOf('a success', {}, 5),
  fieldsOf('a stream', { chunks: ['a', 'b'] }, 5),
  fieldsOf('a failure, without the tokens that go back', { status: 400 }, 10),
  fieldsOf('a part that was given back', { settles: { commit: 2 } }, 8),
  fieldsOf('an answer with fields of its own', { headers: { 'x-a': 'b' }, body: 'x' }, 5),
  {
    name: 'draft-10 fields of an operation that costs nothing: none',
    scenario: { routes: [{ path: '/x', operation: 'free', reply: {} }], settings },
    async run(client) {
      equal((await client.ask('/x')).headers.ratelimit, undefined)
    },
  },
  {
    name: 'draft-10 fields of a 429 list the windows that refuse and no others',
    scenario: { ...saving({}), settings },
    async run(client) {
      await client.ask('/x')
      await client.ask('/x')
      const { status, headers } = await client.ask('/x')
      deepEqual([status, headers.ratelimit], [429, '"personal-1h";r=0;t=3600'])
      match(headers['ratelimit-policy'] ?? '', /"personal-1h";q=10;w=3600, "personal-5h"/)
    },
  },
  {
    name: 'draft-10 fields of two engines are one list',
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
