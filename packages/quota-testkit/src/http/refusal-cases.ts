import { deepEqual, equal, match } from 'node:assert/strict'
import type { HttpAnswer, HttpClient } from './client.ts'
import { type AnyStoreCase, type HttpCase, withBothStores } from './http-case.ts'
import { saving } from './outcome-cases.ts'
import type { HttpSettings } from './scenario.ts'

function json({ body }: HttpAnswer): { readonly msg?: string; readonly [key: string]: unknown } {
  return JSON.parse(body ?? 'null') as { msg?: string }
}

/** Uses up the limit of a user, then sends one more request. */
async function refused(client: HttpClient, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  await client.ask('/x')
  await client.ask('/x')
  return client.ask('/x', { headers })
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
  {
    name: '429 with body and fields; no handler is reached, nothing is charged',
    scenario: refusing(),
    async run(client) {
      const answer = await refused(client)
      const { status, headers } = answer
      equal(status, 429)
      equal((await client.log()).worked, 2)
      equal(await client.used(), 10)
      deepEqual(
        [headers['retry-after'], headers['x-quota-reset'], headers['cache-control'], headers.ratelimit],
        ['3600', HOUR_LATER, 'no-store', undefined],
      )
      match(headers['content-type'] ?? '', /^application\/json/)
      deepEqual(json(answer), {
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
      })
    },
  },
  {
    name: 'a HEAD that is refused has the fields and no body',
    scenario: refusing(),
    async run(client) {
      await refused(client)
      const { status, headers, body } = await client.ask('/x', { method: 'HEAD' })
      deepEqual([status, headers['retry-after'], body], [429, '3600', ''])
    },
  },
  {
    name: '429 and 401 as problem details',
    scenario: refusing({ problemDetails: true }),
    async run(client) {
      const answer = await refused(client)
      match(answer.headers['content-type'] ?? '', /^application\/problem\+json/)
      const { type, status, 'violated-policies': names, detail, retryAfterSeconds } = json(answer)
      deepEqual(
        [type, status, names, retryAfterSeconds],
        ['https://iana.org/assignments/http-problem-types#quota-exceeded', 429, ['personal-1h'], 3600],
      )
      match(String(detail), /^Reached Personal 1-Hour/)
      const nobody = await client.anonymously('/x')
      match(nobody.headers['content-type'] ?? '', /^application\/problem\+json/)
      deepEqual(json(nobody), {
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        detail: 'Authentication required.',
      })
    },
  },
  {
    name: 'the language that a caller accepts',
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
  {
    name: 'a language that the application fixed',
    scenario: refusing({ locale: 'zh-CN' }),
    async run(client) {
      match(json(await refused(client, { 'accept-language': 'en' })).msg ?? '', /^已达到/)
    },
  },
  {
    name: 'a cost above the limit is told to be hopeless',
    scenario: { routes: [{ path: '/x', operation: 'huge', reply: {} }] },
    async run(client) {
      match(json(await client.ask('/x')).msg ?? '', /waiting will not help/)
    },
  },
  {
    name: 'nobody: 401 with a challenge, and nothing is charged',
    scenario: refusing(),
    async run(client) {
      const answer = await client.anonymously('/x')
      const { status, headers } = answer
      deepEqual([status, headers['www-authenticate'], headers['cache-control']], [401, 'Bearer', 'no-store'])
      deepEqual(json(answer), { error: 'unauthorized', msg: 'Authentication required.' })
      equal((await client.log()).worked, 0)
    },
  },
  {
    name: 'nobody: a challenge and a text of the application',
    scenario: refusing({ wwwAuthenticate: 'Basic realm="api"', messages: { en: { unauthorized: 'Who are you?' } } }),
    async run(client) {
      const answer = await client.anonymously('/x')
      deepEqual([answer.headers['www-authenticate'], json(answer).msg], ['Basic realm="api"', 'Who are you?'])
    },
  },
  {
    name: 'nobody: left alone with anonymous: skip',
    scenario: saving({}, { anonymous: 'skip' }),
    async run(client) {
      equal((await client.anonymously('/x')).status, 200)
      equal((await client.log()).worked, 1)
    },
  },
  {
    name: 'nobody: metered by the address with anonymous: ip',
    scenario: saving({}, { anonymous: 'ip' }),
    needs: 'address',
    async run(client) {
      equal((await client.anonymously('/x')).status, 200)
      equal(await client.used('ip:127.0.0.1'), 5)
    },
  },
])
