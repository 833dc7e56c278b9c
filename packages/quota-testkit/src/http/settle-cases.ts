import { deepEqual } from 'node:assert/strict'
import { once } from 'node:events'
import type { HttpClient } from './client.ts'
import { type HttpCase, type HttpStep, playSteps, plays, withBothStores } from './http-case.ts'
import { saving } from './outcome-cases.ts'

const END = { settle: 'end' } as const
const STREAM = { chunks: ['a', 'b'] } as const
const ASKED = { path: '/x', operation: 'save', reply: 'asked' } as const
const COMMITS = { settles: { commit: 2 }, settlesIn: 'middle' } as const

/** Makes a request whose handler breaks its stream, and checks the tokens that stay charged. */
async function breaks(client: HttpClient, tokens: number): Promise<void> {
  await client.ask('/x').catch(() => undefined)
  await playSteps(client, ['idle', tokens])
}

/** Requests that cost 9, 3 and 5 of 10. The first one fails. */
const NEARING: readonly HttpStep[] = [
  { status: 500, headers: { 'x-cost': '9', 'x-reply': '{"status":500}' } },
  { status: 200, headers: { 'x-cost': '3' } },
  { status: 200, headers: { 'x-cost': '5' } },
]

/** Sends {@link NEARING}, and checks that a threshold is crossed by what stays charged. */
async function nears(client: HttpClient): Promise<void> {
  await playSteps(client, NEARING)
  // An asynchronous store is read first.
  deepEqual(await client.untilNear(), ['personal-write-1h 8'])
}

/** Handlers that settle themselves, and settlement at other times than the head. */
export const HTTP_SETTLE_CASES: readonly HttpCase[] = withBothStores([
  plays(
    'a handler commits less than was reserved, and the outcome changes nothing after it',
    saving({ status: 500, settles: { commit: 2 } }),
    [{ status: 500 }, 2],
  ),
  plays(
    'a handler cancels, and the tokens are back when its success arrives',
    saving({ body: 'nothing was done', settles: 'cancel' }),
    [{ status: 200 }, 0],
  ),
  plays(
    'a commit above the reservation is logged, and the outcome settles',
    saving({ status: 400, settles: { commit: 6 } }),
    [{ status: 400, errors: ['commit_above_reservation'] }, 0],
  ),
  plays(
    'charge-first charges immediately and gives nothing back',
    saving({ status: 500, settles: 'cancel' }, { settle: 'charge-first' }),
    [{ status: 500 }, 5],
  ),
  plays('settle: outcome ignores a commit after the head of a success', saving({ ...STREAM, ...COMMITS }), [
    { status: 200, body: 'ab' },
    5,
  ]),
  plays(
    'settle: end accepts a commit within a stream and has settled when the stream has arrived',
    saving({ ...STREAM, ...COMMITS }, END),
    [{ status: 200, body: 'ab' }, 2],
  ),
  plays(
    'settle: end accepts a cancel within a stream',
    saving({ ...STREAM, settles: 'cancel', settlesIn: 'middle' }, END),
    [{ status: 200, body: 'ab' }, 0],
  ),
  plays('settle: end charges a stream without a commit its full cost', saving(STREAM, END), [
    { status: 200, body: 'ab' },
    5,
  ]),
  plays(
    "settle: end gives a failure's tokens back, whatever its handler commits after the head",
    saving({ status: 502, ...STREAM, ...COMMITS }, END),
    [{ status: 502 }, 0],
  ),
  plays('settle: end charges a response without a body', saving({ status: 204 }, END), [{ status: 204 }, 5]),
  { name: 'a threshold is crossed by what stays charged', scenario: { routes: [ASKED] }, run: nears },
  {
    name: 'settle: end crosses a threshold by what stays charged',
    scenario: { routes: [{ ...ASKED, settings: END }] },
    run: nears,
  },
  {
    name: 'a stream that breaks after the head of a success stays charged',
    scenario: saving({ ...STREAM, fails: 'middle' }),
    run: (client) => breaks(client, 5),
  },
  {
    name: 'settle: end gives tokens back when the handler breaks its stream',
    scenario: saving({ ...STREAM, fails: 'middle' }, END),
    needs: 'broken-streams',
    run: (client) => breaks(client, 0),
    without: (client) => breaks(client, 5),
  },
  {
    name: 'settle: end gives tokens back when the handler breaks its stream after the head was sent',
    scenario: saving({ ...STREAM, waits: { for: 'gate', in: 'middle' }, fails: 'middle' }, END),
    needs: ['waiting', 'broken-streams'],
    async run(client) {
      const socket = await client.send('/x')
      await client.tell('reached')
      await once(socket, 'data')
      await playSteps(client, ['open', 'idle', 0])
    },
  },
])
