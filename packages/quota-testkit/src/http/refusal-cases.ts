import { deepEqual, equal, match } from 'node:assert/strict'
import type { HttpAnswer, HttpClient } from './client.ts'
import { ANONYMOUS, type AnyStoreCase, type HttpCase, plays, withBothStores } from './http-case.ts'
import { saving, USED_UP } from './outcome-cases.ts'
import type { HttpSettings } from './scenario.ts'

function json({ body }: HttpAnswer): { readonly msg?: string; readonly [key: string]: unknown } {
  return JSON.parse(body ?? 'null') as { msg?: string }
}

/** Uses up the limit of a user, then sends one more request. */
async function refused(client: HttpClient): Promise<HttpAnswer> {
  await client.ask('/x')
  await client.ask('/x')
  return client.ask('/x')
}

function refusing(settings: HttpSettings = {}): AnyStoreCase['scenario'] {
  return { ...saving({ body: 'done' }), settings }
}

const HOUR_LATER = '2026-08-06T15:06:26.000Z'

/** `Accept-Language` and the start of the expected text. */
const LANGUAGES: readonly (readonly [accepted: string | undefined, beginning: string])[] = [
  [undefined, 'Reached'],
  ['*', 'Reached'],
  ['fr', 'Reached'],
  ['zh', '已达到'],
  ['zh-Hans-CN,en;q=0.5', '已达到'],
  ['en;q=0.5, zh-Hans;q=0.8', '已达到'],
  ['en-GB,en;q=0.9,zh;q=0.8', 'Reached'],
]

/** Responses to refused requests. */
export const HTTP_REFUSAL_CASES: readonly HttpCase[] = withBothStores([
  plays('a refusal is a 429 with body and fields, reaches no handler, and charges nothing', refusing(), [
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
  ]),
  plays('a refused HEAD has the fields and no body', refusing(), [
    ...USED_UP,
    { method: 'HEAD', status: 429, fields: { 'retry-after': '3600' }, body: '' },
  ]),
  {
    name: '429 and 401 can be problem details',
    scenario: refusing({ problemDetails: true }),
    async run(client) {
      const answer = await refused(client)
      match(answer.headers['content-type'] ?? '', /^application\/problem\+json/)
      const { type, status, 'violated-policies': names, detail, retryAfterSeconds } = json(answer)
      deepEqual(
        [type, status, names, retryAfterSeconds],
        ['https://iana.org/assignments/http-problem-types#quota-exceeded', 429, ['personal-write-1h'], 3600],
      )
      match(String(detail), /^Reached Personal 1-Hour/)
      const anonymous = await client.ask('/x', { headers: ANONYMOUS })
      match(anonymous.headers['content-type'] ?? '', /^application\/problem\+json/)
      deepEqual(json(anonymous), {
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        detail: 'Authentication required.',
      })
    },
  },
  {
    name: 'a refusal uses the language that the caller accepts',
    scenario: refusing(),
    async run(client) {
      await refused(client)
      for (const [accepted, beginning] of LANGUAGES) {
        const headers = accepted === undefined ? {} : { 'accept-language': accepted }
        const { msg = '' } = json(await client.ask('/x', { headers }))
        equal(msg.slice(0, beginning.length), beginning, `Accept-Language: ${accepted}`)
      }
    },
  },
  plays("a refusal uses the application's fixed language", refusing({ locale: 'zh-CN' }), [
    ...USED_UP,
    { status: 429, headers: { 'accept-language': 'en' }, body: /"msg":"已达到/ },
  ]),
  plays(
    "a refusal of a cost above the limit says that waiting won't help",
    { routes: [{ path: '/x', operation: 'huge', reply: {} }] },
    [{ status: 429, body: /"msg":"[^"]*waiting will not help/ }],
  ),
  plays("a request without a subject gets 401 with a challenge and isn't charged", refusing(), [
    {
      status: 401,
      headers: ANONYMOUS,
      fields: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' },
      json: { error: 'unauthorized', msg: 'Authentication required.' },
      worked: 0,
    },
  ]),
  plays(
    "a request without a subject gets the application's challenge and text",
    refusing({ wwwAuthenticate: 'Basic realm="api"', messages: { en: { unauthorized: 'Who are you?' } } }),
    [{ status: 401, headers: ANONYMOUS, fields: { 'www-authenticate': 'Basic realm="api"' }, body: /"Who are you\?"/ }],
  ),
  plays("a request without a subject isn't metered with anonymous: skip", saving({}, { anonymous: 'skip' }), [
    { status: 200, headers: ANONYMOUS, worked: 1 },
  ]),
  {
    name: 'a request without a subject is metered by address with anonymous: ip',
    scenario: saving({}, { anonymous: 'ip' }),
    needs: 'address',
    async run(client) {
      equal((await client.ask('/x', { headers: ANONYMOUS })).status, 200)
      equal(await client.used('ip:127.0.0.1'), 5)
    },
  },
])
