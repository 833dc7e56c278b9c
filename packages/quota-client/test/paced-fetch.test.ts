import { getEventListeners } from 'node:events'
import { createQuota, definePolicy } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'
import { describe, expect, it } from 'vitest'
import { type OutgoingRequest, type PacedFetchOptions, pacedFetch, QuotaWaitError } from '../src/index.ts'
import { generations, server } from './support/servers.ts'
import { Timeline } from './support/timeline.ts'

const URL_OF_API = 'https://api.example/things'
const json = { 'content-type': 'application/json' }
const LONG = { maxWaitMs: 10 * 60_000 }
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** Answers one after the other, and what was asked. */
function script(...answers: readonly (readonly [number, Record<string, string>?])[]) {
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const [status, headers] = answers[asked.length] ?? [200]
    asked.push(`${init?.method ?? 'GET'} ${String(input)}`)
    return new Response('body', { status, headers: headers ?? {} })
  }
  return { fetch, asked }
}

describe('one pacedFetch client', () => {
  it.each(Object.entries(generations))(
    'a lone client is never refused by a server that sends %s',
    async (_, fields) => {
      const timeline = new Timeline()
      const { fetch, seen } = server(timeline, fields)
      const paced = pacedFetch(fetch, { ...LONG, clock: timeline, random: () => 0 })
      const statuses = await timeline.finish(Promise.all(times(45, async () => (await paced(URL_OF_API)).status)))
      expect(statuses).toEqual(times(45, () => 200))
      expect(seen.refused).toBe(0)
      expect(seen.taken.filter(Boolean).slice(0, 4)).toEqual([10, 10, 10, 10])
    },
  )

  it.each([1, 7])(
    'a lone client isn’t refused by this library’s server after the first response, at %i tokens a request',
    async (cost) => {
      const timeline = new Timeline()
      const policy = definePolicy({
        limits: { perMinute: { by: 'user', limit: 40, per: '1m' } },
        operations: { request: { cost } },
      })
      const quota = createQuota({ policy, clock: { now: () => Date.UTC(2026, 0, 1) + Math.floor(timeline.now()) } })
      const handler = quotaFetch({ quota, subject: () => 'u', standardHeaders: 'draft-11' }).operation('request')(
        () => {
          return new Response('ok')
        },
      )
      const statuses: number[] = []
      const send: typeof globalThis.fetch = async (input, init) => {
        const response = await handler(new Request(input, init))
        statuses.push(response.status)
        return response
      }
      const paced = pacedFetch(send, { ...LONG, clock: timeline })
      const work = async () => {
        for (let sent = 0; sent < 90 / cost; sent++) await paced(URL_OF_API)
      }
      await timeline.finish(work())
      expect(statuses.every((status) => status === 200)).toBe(true)
      expect(timeline.now()).toBeGreaterThanOrEqual(60_000)
    },
  )
})

it('eight clients on one key use nine tenths of the limit, and at most 2 % of their calls are refused', async () => {
  const timeline = new Timeline()
  const { fetch, seen } = server(timeline, generations['drafts 8 to 11']!, 200)
  let sent = 0
  const counted: typeof fetch = (...request) => {
    sent++
    return fetch(...request)
  }
  const work = async () => {
    const paced = pacedFetch(counted, { ...LONG, clock: timeline, random: () => 0.5 })
    while (timeline.now() < 5 * 60_000) await paced(URL_OF_API)
  }
  await timeline.finish(Promise.all(times(8, work)))
  expect(Math.min(...seen.taken.slice(0, 5))).toBeGreaterThanOrEqual(180)
  expect(seen.refused / sent).toBeLessThanOrEqual(0.02)
})

describe('waits of pacedFetch', () => {
  const empty = { RateLimit: '"a";r=0;t=30' }

  it('a wait longer than maxWaitMs isn’t started, whatever the server says', async () => {
    const timeline = new Timeline()
    const { fetch, asked } = script([200, empty])
    const paced = pacedFetch(fetch, { maxWaitMs: 29_999, clock: timeline })
    await paced(URL_OF_API)
    await expect(paced(URL_OF_API)).rejects.toThrow(QuotaWaitError)
    expect(asked).toHaveLength(1)
    expect(timeline.waiting).toBe(0)
  })

  it.each([
    ['limits', 200, (seconds: number) => ({ RateLimit: `"a";r=0;t=${seconds}` })],
    ['a refusal', 429, (seconds: number) => ({ 'Retry-After': String(seconds) })],
  ])('a wait after %s lasts up to 90 seconds by default', async (_, status, headers) => {
    const timeline = new Timeline()
    const short = script([status, headers(90)])
    const paced = pacedFetch(short.fetch, { clock: timeline, random: () => 0 })
    await timeline.finish(paced(URL_OF_API))
    await timeline.finish(paced(URL_OF_API))
    expect(timeline.now()).toBe(90_000)
    const long = script([status, headers(91)])
    const tooLong = pacedFetch(long.fetch, { clock: timeline, random: () => 0 })
    expect((await timeline.finish(tooLong(URL_OF_API))).status).toBe(status)
    await expect(timeline.finish(tooLong(URL_OF_API))).rejects.toThrow(QuotaWaitError)
    expect([long.asked.length, timeline.now()]).toEqual([1, 90_000])
  })

  it('an aborted signal ends a wait immediately and leaves no timer', async () => {
    const timeline = new Timeline()
    const { fetch, asked } = script([200, empty])
    const paced = pacedFetch(fetch, { clock: timeline })
    await paced(URL_OF_API)
    const caller = new AbortController()
    const call = paced(URL_OF_API, { signal: caller.signal })
    expect(timeline.waiting).toBe(1)
    caller.abort(new Error('gone'))
    await expect(call).rejects.toThrow('gone')
    expect([timeline.waiting, timeline.now(), asked.length]).toEqual([0, 0, 1])
  })

  it('waits are reported to a listener', async () => {
    const timeline = new Timeline()
    const waits: unknown[] = []
    const options = { clock: timeline, random: () => 0, onWait: (wait: unknown) => void waits.push(wait) }
    const paced = pacedFetch(script([200, empty]).fetch, options)
    await paced(URL_OF_API)
    await timeline.finish(paced(URL_OF_API))
    expect(waits).toEqual([{ url: URL_OF_API, ms: 30_000 }])
  })

  it('waits are per key: another credential or origin doesn’t wait', async () => {
    const timeline = new Timeline()
    const { fetch, asked } = script([200, empty])
    const paced = pacedFetch(fetch, { clock: timeline })
    await paced(URL_OF_API, { headers: { Authorization: 'Bearer a' } })
    await paced(URL_OF_API, { headers: { Authorization: 'Bearer b' } })
    await paced('https://other.example/', { headers: { Authorization: 'Bearer a' } })
    expect([asked.length, timeline.now()]).toEqual([3, 0])
  })

  it('waits are per model of a JSON body, also of a Request, and not per text', async () => {
    const timeline = new Timeline()
    const { fetch, asked } = script([200, empty])
    const paced = pacedFetch(fetch, { clock: timeline, random: () => 0 })
    const post = (body: string) => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } })
    const ofModel = (model: unknown, text: string) => post(JSON.stringify({ messages: [text], model }))
    await paced(URL_OF_API, ofModel('large', 'one'))
    await paced(URL_OF_API, ofModel('small', 'two'))
    const other = new Request(URL_OF_API, ofModel('tiny', 'three'))
    await paced(other)
    expect(await other.text()).toContain('three')
    expect([asked.length, timeline.now()]).toEqual([3, 0])
    await timeline.finish(paced(new Request(URL_OF_API, ofModel('large', 'four'))))
    expect(timeline.now()).toBe(30_000)
    // Other bodies have the pace of their credential.
    for (const body of ['{"model":', '["model"]', '"model"', ofModel(7, '').body]) await paced(URL_OF_API, post(body))
    expect(timeline.now()).toBe(30_000)
  })

  it('a key sees the text of a body', async () => {
    const seen: (string | undefined)[] = []
    const key = ({ body }: OutgoingRequest) => {
      seen.push(body)
      return ''
    }
    const paced = pacedFetch(script().fetch, { key, clock: new Timeline() })
    const send = (body: NonNullable<RequestInit['body']>) => paced(URL_OF_API, { method: 'POST', body })
    await send('text')
    await send(new URLSearchParams({ a: 'b' }))
    await send(new Uint8Array([1]))
    await paced(URL_OF_API)
    await paced(new Request(URL_OF_API, { method: 'POST', body: 'text' }))
    await paced(new Request(URL_OF_API, { method: 'POST', body: new Uint8Array([1]) }))
    expect(seen).toEqual(['text', 'a=b', undefined, undefined, 'text', undefined])
  })

  it('ten calls to an API of five a minute need no option', async () => {
    const timeline = new Timeline()
    const { fetch, seen } = server(timeline, generations['drafts 8 to 11']!, 5)
    const paced = pacedFetch(fetch, { clock: timeline, random: () => 1 })
    const statuses = await timeline.finish(Promise.all(times(10, async () => (await paced(URL_OF_API)).status)))
    expect(statuses).toEqual(times(10, () => 200))
    expect(seen.refused).toBe(0)
  })

  it('fifty waiting calls listen once to their common signal', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    process.on('warning', onWarning)
    const timeline = new Timeline()
    const paced = pacedFetch(script([200, empty]).fetch, { clock: timeline })
    await paced(URL_OF_API)
    const caller = new AbortController()
    const calls = times(50, () => paced(URL_OF_API, { signal: caller.signal }))
    await new Promise(setImmediate)
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(1)
    caller.abort(new Error('gone'))
    const ends = await Promise.allSettled(calls)
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect([timeline.waiting, getEventListeners(caller.signal, 'abort').length]).toEqual([0, 0])
  })

  it('the wait for a missing first response ends after maxWaitMs', async () => {
    const timeline = new Timeline()
    let asked = 0
    const never: typeof fetch = () => {
      asked++
      return asked === 1 ? new Promise(() => undefined) : Promise.resolve(new Response())
    }
    const paced = pacedFetch(never, { maxWaitMs: 5000, clock: timeline })
    void paced(URL_OF_API)
    await timeline.finish(paced(URL_OF_API))
    expect([asked, timeline.now()]).toEqual([2, 5000])
  })

  it('waiting calls continue when the first request fails', async () => {
    const timeline = new Timeline()
    let asked = 0
    const failing: typeof fetch = () => {
      asked++
      return asked === 1 ? Promise.reject(new Error('reset')) : Promise.resolve(new Response())
    }
    const paced = pacedFetch(failing, { clock: timeline })
    const ends = await timeline.finish(Promise.allSettled([paced(URL_OF_API), paced(URL_OF_API)]))
    expect([ends.map(({ status }) => status), timeline.now()]).toEqual([['rejected', 'fulfilled'], 0])
  })
})

describe('pacedFetch after refusals', () => {
  const refused = [429, { 'Retry-After': '7' }] as const

  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('%s is retried at its time and not earlier', async (method) => {
    const timeline = new Timeline()
    const { fetch, asked } = script(refused)
    const response = await timeline.finish(
      pacedFetch(fetch, { clock: timeline, random: () => 1 })(URL_OF_API, { method }),
    )
    expect([response.status, asked.length, timeline.now()]).toEqual([200, 2, 7700])
  })

  it.each(['POST', 'PATCH'])('%s isn’t retried, and the next call waits', async (method) => {
    const timeline = new Timeline()
    const { fetch, asked } = script(refused)
    const paced = pacedFetch(fetch, { clock: timeline, random: () => 0 })
    expect((await paced(URL_OF_API, { method })).status).toBe(429)
    expect([asked.length, timeline.now()]).toEqual([1, 0])
    await timeline.finish(paced(URL_OF_API, { method }))
    expect([asked.length, timeline.now()]).toEqual([2, 7000])
  })

  it('a POST is retried under an id unless its body is a stream', async () => {
    const timeline = new Timeline()
    const post = { method: 'POST', headers: { 'Idempotency-Key': 'a1' } }
    const withText = script(refused)
    await timeline.finish(pacedFetch(withText.fetch, { clock: timeline })(URL_OF_API, { ...post, body: 'text' }))
    expect(withText.asked).toHaveLength(2)
    const withStream = script(refused)
    await pacedFetch(withStream.fetch, { clock: timeline })(URL_OF_API, { ...post, body: new Blob(['x']).stream() })
    expect(withStream.asked).toHaveLength(1)
  })

  it('a refusal is returned unchanged if the wait is too long or the retries are used up', async () => {
    const timeline = new Timeline()
    const short = script(refused)
    expect((await pacedFetch(short.fetch, { maxWaitMs: 6999, clock: timeline })(URL_OF_API)).status).toBe(429)
    const always = script(refused, refused, refused, refused)
    const response = await timeline.finish(pacedFetch(always.fetch, { clock: timeline })(URL_OF_API))
    expect([response.status, await response.text(), always.asked.length]).toEqual([429, 'body', 3])
  })

  it('a refusal without a time waits one second, then two', async () => {
    const timeline = new Timeline()
    const { fetch } = script([429], [429])
    await timeline.finish(pacedFetch(fetch, { clock: timeline, random: () => 0 })(URL_OF_API))
    expect(timeline.now()).toBe(3000)
  })

  it('a refusal with an impossible time waits one second and delays no later call', async () => {
    const timeline = new Timeline()
    const { fetch, asked } = script([429, { 'Retry-After': '1e999' }])
    const paced = pacedFetch(fetch, { clock: timeline, random: () => 0 })
    await timeline.finish(paced(URL_OF_API))
    await timeline.finish(paced(URL_OF_API))
    expect([asked.length, timeline.now()]).toEqual([3, 1000])
  })

  it.each([
    ['x-should-retry: false', { 'x-should-retry': 'false' }, 'try later'],
    ['code: insufficient_quota', json, '{"error":{"code":"insufficient_quota"}}'],
    ['type: insufficient_quota', json, '{"error":{"type":"insufficient_quota","code":null}}'],
    ['retryable: false', json, '{"error":"quota_exceeded","retryable":false}'],
    ['retryable: false in a problem', { 'content-type': 'application/problem+json' }, '{"retryable":false}'],
    ['retryable: false in an error', json, '{"error":{"retryable":false}}'],
  ])('a refusal that says %s is returned at once', async (_, headers, body) => {
    const timeline = new Timeline()
    let sent = 0
    const paced = pacedFetch(
      async () => {
        sent++
        return new Response(body, { status: 429, headers })
      },
      { clock: timeline },
    )
    const response = await timeline.finish(paced(URL_OF_API))
    expect([response.status, await response.text(), sent, timeline.now()]).toEqual([429, body, 1, 0])
  })

  it('x-should-retry: false holds for one request alone: later calls wait', async () => {
    const timeline = new Timeline()
    const { fetch, asked } = script([429, { 'x-should-retry': 'false', 'Retry-After': '7' }])
    const paced = pacedFetch(fetch, { clock: timeline, random: () => 0 })
    expect((await timeline.finish(paced(URL_OF_API))).status).toBe(429)
    expect([asked.length, timeline.now()]).toEqual([1, 0])
    expect((await timeline.finish(paced(URL_OF_API))).status).toBe(200)
    expect([asked.length, timeline.now()]).toEqual([2, 7000])
  })

  it('a refusal that waiting doesn’t help delays no other call', async () => {
    const timeline = new Timeline()
    const answers = [new Response('{"retryable":false}', { status: 429, headers: json }), new Response('ok')]
    const paced = pacedFetch(async () => answers.shift() ?? new Response(), { clock: timeline })
    await timeline.finish(paced(URL_OF_API))
    expect(await (await timeline.finish(paced(URL_OF_API))).text()).toBe('ok')
    expect(timeline.now()).toBe(0)
  })

  it.each([
    ['says that waiting helps', '{"retryable":true}'],
    ['is too long', JSON.stringify({ text: 'x'.repeat(70_000), retryable: false })],
    ['isn’t an object', '[false]'],
    ['is broken', '{"retryable":fal'],
  ])('a refusal whose body %s is repeated', async (_, body) => {
    const timeline = new Timeline()
    const answers = [new Response(body, { status: 429, headers: json }), new Response('ok')]
    const paced = pacedFetch(async () => answers.shift() ?? new Response(), { clock: timeline })
    expect(await (await timeline.finish(paced(URL_OF_API))).text()).toBe('ok')
  })

  it('a 403 with nothing remaining is a refusal, and other failures aren’t', async () => {
    const timeline = new Timeline()
    const exhausted = script([403, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '3' }])
    await timeline.finish(pacedFetch(exhausted.fetch, { clock: timeline })(URL_OF_API))
    expect(exhausted.asked).toHaveLength(2)
    for (const status of [403, 500, 503]) {
      const failing = script([status])
      expect((await pacedFetch(failing.fetch, { clock: timeline })(URL_OF_API)).status).toBe(status)
    }
  })
})

it.each([
  [{ maxWaitMs: -1 }, 'maxWaitMs must be a whole number from 0 to 2147483647; it is -1'],
  [{ maxWaitMs: Number.POSITIVE_INFINITY }, 'it is Infinity'],
  [{ retries: 11 }, 'retries must be a whole number from 0 to 10; it is 11'],
  [{ retries: '2' }, 'it is "2"'],
  [{ maxWait: 5 }, 'unknown option maxWait; known: maxWaitMs, retries'],
  [{ key: 'origin' }, 'key must be a function'],
])('pacedFetch() names the invalid option in %j', (options, message) => {
  expect(() => pacedFetch(fetch, options as PacedFetchOptions)).toThrow(message)
})
