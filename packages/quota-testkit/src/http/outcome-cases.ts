import { type HttpRow, type HttpRows, type HttpStep, saving } from './http-case.ts'
import type { HttpReply } from './scenario.ts'

const JSON_REPLY = { headers: { 'content-type': 'application/json' }, body: '{"done":true}' }
const STREAM = { chunks: ['a', 'b'] } as const
const END = { settle: 'end' } as const
const ASKED = { path: '/x', operation: 'save', reply: 'asked' } as const
const COMMITS = { settles: { commit: 2 }, settlesIn: 'middle' } as const

/** Responses of handlers: their status, and the tokens that stay charged. */
const OUTCOMES: Readonly<Record<string, readonly [status: number, reply: HttpReply, tokens: number]>> = {
  'JSON stays charged': [200, JSON_REPLY, 5],
  'an empty 204 stays charged': [204, {}, 5],
  'a redirect stays charged': [302, { headers: { location: '/elsewhere' } }, 5],
  'a 304 stays charged': [304, {}, 5],
  'a stream stays charged': [200, { chunks: ['a', 'b', 'c'] }, 5],
  'a stream of events stays charged': [
    200,
    { headers: { 'content-type': 'text/event-stream' }, chunks: ['data: 1\n\n', 'data: 2\n\n'] },
    5,
  ],
  'JSON gets its tokens back before the response arrives': [400, JSON_REPLY, 0],
  'an empty answer gets its tokens back before the response arrives': [404, {}, 0],
  'a stream gets its tokens back before the response arrives': [500, { chunks: ['a', 'b', 'c'] }, 0],
  'an error thrown at once gets its tokens back before the response arrives': [500, { fails: 'now' }, 0],
  'an error that comes later gets its tokens back before the response arrives': [500, { fails: 'later' }, 0],
}

/** The same where only failures count. */
const FAILURES: Readonly<Record<string, readonly [status: number, reply: HttpReply, tokens: number]>> = {
  'a success gets its tokens back': [200, JSON_REPLY, 0],
  'a redirect gets its tokens back': [302, { headers: { location: '/in' } }, 0],
  'a stream that succeeds gets its tokens back': [200, STREAM, 0],
  'a wrong password stays charged': [401, JSON_REPLY, 5],
  'a 500 stays charged': [500, {}, 5],
  'an error thrown stays charged': [500, { fails: 'now' }, 5],
  'an error that comes later stays charged': [500, { fails: 'later' }, 5],
  'a handler that commits stays charged': [302, { settles: { commit: 5 } }, 5],
  'a handler that cancels gets its tokens back': [401, { settles: 'cancel' }, 0],
}

function outcomes(of: typeof OUTCOMES, before: string, settings?: { readonly settle: 'failures' }): HttpRows {
  const rows = Object.entries(of).map(([name, [status, reply, tokens]]): [string, HttpRow] => [
    before + name,
    { on: saving({ status, ...reply }, settings), play: [{ status }, tokens] },
  ])
  return Object.fromEntries(rows)
}

/** A route for each path, by its reply. Each costs a token. */
function routes(replies: Readonly<Record<string, HttpReply>>, settle: 'outcome' | 'failures') {
  const settings = { cost: 1, settle }
  return {
    routes: Object.entries(replies).map(([path, reply]) => ({ path, operation: 'save', settings, reply }) as const),
  }
}

/** Requests that cost 9, 3 and 5 of 10. The first one fails, so that a threshold is crossed by 8. */
const NEARING: readonly HttpStep[] = [
  { status: 500, headers: { 'x-cost': '9', 'x-reply': '{"status":500}' } },
  { status: 200, headers: { 'x-cost': '3' } },
  { status: 200, headers: { 'x-cost': '5' } },
  // An asynchronous store is read first.
  { near: ['personal-write-1h 8'] },
]

const LINES = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(300)}\n`)

/** A request whose handler breaks its stream. */
const BREAKS: HttpStep = { breaks: true }

/** Settlement by status, for each way to write a response, and by handlers themselves. */
export const OUTCOME_ROWS: HttpRows = {
  ...outcomes(OUTCOMES, ''),
  ...outcomes(FAILURES, 'where failures count, ', { settle: 'failures' }),
  'where failures count, 24 parallel guesses never exceed the limit': {
    on: routes({ '/wrong': { status: 401 }, '/right': {} }, 'failures'),
    play: [
      { path: '/right', counts: { 200: 10 } },
      { path: '/right', counts: { 200: 5 } },
      { path: '/wrong', counts: { 401: 10, 429: 14 } },
      { path: '/right', status: 429 },
    ],
  },
  "a handler's response arrives unchanged, whatever its status": {
    on: saving({ status: 409, headers: { 'x-kept': 'yes' }, body: 'taken' }),
    play: [{ status: 409, fields: { 'x-kept': 'yes' }, body: 'taken' }],
  },
  'a failed stream arrives completely': {
    on: saving({ status: 500, chunks: LINES }),
    play: [{ status: 500, body: LINES.join('') }],
  },
  'HEAD is metered as GET': { on: saving({ body: 'body' }), play: [{ method: 'HEAD', status: 200, body: '' }, 5] },
  'HEAD of a failure gives the tokens back': {
    on: saving({ status: 404, body: 'body' }),
    play: [{ method: 'HEAD', status: 404, body: '' }, 0],
  },
  'OPTIONS is free': { on: saving({ body: 'body' }), play: [{ method: 'OPTIONS', status: 200 }, 0] },
  "a route without an operation isn't metered, and a free one makes no store call": {
    on: {
      routes: [
        { path: '/plain', reply: {} },
        { path: '/free', operation: 'free', reply: {} },
      ],
    },
    play: [{ path: '/plain', status: 200, headers: { 'x-user': [] } }, { path: '/free', status: 200 }, 0],
  },
  'two engines on one request both charge and both give back': {
    on: {
      routes: [
        { path: '/ok', operation: 'save', second: { operation: 'save', settings: { cost: 3 } }, reply: {} },
        { path: '/bad', operation: 'save', second: { operation: 'save' }, reply: { status: 400 } },
      ],
    },
    play: [{ path: '/bad', status: 400 }, [0, 0], { path: '/ok', status: 200 }, [5, 3]],
  },
  "a refusal by a second engine gives back the first one's charge": {
    on: { routes: [{ path: '/x', operation: 'save', second: { operation: 'huge' }, reply: {} }] },
    play: [{ status: 429 }, [0, 0], { worked: 0 }],
  },
  "24 concurrent requests never exceed the limit, and failures don't use it up": {
    on: routes({ '/fail': { status: 500 }, '/work': {} }, 'outcome'),
    play: [{ path: '/fail', counts: { 500: 10 } }, 0, { path: '/work', counts: { 200: 10, 429: 14 } }, 10],
  },
  'a handler commits less than was reserved, and the outcome changes nothing after it': {
    on: saving({ status: 500, settles: { commit: 2 } }),
    play: [{ status: 500 }, 2],
  },
  'a handler cancels, and the tokens are back when its success arrives': {
    on: saving({ body: 'nothing was done', settles: 'cancel' }),
    play: [{ status: 200 }, 0],
  },
  'a commit above the reservation is logged, and the outcome settles': {
    on: saving({ status: 400, settles: { commit: 6 } }),
    play: [{ status: 400, errors: ['commit_above_reservation'] }, 0],
  },
  'charge-first charges immediately and gives nothing back': {
    on: saving({ status: 500, settles: 'cancel' }, { settle: 'charge-first' }),
    play: [{ status: 500 }, 5],
  },
  'settle: outcome ignores a commit after the head of a success': {
    on: saving({ ...STREAM, ...COMMITS }),
    play: [{ status: 200, body: 'ab' }, 5],
  },
  'settle: end accepts a commit within a stream and has settled when the stream has arrived': {
    on: saving({ ...STREAM, ...COMMITS }, END),
    play: [{ status: 200, body: 'ab' }, 2],
  },
  'settle: end accepts a cancel within a stream': {
    on: saving({ ...STREAM, settles: 'cancel', settlesIn: 'middle' }, END),
    play: [{ status: 200, body: 'ab' }, 0],
  },
  'settle: end charges a stream without a commit its full cost': {
    on: saving(STREAM, END),
    play: [{ status: 200, body: 'ab' }, 5],
  },
  "settle: end gives a failure's tokens back, whatever its handler commits after the head": {
    on: saving({ status: 502, ...STREAM, ...COMMITS }, END),
    play: [{ status: 502 }, 0],
  },
  'settle: end charges a response without a body': { on: saving({ status: 204 }, END), play: [{ status: 204 }, 5] },
  'a threshold is crossed by what stays charged': { on: { routes: [ASKED] }, play: NEARING },
  'settle: end crosses a threshold by what stays charged': {
    on: { routes: [{ ...ASKED, settings: END }] },
    play: NEARING,
  },
  'a stream that breaks after the head of a success stays charged': {
    on: saving({ ...STREAM, fails: 'middle' }),
    play: [BREAKS, 'idle', 5],
  },
  'settle: end gives tokens back when the handler breaks its stream': {
    on: saving({ ...STREAM, fails: 'middle' }, END),
    needs: 'broken-streams',
    play: [BREAKS, 'idle', 0],
    without: [BREAKS, 'idle', 5],
  },
  'settle: end gives tokens back when the handler breaks its stream after the head was sent': {
    on: saving({ ...STREAM, waits: { for: 'gate', in: 'middle' }, fails: 'middle' }, END),
    needs: ['waiting', 'broken-streams'],
    play: [{ sends: [] }, 'reached', 'data', 'open', 'idle', 0],
  },
}
