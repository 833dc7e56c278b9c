import { equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { type HttpRow, type HttpRows, type HttpStep, saving, USED_UP } from './http-case.ts'
import type { HttpRouteSettings } from './scenario.ts'

type On = HttpRow['on']

const END = { settle: 'end' } as const
const STREAM = { chunks: ['a', 'b'] } as const

const LATER: On = {
  store: 'later',
  routes: [
    ...saving({ body: 'done' }).routes,
    { path: '/bad', operation: 'save', reply: { status: 400, body: 'bad' } },
  ],
}

/** A response that only completes once the store has settled. Other requests complete in the meantime. */
function heldBack(on: On, path: string, response: { status: number; body: string }, tokens: number): HttpRow {
  const others: HttpStep[] = [0, 1, 2].map(() => ({ path: '/free', status: 200 }))
  return {
    on: { ...on, store: 'later' },
    needs: 'waiting',
    play: [
      'store?settles=held',
      { path, starts: true },
      ...others,
      { isWaiting: true },
      'let-go',
      { response },
      tokens,
    ],
  }
}

/** Stores that are slow, unavailable, and available again. */
const STORES: HttpRows = {
  'a store that is away gives 503 and never 429 until it is back': {
    on: LATER,
    play: [
      'store?takes=away',
      {
        status: 503,
        headers: { 'accept-language': 'zh-CN' },
        fields: { 'retry-after': '5', 'cache-control': 'no-store' },
        json: { error: 'quota_unavailable', msg: '配额服务暂时不可用，请稍后重试。', retryAfterSeconds: 5 },
        worked: 0,
      },
      'store?takes=here',
      { status: 200 },
    ],
  },
  "a request waits for a slow store, and its handler doesn't run before": {
    on: LATER,
    needs: 'waiting',
    play: [
      'store?takes=held',
      { starts: true },
      { path: '/free', status: 200, worked: 1 },
      'let-go',
      { response: { status: 200 } },
      5,
    ],
  },
  'a failure is held back until its tokens are back': heldBack(LATER, '/bad', { status: 400, body: 'bad' }, 0),
  'a failed stream sends nothing before its tokens are back': {
    on: { ...saving({ status: 502, ...STREAM, waits: { for: 'gate', in: 'middle' } }), store: 'later' },
    needs: ['waiting', 'http1'],
    async play(client) {
      await client.tell('store?settles=held')
      const socket = await client.send('/x', ['Connection: close'])
      let arrived = ''
      socket.on('data', (data) => (arrived += String(data)))
      for (let i = 0; i < 3; i++) equal((await client.ask('/free')).status, 200)
      equal(arrived, '')
      const ended = once(socket, 'end')
      await client.tell('let-go')
      await client.tell('open')
      await ended
      match(arrived, /^HTTP\/1.1 502/)
      equal(await client.used(), 0)
    },
  },
  "a success doesn't wait for the store": { on: LATER, play: ['store?settles=held', { status: 200 }] },
  'a failure is sent and stays charged when the store is lost, and the error is logged': {
    on: LATER,
    play: ['store?settles=away', { path: '/bad', status: 400, errors: ['quota_unavailable'] }, 'store?settles=here', 5],
  },
  'a stream that gives tokens back is held at its end until the store has settled': heldBack(
    saving({ ...STREAM, settles: { commit: 2 }, settlesIn: 'middle' }, END),
    '/x',
    { status: 200, body: 'ab' },
    2,
  ),
}

const TIMED_OUT = { response: { status: 503, body: 'too slow' } } as const

/** Something answers a request while the store decides. Requests of others go on. */
function endsEarly(on: On, before: readonly HttpStep[], tokens: number): HttpRow {
  const until = ['used', tokens] as const
  return {
    on: { ...on, store: 'later', timesOut: true },
    needs: ['time-outs', 'waiting'],
    play: [
      ...[...before, 'store?takes=held', { starts: true }, 'taking', 'time-out', TIMED_OUT, 'let-go'],
      // Requests on other connections complete meanwhile, so that the decision has come and gone.
      { path: '/free', counts: { 200: 3 } },
      ...[{ until }, tokens, 'released', { errors: [] }],
    ],
  }
}

/** Something answers a request that waits in the queue, for longer than the limit's window. */
function leavesQueue(settings: HttpRouteSettings): HttpRow {
  return {
    on: { ...saving({ body: 'done' }, { maxWaitMs: 60_000_000, ...settings }), timesOut: true },
    needs: ['time-outs', 'waiting'],
    play: [
      ...[...USED_UP, { starts: true }, { until: ['waiting', 1] as const }, 'time-out', TIMED_OUT],
      ...[{ until: ['waiting', 0] as const }, 'reset', 'released', { errors: [] }, 0],
    ],
  }
}

/** Responses that end before their request was decided, as time-outs do. */
const ENDED: HttpRows = {
  'a request that was answered while the store decided is given back': endsEarly(saving({}), [], 0),
  'a request that was answered while the store decided holds nothing with settle: end': endsEarly(
    saving({}, END),
    [],
    0,
  ),
  'a refusal of a request that was answered meanwhile sends nothing': endsEarly(saving({}), USED_UP, 10),
  'a refusal of a request that was answered meanwhile calls no handler': endsEarly(
    { ...saving({}), ownAnswers: { handler: 'throws' } },
    USED_UP,
    10,
  ),
  'a request that was answered while it waited leaves the queue and is never charged': leavesQueue({}),
  'a request that was answered while it waited leaves the queue with settle: end': leavesQueue(END),
  'a function of the application that rejects after a time-out changes nothing': {
    on: { ...saving({}), timesOut: true },
    needs: ['time-outs', 'waiting'],
    play: [
      { starts: true, headers: { 'x-user': 'rejects at the time-out' } },
      { until: ['asked', 1] },
      ...['time-out', TIMED_OUT, { path: '/free', counts: { 200: 3 } }, 0],
    ],
  },
}

/** Requests that end before, while or after their store answers. */
export const STORE_ROWS: HttpRows = { ...STORES, ...ENDED }
