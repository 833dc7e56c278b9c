import { equal } from 'node:assert/strict'
import { ANONYMOUS, type HttpRow, type HttpRows, type HttpStep, saving, USED_UP } from './http-case.ts'
import type { HttpReply, HttpRoute, HttpSettings } from './scenario.ts'

const HOUR_LATER = '2026-08-06T15:06:26.000Z'

function refusing(settings: HttpSettings = {}): HttpRow['on'] {
  return { ...saving({ body: 'done' }), settings }
}

/** A refusal in the language that a caller accepts. */
function inLanguage(beginning: string, ...accepted: readonly (string | undefined)[]): readonly HttpStep[] {
  const body = new RegExp(`"msg":"${beginning}`)
  return accepted.map((language) => ({ status: 429, body, headers: language ? { 'accept-language': language } : {} }))
}

/** Responses to refused requests. */
const REFUSALS: HttpRows = {
  'a refusal is a 429 with body and fields, reaches no handler, and charges nothing': {
    on: refusing(),
    play: [
      ...USED_UP,
      {
        status: 429,
        worked: 2,
        fields: {
          'retry-after': '3600',
          'x-quota-reset': HOUR_LATER,
          'cache-control': 'no-store',
          'content-type': /^application\/json/,
          ratelimit: undefined,
        },
        json: {
          error: 'quota_exceeded',
          msg: 'Reached Personal 1-Hour Quota Limit for Write requests. You may continue after 2026-08-06 23:06:26 Beijing Time (UTC+8). For a higher quota, ask at the support forum.',
          retryAfterSeconds: 3600,
          quota: {
            scope: 'Personal',
            category: 'write',
            window: '1h',
            limit: 10,
            used: 10,
            requested: 5,
            resetAt: HOUR_LATER,
            retryAtBeijing: '2026-08-06 23:06:26',
            timeZone: 'Asia/Shanghai',
            retryAt: HOUR_LATER,
            windowLabel: '1-Hour',
          },
        },
      },
      10,
    ],
  },
  'a refused HEAD has the fields and no body': {
    on: refusing(),
    play: [...USED_UP, { method: 'HEAD', status: 429, fields: { 'retry-after': '3600' }, body: '' }],
  },
  '429 and 401 can be problem details': {
    on: refusing({ problemDetails: true }),
    play: [
      ...USED_UP,
      {
        status: 429,
        fields: { 'content-type': /^application\/problem\+json/ },
        members: {
          type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
          status: 429,
          'violated-policies': ['personal-write-1h'],
          retryAfterSeconds: 3600,
        },
        body: /"detail":"Reached Personal 1-Hour/,
      },
      {
        status: 401,
        headers: ANONYMOUS,
        fields: { 'content-type': /^application\/problem\+json/ },
        json: { type: 'about:blank', title: 'Unauthorized', status: 401, detail: 'Authentication required.' },
      },
    ],
  },
  'a refusal uses the language that the caller accepts': {
    on: refusing(),
    play: [
      ...USED_UP,
      ...inLanguage('Reached', undefined, '*', 'fr', 'en-GB,en;q=0.9,zh;q=0.8'),
      ...inLanguage('已达到', 'zh', 'zh-Hans-CN,en;q=0.5', 'en;q=0.5, zh-Hans;q=0.8'),
    ],
  },
  "a refusal uses the application's fixed language": {
    on: refusing({ locale: 'zh-CN' }),
    play: [...USED_UP, ...inLanguage('已达到', 'en')],
  },
  "a refusal of a cost above the limit says that waiting won't help": {
    on: { routes: [{ path: '/x', operation: 'huge', reply: {} }] },
    play: [{ status: 429, body: /"msg":"[^"]*waiting will not help/ }],
  },
  "a request without a subject gets 401 with a challenge and isn't charged": {
    on: refusing(),
    play: [
      {
        status: 401,
        headers: ANONYMOUS,
        fields: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' },
        json: { error: 'unauthorized', msg: 'Authentication required.' },
        worked: 0,
      },
    ],
  },
  "a request without a subject gets the application's challenge and text": {
    on: refusing({ wwwAuthenticate: 'Basic realm="api"', messages: { en: { unauthorized: 'Who are you?' } } }),
    play: [
      { status: 401, headers: ANONYMOUS, fields: { 'www-authenticate': 'Basic realm="api"' }, body: /"Who are you\?"/ },
    ],
  },
  "a request without a subject isn't metered with anonymous: skip": {
    on: saving({}, { anonymous: 'skip' }),
    play: [{ status: 200, headers: ANONYMOUS, worked: 1 }],
  },
  'a request without a subject is metered by address with anonymous: ip': {
    on: saving({}, { anonymous: 'ip' }),
    needs: 'address',
    play: [{ status: 200, headers: ANONYMOUS, used: { 'ip:127.0.0.1': 5 } }],
  },
}

const settings = { standardHeaders: 'draft-10' } as const
const OLDER = { legacyHeaders: true } as const

/** One hour after the suite's clock, in seconds since the epoch. */
const RESET = String(Date.UTC(2026, 7, 6, 15, 6, 26) / 1000)
const POLICY = '"personal-write-1h";q=10;qu="tokens";w=3600'
const REFUSED = { ratelimit: '"personal-write-1h";r=0;t=3600', 'ratelimit-policy': POLICY }

/** The fields of all windows in the suite's policy. */
const ALL =
  /^"personal-write-1h";q=10;qu="tokens";w=3600, "personal-write-5h";q=1000;qu="tokens";w=18000, .*"site-write-1d";q=1000;qu="tokens";w=86400$/

function older(limit?: string, remaining?: string, reset?: string): Record<string, string | undefined> {
  return { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset }
}

/** Responses, and how many tokens their fields say are left. */
const LEFT: Readonly<Record<string, readonly [reply: HttpReply, remaining: number]>> = {
  'a success': [{}, 5],
  'a stream': [{ chunks: ['a', 'b'] }, 5],
  'a failure, without the tokens that go back': [{ status: 400 }, 10],
  'a part that was given back': [{ settles: { commit: 2 } }, 8],
  'an answer with fields of its own': [{ headers: { 'x-a': 'b' }, body: 'x' }, 5],
}

const OF_RESPONSES = Object.entries(LEFT).flatMap(([name, [reply, remaining]]): [string, HttpRow][] => {
  const status = reply.status ?? 200
  const standard = { ratelimit: `"personal-write-1h";r=${remaining};t=3600`, 'ratelimit-policy': POLICY }
  const legacy = { ratelimit: undefined, 'retry-after': undefined, ...older('10', String(remaining), RESET) }
  return [
    [`RateLimit fields of ${name}`, { on: { ...saving(reply), settings }, play: [{ status, fields: standard }] }],
    [
      `X-RateLimit fields of ${name}`,
      { on: { ...saving(reply), settings: OLDER }, play: [{ status, fields: legacy }] },
    ],
  ]
})

/** A route that both engines meter. */
const TWO_ENGINES: readonly HttpRoute[] = [
  { path: '/x', operation: 'save', second: { operation: 'save', settings: { cost: 3 } }, reply: {} },
]

/** The draft's fields, with the numbers at the time of the head. */
const FIELDS: HttpRows = {
  ...Object.fromEntries(OF_RESPONSES),
  'a free operation has no RateLimit fields': {
    on: { routes: [{ path: '/x', operation: 'free', reply: {} }], settings },
    play: [{ status: 200, fields: { ratelimit: undefined } }],
  },
  'RateLimit fields of a 429 name the refusing limit': {
    on: { ...saving({}), settings: { standardHeaders: 'draft-11' } },
    play: [...USED_UP, { status: 429, fields: REFUSED }],
  },
  'RateLimit fields can list every window, and on a 429 the refusing ones': {
    on: { ...saving({}), settings: { ...settings, fields: 'all' } },
    play: [
      {
        status: 200,
        fields: {
          ratelimit: /^"personal-write-1h";r=5;t=3600, "personal-write-5h";r=995;.*, "site-write-1d";r=995;/,
          'ratelimit-policy': ALL,
        },
      },
      { status: 200 },
      { status: 429, fields: { ...REFUSED, 'ratelimit-policy': ALL } },
    ],
  },
  'a caller that waits as the fields say is never refused': {
    on: { ...saving({}), settings },
    async play(client) {
      let admitted = 0
      for (let left = 10; left >= 5; admitted++) {
        const { status, headers } = await client.ask('/x')
        equal(status, 200)
        // Callers know the cost of a request, so `r` shows them whether another one fits.
        left = Number(/;r=(\d+)/.exec(headers.ratelimit ?? '')?.[1])
      }
      equal(admitted, 2)
      equal((await client.ask('/x')).status, 429)
    },
  },
  'X-RateLimit fields are sent on request only': {
    on: { ...saving({}), settings },
    play: [{ status: 200, fields: older() }],
  },
  'X-RateLimit fields of a 429 agree with Retry-After': {
    on: { ...saving({}), settings: OLDER },
    play: [
      ...USED_UP,
      { status: 429, fields: { ratelimit: undefined, 'retry-after': '3600', ...older('10', '0', RESET) } },
    ],
  },
  'existing X-RateLimit fields of a response are kept': {
    on: { ...saving({ headers: { 'x-ratelimit-limit': '7', 'x-ratelimit-remaining': '3' } }), settings: OLDER },
    play: [{ status: 200, fields: older('7', '3') }],
  },
  'the second of two engines sets the X-RateLimit fields': {
    on: { routes: TWO_ENGINES, settings: OLDER },
    play: [{ status: 200, fields: older('10', '7', RESET) }],
  },
  'RateLimit fields of two engines are joined to one list': {
    on: { routes: TWO_ENGINES, settings },
    play: [{ status: 200, fields: { ratelimit: /^"personal-write-1h";r=7;[^"]*"personal-write-1h";r=5/ } }],
  },
}

/** What callers are sent. */
export const ANSWER_ROWS: HttpRows = { ...REFUSALS, ...FIELDS }
