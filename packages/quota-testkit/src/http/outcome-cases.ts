import { deepEqual, equal } from 'node:assert/strict'
import { ANONYMOUS, type AnyStoreCase, type HttpCase, type HttpStep, plays, withBothStores } from './http-case.ts'
import type { HttpReply, HttpRoute } from './scenario.ts'

/** A route at `/x` that charges 5 tokens, and an unmetered one. */
export function saving(reply: HttpReply, settings?: HttpRoute['settings']): { routes: HttpRoute[] } {
  const route: HttpRoute = { path: '/x', operation: 'save', reply }
  return { routes: [settings === undefined ? route : { ...route, settings }, { path: '/free', reply: {} }] }
}

/** Requests to a {@link saving} route that leave `u1` nothing. */
export const USED_UP: readonly HttpStep[] = [{ status: 200 }, { status: 200 }]

function staysCharged(name: string, status: number, reply: HttpReply): AnyStoreCase {
  return plays(`${name} stays charged`, saving({ status, ...reply }), [{ status }, 5])
}

/** Makes a case where only failures count. */
function countsFailures(name: string, reply: HttpReply, status: number, used: number): AnyStoreCase {
  const scenario = saving(reply, { settle: 'failures' })
  return plays(`where failures count, ${name}`, scenario, [{ status }, used])
}

function givesBack(name: string, status: number, reply: HttpReply): AnyStoreCase {
  return plays(`${name} gets its tokens back before the response arrives`, saving({ status, ...reply }), [
    { status },
    0,
  ])
}

const json = { headers: { 'content-type': 'application/json' }, body: '{"done":true}' }

/** Settlement by status, for each way to write a response. */
export const HTTP_OUTCOME_CASES: readonly HttpCase[] = withBothStores([
  staysCharged('JSON', 200, json),
  staysCharged('an empty 204', 204, {}),
  staysCharged('a redirect', 302, { headers: { location: '/elsewhere' } }),
  staysCharged('a 304', 304, {}),
  staysCharged('a stream', 200, { chunks: ['a', 'b', 'c'] }),
  staysCharged('a stream of events', 200, {
    headers: { 'content-type': 'text/event-stream' },
    chunks: ['data: 1\n\n', 'data: 2\n\n'],
  }),
  givesBack('JSON', 400, json),
  givesBack('an empty answer', 404, {}),
  givesBack('a stream', 500, { chunks: ['a', 'b', 'c'] }),
  givesBack('an error thrown at once', 500, { fails: 'now' }),
  givesBack('an error that comes later', 500, { fails: 'later' }),
  countsFailures('a success gets its tokens back', json, 200, 0),
  countsFailures('a redirect gets its tokens back', { status: 302, headers: { location: '/in' } }, 302, 0),
  countsFailures('a stream that succeeds gets its tokens back', { chunks: ['a', 'b'] }, 200, 0),
  countsFailures('a wrong password stays charged', { status: 401, ...json }, 401, 5),
  countsFailures('a 500 stays charged', { status: 500 }, 500, 5),
  countsFailures('an error thrown stays charged', { fails: 'now' }, 500, 5),
  countsFailures('an error that comes later stays charged', { fails: 'later' }, 500, 5),
  countsFailures('a handler that commits stays charged', { status: 302, settles: { commit: 5 } }, 302, 5),
  countsFailures('a handler that cancels gets its tokens back', { status: 401, settles: 'cancel' }, 401, 0),
  {
    name: 'where failures count, 24 parallel guesses never exceed the limit',
    scenario: {
      routes: [
        { path: '/wrong', operation: 'save', settings: { cost: 1, settle: 'failures' }, reply: { status: 401 } },
        { path: '/right', operation: 'save', settings: { cost: 1, settle: 'failures' }, reply: {} },
      ],
    },
    async run(client) {
      for (let attempt = 0; attempt < 15; attempt++) equal((await client.ask('/right')).status, 200)
      const answers = await Promise.all(Array.from({ length: 24 }, () => client.ask('/wrong')))
      equal(answers.filter(({ status }) => status === 401).length, 10)
      equal(answers.filter(({ status }) => status === 429).length, 14)
      equal((await client.ask('/right')).status, 429)
    },
  },
  plays(
    "a handler's response arrives unchanged, whatever its status",
    saving({ status: 409, headers: { 'x-kept': 'yes' }, body: 'taken' }),
    [{ status: 409, fields: { 'x-kept': 'yes' }, body: 'taken' }],
  ),
  {
    name: 'a failed stream arrives completely',
    scenario: saving({
      status: 500,
      chunks: Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(300)}\n`),
    }),
    async run(client) {
      const { status, body } = await client.ask('/x')
      deepEqual([status, body?.split('\n').length, body?.slice(-8)], [500, 501, `${'x'.repeat(7)}\n`])
    },
  },
  plays('HEAD is metered as GET', saving({ body: 'body' }), [{ method: 'HEAD', status: 200, body: '' }, 5]),
  plays('HEAD of a failure gives the tokens back', saving({ status: 404, body: 'body' }), [
    { method: 'HEAD', status: 404, body: '' },
    0,
  ]),
  plays('OPTIONS is free', saving({ body: 'body' }), [{ method: 'OPTIONS', status: 200 }, 0]),
  plays(
    "a route without an operation isn't metered, and a free one makes no store call",
    {
      routes: [
        { path: '/plain', reply: {} },
        { path: '/free', operation: 'free', reply: {} },
      ],
    },
    [{ path: '/plain', status: 200, headers: ANONYMOUS }, { path: '/free', status: 200 }, 0],
  ),
  {
    name: 'two engines on one request both charge and both give back',
    scenario: {
      routes: [
        { path: '/ok', operation: 'save', second: { operation: 'save', settings: { cost: 3 } }, reply: {} },
        { path: '/bad', operation: 'save', second: { operation: 'save' }, reply: { status: 400 } },
      ],
    },
    async run(client) {
      await client.ask('/bad')
      deepEqual(await client.usedOfEach(), [0, 0])
      await client.ask('/ok')
      deepEqual(await client.usedOfEach(), [5, 3])
    },
  },
  {
    name: "a refusal by a second engine gives back the first one's charge",
    scenario: { routes: [{ path: '/x', operation: 'save', second: { operation: 'huge' }, reply: {} }] },
    async run(client) {
      equal((await client.ask('/x')).status, 429)
      deepEqual(await client.usedOfEach(), [0, 0])
      equal((await client.log()).worked, 0)
    },
  },
  {
    name: "24 concurrent requests never exceed the limit, and failures don't use it up",
    scenario: {
      routes: [
        { path: '/fail', operation: 'save', settings: { cost: 1 }, reply: { status: 500 } },
        { path: '/work', operation: 'save', settings: { cost: 1 }, reply: {} },
      ],
    },
    async run(client) {
      await Promise.all(Array.from({ length: 12 }, () => client.ask('/fail')))
      equal(await client.used(), 0)
      const answers = await Promise.all(Array.from({ length: 24 }, () => client.ask('/work')))
      equal(answers.filter(({ status }) => status === 200).length, 10)
      equal(answers.filter(({ status }) => status === 429).length, 14)
      equal(await client.used(), 10)
    },
  },
])
