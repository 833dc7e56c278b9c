import type { HttpReply } from '@scoregw/quota-testkit/http'
import * as fc from 'fast-check'

/** A random request, and the tokens that should stay charged. */
export interface MadeRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly status: number
  readonly charged: number
}

const COST = 5
/** The maximum overrun of the suite's `chat`. */
const MAX_OVERRUN = 20
const chunks = fc.array(fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }), { minLength: 1, maxLength: 4 })
const junk = fc.stringMatching(/^[\x21-\x7e]{0,60}$/)

/** An ordinary value, `times` as often as an unusual one, since most requests should get as far as a charge. */
function mostly<T>(ordinary: readonly T[], odd: readonly T[], times: number): fc.Arbitrary<T> {
  return fc.oneof(
    { arbitrary: fc.constantFrom(...ordinary), weight: times },
    { arbitrary: fc.constantFrom(...odd), weight: 1 },
  )
}

const answer = {
  status: mostly([200, 201, 204, 301, 304], [400, 404, 409, 422, 500, 503], 2),
  body: fc.string({ maxLength: 40, unit: 'grapheme' }),
  chunks,
  settles: fc.oneof(
    fc.constant('cancel' as const),
    fc.record({ commit: fc.integer({ min: -2, max: 8 }) }),
    fc.constant({ commit: Number.NaN }),
  ),
}
const reply: fc.Arbitrary<HttpReply> = fc.oneof(
  { arbitrary: fc.record(answer, { requiredKeys: [] }), weight: 5 },
  {
    arbitrary: fc.record({ ...answer, fails: fc.constantFrom('now', 'later') }, { requiredKeys: ['fails'] }),
    weight: 1,
  },
)

const cost = mostly([undefined, '1', '7', 'later:3'], ['0', 'NaN', '-1', '1.5', '1e21', 'throws', 'rejects', 'x'], 3)
const user = mostly(['u1', 'u2', 'later:u1'], ['throws', 'number', 'empty', undefined], 4)
const path = mostly(['/outcome', '/end', '/chat', '/work', '/first'], ['/plain'], 5)

export const madeRequest: fc.Arbitrary<MadeRequest> = fc
  .record({
    method: mostly(['GET', 'POST', 'HEAD', 'DELETE'], ['OPTIONS'], 9),
    path,
    reply,
    cost,
    user,
    languages: fc.option(junk, { nil: undefined }),
    forwarded: fc.option(junk, { nil: undefined }),
  })
  .map((asked) => {
    const { method, path, reply, cost, user, languages, forwarded } = asked
    const headers: Record<string, string> = { 'x-reply': encodeURIComponent(JSON.stringify(reply)) }
    if (cost !== undefined) headers['x-cost'] = cost
    if (user !== undefined) headers['x-user'] = user
    if (languages !== undefined) headers['accept-language'] = languages
    if (forwarded !== undefined) headers['x-forwarded-for'] = forwarded
    return { method, path, headers, ...expectedOf(asked) }
  })

/** What decides the answer of a random request. */
interface Asked {
  readonly method: string
  readonly path: string
  readonly reply: HttpReply
  readonly cost: string | undefined
  readonly user: string | undefined
}

/** The expected status and charge of a random request. */
function expectedOf({ method, path, reply, cost, user }: Asked): { readonly status: number; readonly charged: number } {
  const answered = reply.fails === undefined ? (reply.status ?? 200) : 500
  if (path === '/plain' || method === 'OPTIONS') return { status: answered, charged: 0 }
  if (user === undefined || user === 'empty') return { status: 401, charged: 0 }
  const tokens = cost === undefined ? COST : Number(cost.replace('later:', ''))
  const isWrong = ['throws', 'number'].includes(user) || !Number.isSafeInteger(tokens) || tokens < 0
  if (isWrong) return { status: 500, charged: 0 }
  return { status: answered, charged: chargedBy({ path, reply }, tokens, answered) }
}

function chargedBy({ path, reply }: Pick<Asked, 'path' | 'reply'>, tokens: number, answered: number): number {
  const { fails, settles } = reply
  const byOutcome = answered < 400 ? tokens : 0
  if (path === '/first') return tokens
  if (settles === undefined || fails === 'now') return byOutcome
  if (settles === 'cancel') return 0
  // An invalid or too large amount is left to the outcome; `chat` charges the difference.
  const most = path === '/chat' ? tokens + MAX_OVERRUN : tokens
  const isRight = Number.isSafeInteger(settles.commit) && settles.commit >= 0 && settles.commit <= most
  return isRight ? settles.commit : byOutcome
}
