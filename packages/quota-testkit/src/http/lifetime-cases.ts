import { equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { HttpClient } from './client.ts'
import { type HttpRow, type HttpRows, type HttpStep, playSteps, saving } from './http-case.ts'
import type { HttpOperation, HttpReply, HttpRouteSettings } from './scenario.ts'

type On = HttpRow['on']

/** A route at `/x` for an operation, and an unmetered one at `/free`. */
function route(operation: HttpOperation, reply: HttpReply, settings: HttpRouteSettings = {}): On {
  return {
    routes: [
      { path: '/x', operation, settings, reply },
      { path: '/free', reply: {} },
    ],
  }
}

/** One slot, and enough tokens. */
function working(reply: HttpReply): On {
  return { ...route('work', reply), slots: 1, hourly: 100 }
}

const END = { settle: 'end' } as const
/** Longer than any case takes. */
const LONG_GRACE = { ...END, abortGraceMs: 50_000 } as const
const SHORT_GRACE = { ...END, abortGraceMs: 1 } as const

const STREAM = { chunks: ['a', 'b'] } as const
const COMMITS = { settles: { commit: 2 }, settlesIn: 'middle' } as const
/** Waits in mid-stream until its caller has disconnected. */
const GONE = { ...STREAM, waits: { for: 'gone', in: 'middle' } } as const
const GATE = { ...STREAM, waits: { for: 'gate', in: 'middle' } } as const
/** A handler whose caller hangs up. It reports the actual cost when the suite opens the gate. */
const LATE = { ...STREAM, waits: { for: 'gone, then gate', in: 'middle' }, ...COMMITS } as const

/** A response that names another limit than `1h`. */
const UNSHADOWED = { status: 200, fields: { 'ratelimit-policy': /^"(personal|site)-write-(5h|1d)";/ } }

/** A caller who disconnects while the handler waits, and what follows. */
function leaves(on: On, ...then: readonly HttpStep[]): HttpRow {
  return { on, needs: 'hang-ups', play: [{ sends: [] }, 'reached', 'hang up', ...then] }
}

/** The same, before the head is sent. */
function hangsUp(reply: HttpReply, tokens: number): HttpRow {
  return leaves(saving({ ...reply, waits: { for: 'gone' } }), 'idle', tokens)
}

/** Requests that hold tokens or a slot until their response ends. */
const HOLDS: HttpRows = {
  'settle: end charges above the reservation if the operation allows it': {
    on: route('chat', { ...STREAM, settles: { commit: 12 }, settlesIn: 'middle' }, END),
    play: [{ status: 200, body: 'ab', held: 0 }, 12],
  },
  'settle: end leaves an overrun uncharged if the operation rejects it, and the outcome settles': {
    on: route('save', { settles: { commit: 6 } }, END),
    play: [{ status: 200, errors: ['commit_above_reservation'], held: 0 }, 5],
  },
  'settle: end charges what a handler added': {
    on: route('save', { adds: 3, ...STREAM, settlesIn: 'middle' }, END),
    play: [{ status: 200, body: 'ab', held: 0 }, 8],
  },
  'settle: end gives back what a handler added to a failed request': {
    on: route('save', { adds: 3, status: 500 }, END),
    play: [{ status: 500, held: 0 }, 0],
  },
  'settle: end holds nothing after a HEAD response': {
    on: route('save', STREAM, END),
    play: [{ method: 'HEAD', status: 200 }, 'released', 5],
  },
  'settle: end waits for a commit that is rejected as too much and settles by the outcome': {
    on: { ...route('save', { settles: { commit: 6 } }, END), store: 'later' },
    needs: 'waiting',
    play: [
      'store?settles=held',
      { starts: true },
      ...['settling', 'idle', 'let-go'],
      { response: { status: 200 } },
      5,
      { held: 0 },
    ],
  },
  'a slot is freed when its response ends and not before': {
    on: working(GATE),
    needs: 'waiting',
    play: [
      { starts: true },
      'reached',
      { status: 429 },
      'open',
      { response: { status: 200, body: 'ab' }, held: 0 },
      { status: 200 },
      10,
    ],
  },
  'a refusal for lack of a slot says so, with a retry time': {
    on: { ...working({ waits: { for: 'gate' } }), settings: { standardHeaders: 'draft-10', locale: 'en' } },
    needs: 'waiting',
    play: [
      { starts: true },
      'reached',
      {
        status: 429,
        fields: {
          'retry-after': '1',
          ratelimit: '"personal-write-running";r=0',
          'ratelimit-policy': '"personal-write-running";q=1;qu="concurrent-requests"',
        },
        members: { retryAfterSeconds: 1 },
        body: /"msg":"Reached Personal Limit of 1 Write requests at once\. You may continue when one of them has ended\.[^{]*"quota":\{[^}]*"window":"personal-write-running","limit":1,"used":1,"requested":1,"resetAt":"2026-08-06T14:06:27.000Z"/,
      },
      'open',
      { response: { status: 200 } },
    ],
  },
  'a failure frees its slot and gives its tokens back': {
    on: working({ status: 500, body: 'no' }),
    play: [{ status: 500, held: 0 }, { status: 500, held: 0 }, 0],
  },
  'an error frees its slot': {
    on: working({ fails: 'now' }),
    play: [{ status: 500, held: 0 }, { status: 500, held: 0 }, 0],
  },
  'a stream that breaks frees its slot': {
    on: working({ ...STREAM, fails: 'middle' }),
    needs: 'broken-streams',
    play: [{ breaks: true }, 'idle', 'released'],
  },
  'a request has the limits of its plan': {
    on: route('save', {}, { plan: 'pro' }),
    play: [200, 200, 200, 200, 429].map((status) => ({ status })),
  },
  'a shadowed limit refuses nobody and appears in no response': {
    on: { ...route('save', {}), settings: { standardHeaders: 'draft-10' } },
    play: ['shadow', UNSHADOWED, UNSHADOWED, UNSHADOWED, 15],
  },
}

/** Callers who disconnect. */
const CALLERS: HttpRows = {
  'settle: end charges a caller who disconnects in the middle and holds nothing afterwards': leaves(
    route('save', GONE, SHORT_GRACE),
    ...['idle', 'released', 5],
  ),
  'settle: end accepts a commit of a stream whose caller disconnected': leaves(
    route('save', { ...GONE, ...COMMITS }, END),
    ...['idle', 'released', 2],
  ),
  'settle: end accepts a commit for some time after the caller of a stream disconnected': leaves(
    route('save', LATE, LONG_GRACE),
    ...['left', { held: 1 }, 5, 'open', 'idle', 'released', 2, { errors: [] }],
  ),
  'settle: end accepts a cancel for some time after a disconnect': leaves(
    route('save', { ...LATE, settles: 'cancel' }, LONG_GRACE),
    ...['left', 'open', 'idle', 'released', 0],
  ),
  'settle: end charges in full some time after a disconnect and logs a later commit': leaves(
    route('save', LATE, SHORT_GRACE),
    ...['left', 'released', 5, 'open', 'idle', 5, { errors: ['reservation_expired'] }],
  ),
  'settle: end gives back some time after a disconnect with abortedAs: cancel': leaves(
    route('save', LATE, { ...SHORT_GRACE, abortedAs: 'cancel' }),
    ...['left', 'released', 0, 'open', 'idle', 0],
  ),
  'settle: end accepts a commit when the caller disconnected before the head': leaves(
    route('save', { waits: { for: 'gone, then gate' }, settles: { commit: 2 } }, LONG_GRACE),
    ...['left', { held: 1 }, 'open', 'idle', 'released', 2],
  ),
  'a caller who disconnects before the head frees the slot and stays charged': leaves(
    working({ waits: { for: 'gone' } }),
    ...['idle', 'released', 5],
  ),
  'a caller who disconnects in the middle of a stream frees the slot': leaves(
    working(GONE),
    ...['idle', 'released', 5],
  ),
  'a caller who disconnects frees the slot, whatever the handler does next': leaves(
    working(GATE),
    ...['released', 'open', 'idle', 5],
  ),
  'a caller who disconnects before the head frees the slot, whatever the handler does next': leaves(
    working({ waits: { for: 'gate' } }),
    ...['released', 'open', 'idle', 5],
  ),
  'a caller who disconnects before the head of a success stays charged': hangsUp({}, 5),
  'a caller who disconnects before the head of a failure stays charged': hangsUp({ status: 404 }, 5),
  'a caller who disconnected gets the tokens back when the handler fails': hangsUp({ fails: 'later' }, 0),
  'a caller who disconnected gets the tokens back when the handler cancels': hangsUp({ settles: 'cancel' }, 0),
  'a caller who disconnected is charged what the handler commits': hangsUp({ settles: { commit: 1 } }, 1),
  ...Object.fromEntries(
    (['outcome', 'end'] as const).map((settle): [string, HttpRow] => [
      `a caller who disconnects in the middle of a stream stays charged, with settle: ${settle}`,
      {
        on: saving(GONE, { settle }),
        needs: 'hang-ups',
        play: [{ sends: [] }, 'data', 'reached', 'hang up', 'idle', 5],
      },
    ]),
  ),
}

/** The response of a request waits for the previous response. */
const PIPELINED: On = {
  routes: [
    { path: '/first', reply: { waits: { for: 'gone, then gate' } } },
    { path: '/x', operation: 'work', reply: { waits: { for: 'gate' } } },
  ],
  slots: 1,
  hourly: 100,
}

/** Sends requests on one connection without waiting. */
async function sendTogether(client: HttpClient, ...heads: readonly string[]) {
  const socket = await client.dial()
  socket.write(heads.map((head) => `GET ${head}\r\nHost: a\r\nx-user: u1\r\n\r\n`).join(''))
  return socket
}

async function untilWorked(client: HttpClient, handlers: number): Promise<void> {
  while ((await client.log()).worked < handlers) await new Promise(setImmediate)
}

/** Several requests on one connection. */
const CONNECTIONS: HttpRows = {
  "a caller who disconnects before a pipelined request's turn frees its slot and stays charged": {
    on: PIPELINED,
    needs: 'pipelined-hang-ups',
    async play(client) {
      const socket = await sendTogether(client, '/first HTTP/1.1', '/x HTTP/1.1')
      await untilWorked(client, 2)
      equal(await client.held(), 1)
      socket.destroy()
      await playSteps(client, ['released', 5, 'open', 'idle', 5])
    },
  },
  'a caller of a pipelined request who disconnects before the store answers frees its slot and stays charged': {
    on: { ...PIPELINED, store: 'later' },
    needs: 'pipelined-hang-ups',
    async play(client) {
      await client.tell('store?takes=held')
      const socket = await sendTogether(client, '/first HTTP/1.1', '/x HTTP/1.1')
      await client.tell('reached')
      socket.destroy()
      await playSteps(client, ['left', 'let-go'])
      await untilWorked(client, 2)
      await playSteps(client, ['released', 5, 'open', 'idle', 5])
    },
  },
  'a kept-alive connection carries one request after the other': {
    on: saving({ body: 'done' }),
    needs: 'http1',
    async play(client) {
      const socket = await client.send('/x')
      await once(socket, 'data')
      const request = 'GET /x HTTP/1.1\r\nHost: a\r\nx-user: u1\r\n'
      socket.write(`${request}\r\n`)
      await once(socket, 'data')
      socket.write(`${request}Connection: close\r\n\r\n`)
      match(await text(socket), /^HTTP\/1.1 429/m)
      equal(await client.used(), 10)
    },
  },
  'pipelined requests are answered in order and each charged': {
    on: {
      routes: [
        { path: '/bad', operation: 'save', reply: { status: 400, body: 'first' } },
        { path: '/good', operation: 'save', reply: { body: 'second' } },
      ],
    },
    needs: 'pipelining',
    async play(client) {
      const socket = await sendTogether(client, '/bad HTTP/1.1', '/good HTTP/1.1\r\nConnection: close')
      match(await text(socket), /first[\s\S]*second/)
      equal(await client.used(), 5)
    },
  },
}

/** Requests from their connection to the end of their response. */
export const LIFETIME_ROWS: HttpRows = { ...HOLDS, ...CALLERS, ...CONNECTIONS }
