import { deepEqual, equal, match } from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { HttpClient } from './client.ts'
import { type HttpCase, leaves, playSteps, plays, withBothStores } from './http-case.ts'
import type { HttpOperation, HttpReply, HttpRouteSettings, HttpScenario } from './scenario.ts'

type Scenario = Omit<HttpScenario, 'store'>

/** A route at `/x` for an operation, and an unmetered one at `/free`. */
function route(operation: HttpOperation, reply: HttpReply, settings: HttpRouteSettings = {}): Scenario {
  return {
    routes: [
      { path: '/x', operation, settings, reply },
      { path: '/free', reply: {} },
    ],
  }
}

/** One slot, and enough tokens. */
function working(reply: HttpReply, settings?: HttpRouteSettings): Scenario {
  return { ...route('work', reply, settings), slots: 1, hourly: 100 }
}

const END = { settle: 'end' } as const
/** Longer than any case takes. */
const LONG_GRACE = { ...END, abortGraceMs: 50_000 } as const
const SHORT_GRACE = { ...END, abortGraceMs: 1 } as const

/** A handler whose caller hangs up. It reports the actual cost when the suite opens the gate. */
const LATE = { waits: { for: 'gone, then gate', in: 'middle' }, settles: { commit: 2 }, settlesIn: 'middle' } as const

const STREAM = { chunks: ['a', 'b'] } as const
const COMMITS = { settles: { commit: 2 }, settlesIn: 'middle' } as const
/** Waits in mid-stream until its caller has disconnected. */
const GONE = { ...STREAM, waits: { for: 'gone', in: 'middle' } } as const
const GATE = { ...STREAM, waits: { for: 'gate', in: 'middle' } } as const

/** The response of a request waits for the previous response. */
const PIPELINED: Scenario = {
  routes: [
    { path: '/first', reply: { waits: { for: 'gone, then gate' } } },
    { path: '/x', operation: 'work', reply: { waits: { for: 'gate' } } },
  ],
  slots: 1,
  hourly: 100,
}

async function sendPipelined(client: HttpClient): Promise<Socket> {
  const socket = await client.dial()
  socket.write(['/first', '/x'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nx-user: u1\r\n\r\n`).join(''))
  return socket
}

async function untilWorked(client: HttpClient, handlers: number): Promise<void> {
  while ((await client.log()).worked < handlers) await new Promise(setImmediate)
}

/** A response that names another limit than `1h`. */
const UNSHADOWED = { status: 200, fields: { 'ratelimit-policy': /^"(personal|site)-write-(5h|1d)";/ } }

const OF_BOTH_STORES = withBothStores([
  plays(
    'settle: end charges above the reservation if the operation allows it',
    route('chat', { ...STREAM, settles: { commit: 12 }, settlesIn: 'middle' }, END),
    [{ status: 200, body: 'ab', held: 0 }, 12],
  ),
  plays(
    'settle: end leaves an overrun uncharged if the operation rejects it, and the outcome settles',
    route('save', { settles: { commit: 6 } }, END),
    [{ status: 200, errors: ['commit_above_reservation'], held: 0 }, 5],
  ),
  plays('settle: end charges what a handler added', route('save', { adds: 3, ...STREAM, settlesIn: 'middle' }, END), [
    { status: 200, body: 'ab', held: 0 },
    8,
  ]),
  plays(
    'settle: end gives back what a handler added to a failed request',
    route('save', { adds: 3, status: 500 }, END),
    [{ status: 500, held: 0 }, 0],
  ),
  plays('settle: end holds nothing after a HEAD response', route('save', STREAM, END), [
    { method: 'HEAD', status: 200 },
    'released',
    5,
  ]),
  leaves(
    'settle: end charges a caller who disconnects in the middle and holds nothing afterwards',
    route('save', GONE, SHORT_GRACE),
    ['idle', 'released', 5],
  ),
  leaves(
    'settle: end accepts a commit of a stream whose caller disconnected',
    route('save', { ...GONE, ...COMMITS }, END),
    ['idle', 'released', 2],
  ),
  leaves(
    'settle: end accepts a commit for some time after the caller of a stream disconnected',
    route('save', { ...STREAM, ...LATE }, LONG_GRACE),
    ['left', { held: 1 }, 5, 'open', 'idle', 'released', 2, { errors: [] }],
  ),
  leaves(
    'settle: end accepts a cancel for some time after a disconnect',
    route('save', { ...STREAM, ...LATE, settles: 'cancel' }, LONG_GRACE),
    ['left', 'open', 'idle', 'released', 0],
  ),
  leaves(
    'settle: end charges in full some time after a disconnect and logs a later commit',
    route('save', { ...STREAM, ...LATE }, SHORT_GRACE),
    ['left', 'released', 5, 'open', 'idle', 5, { errors: ['reservation_expired'] }],
  ),
  leaves(
    'settle: end gives back some time after a disconnect with abortedAs: cancel',
    route('save', { ...STREAM, ...LATE }, { ...SHORT_GRACE, abortedAs: 'cancel' }),
    ['left', 'released', 0, 'open', 'idle', 0],
  ),
  leaves(
    'settle: end accepts a commit when the caller disconnected before the head',
    route('save', { waits: { for: 'gone, then gate' }, settles: { commit: 2 } }, LONG_GRACE),
    ['left', { held: 1 }, 'open', 'idle', 'released', 2],
  ),
  {
    name: 'a slot is freed when its response ends and not before',
    scenario: working(GATE),
    needs: 'waiting',
    async run(client) {
      const first = client.ask('/x')
      await client.tell('reached')
      equal((await client.ask('/x')).status, 429)
      await client.tell('open')
      equal((await first).body, 'ab')
      equal(await client.held(), 0)
      equal((await client.ask('/x')).status, 200)
      equal(await client.used(), 10)
    },
  },
  {
    name: 'a refusal for lack of a slot says so, with a retry time',
    scenario: {
      ...working({ waits: { for: 'gate' } }),
      settings: { standardHeaders: 'draft-10', locale: 'en' },
    },
    needs: 'waiting',
    async run(client) {
      const first = client.ask('/x')
      await client.tell('reached')
      const { status, headers, body } = await client.ask('/x')
      await client.tell('open')
      await first
      equal(status, 429)
      equal(headers['retry-after'], '1')
      deepEqual(
        [headers.ratelimit, headers['ratelimit-policy']],
        ['"personal-write-running";r=0', '"personal-write-running";q=1;qu="concurrent-requests"'],
      )
      const { retryAfterSeconds, msg, quota } = JSON.parse(body ?? '') as {
        retryAfterSeconds: number
        msg: string
        quota: Record<string, unknown>
      }
      equal(retryAfterSeconds, 1)
      match(msg, /^Reached Personal Limit of 1 Write requests at once\. You may continue when one of them has ended\./)
      const { window, limit, used, requested, resetAt } = quota
      deepEqual(
        { window, limit, used, requested, resetAt },
        { window: 'personal-write-running', limit: 1, used: 1, requested: 1, resetAt: '2026-08-06T14:06:27.000Z' },
      )
    },
  },
  ...(['a failure frees its slot and gives its tokens back', 'an error frees its slot'] as const).map((name) =>
    plays(name, working(name.startsWith('an error') ? { fails: 'now' } : { status: 500, body: 'no' }), [
      { status: 500, held: 0 },
      { status: 500, held: 0 },
      0,
    ]),
  ),
  {
    name: 'a stream that breaks frees its slot',
    scenario: working({ ...STREAM, fails: 'middle' }),
    needs: 'broken-streams',
    async run(client) {
      await client.ask('/x').catch(() => undefined)
      await playSteps(client, ['idle', 'released'])
    },
  },
  leaves(
    'a caller who disconnects before the head frees the slot and stays charged',
    working({ waits: { for: 'gone' } }),
    ['idle', 'released', 5],
  ),
  leaves('a caller who disconnects in the middle of a stream frees the slot', working(GONE), ['idle', 'released', 5]),
  leaves('a caller who disconnects frees the slot, whatever the handler does next', working(GATE), [
    'released',
    'open',
    'idle',
    5,
  ]),
  leaves(
    'a caller who disconnects before the head frees the slot, whatever the handler does next',
    working({ waits: { for: 'gate' } }),
    ['released', 'open', 'idle', 5],
  ),
  {
    name: "a caller who disconnects before a pipelined request's turn frees its slot and stays charged",
    scenario: PIPELINED,
    needs: 'pipelined-hang-ups',
    async run(client) {
      const socket = await sendPipelined(client)
      await untilWorked(client, 2)
      equal(await client.held(), 1)
      socket.destroy()
      await playSteps(client, ['released', 5, 'open', 'idle', 5])
    },
  },
  plays(
    'a request has the limits of its plan',
    route('save', {}, { plan: 'pro' }),
    [200, 200, 200, 200, 429].map((status) => ({ status })),
  ),
  plays(
    'a shadowed limit refuses nobody and appears in no response',
    { ...route('save', {}), settings: { standardHeaders: 'draft-10' } },
    ['shadow', UNSHADOWED, UNSHADOWED, UNSHADOWED, 15],
  ),
])

/** Requests that hold tokens or a slot until their response ends. */
export const HTTP_HOLD_CASES: readonly HttpCase[] = [
  ...OF_BOTH_STORES,
  {
    name: 'a caller of a pipelined request who disconnects before the store answers frees its slot and stays charged',
    scenario: { ...PIPELINED, store: 'later' },
    needs: 'pipelined-hang-ups',
    async run(client) {
      await client.tell('store?takes=held')
      const socket = await sendPipelined(client)
      await client.tell('reached')
      socket.destroy()
      await playSteps(client, ['left', 'let-go'])
      await untilWorked(client, 2)
      await playSteps(client, ['released', 5, 'open', 'idle', 5])
    },
  },
  {
    name: 'settle: end waits for a commit that is rejected as too much and settles by the outcome',
    scenario: { ...route('save', { settles: { commit: 6 } }, END), store: 'later' },
    needs: 'waiting',
    async run(client) {
      await client.tell('store?settles=held')
      const asked = client.ask('/x')
      await client.tell('settling')
      await client.tell('idle')
      await client.tell('let-go')
      equal((await asked).status, 200)
      await playSteps(client, [5, { held: 0 }])
    },
  },
]
