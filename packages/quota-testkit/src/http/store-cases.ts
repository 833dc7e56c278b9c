import { deepEqual, equal, match } from 'node:assert/strict'
import type { HttpClient } from './client.ts'
import { type HttpCase, plays } from './http-case.ts'
import { saving } from './outcome-cases.ts'
import type { HttpScenario } from './scenario.ts'

const scenario: HttpScenario = {
  store: 'later',
  routes: [
    ...saving({ body: 'done' }).routes,
    { path: '/bad', operation: 'save', reply: { status: 400, body: 'bad' } },
  ],
}

/** A stream that commits its actual cost in the middle. */
const ENDING: HttpScenario = {
  store: 'later',
  routes: saving({ chunks: ['a', 'b'], settles: { commit: 2 }, settlesIn: 'middle' }, { settle: 'end' }).routes,
}

/** Makes a case where the response only completes once the store has settled. */
function heldBack(
  name: string,
  of: HttpScenario,
  path: string,
  due: readonly [number, string],
  tokens: number,
): HttpCase {
  const run = async (client: HttpClient): Promise<void> => {
    await client.tell('store?settles=held')
    let arrived = false
    const answer = client.ask(path).finally(() => {
      arrived = true
    })
    // Other requests complete in the meantime. The held one must not.
    for (let i = 0; i < 3; i++) equal((await client.ask('/free')).status, 200)
    equal(arrived, false)
    await client.tell('let-go')
    const { status, body } = await answer
    deepEqual([status, body], due)
    equal(await client.used(), tokens)
  }
  return { name, scenario: of, needs: 'waiting', run }
}

/** Stores that are slow, unavailable, and available again. */
export const HTTP_STORE_CASES: readonly HttpCase[] = [
  plays('a store that is away gives 503 and never 429 until it is back', scenario, [
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
  ]),
  {
    name: "a request waits for a slow store, and its handler doesn't run before",
    needs: 'waiting',
    scenario,
    async run(client) {
      await client.tell('store?takes=held')
      const answer = client.ask('/x')
      equal((await client.ask('/free')).status, 200)
      equal((await client.log()).worked, 1)
      await client.tell('let-go')
      equal((await answer).status, 200)
      equal(await client.used(), 5)
    },
  },
  heldBack('a failure is held back until its tokens are back', scenario, '/bad', [400, 'bad'], 0),
  {
    name: 'a failed stream sends nothing before its tokens are back',
    scenario: {
      store: 'later',
      routes: saving({ status: 502, chunks: ['a', 'b'], waits: { for: 'gate', in: 'middle' } }).routes,
    },
    needs: ['waiting', 'http1'],
    async run(client) {
      await client.tell('store?settles=held')
      const socket = await client.send('/x', ['Connection: close'])
      let arrived = ''
      const ended = new Promise((resolve) =>
        socket.on('data', (data) => (arrived += String(data))).once('end', resolve),
      )
      for (let i = 0; i < 3; i++) equal((await client.ask('/free')).status, 200)
      equal(arrived, '')
      await client.tell('let-go')
      await client.tell('open')
      await ended
      match(arrived, /^HTTP\/1.1 502/)
      equal(await client.used(), 0)
    },
  },
  plays("a success doesn't wait for the store", scenario, ['store?settles=held', { status: 200 }]),
  plays('a failure is sent and stays charged when the store is lost, and the error is logged', scenario, [
    'store?settles=away',
    { path: '/bad', status: 400, errors: ['quota_unavailable'] },
    'store?settles=here',
    5,
  ]),
  heldBack(
    'a stream that gives tokens back is held at its end until the store has settled',
    ENDING,
    '/x',
    [200, 'ab'],
    2,
  ),
]
