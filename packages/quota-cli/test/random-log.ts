import { type Policy, parsePolicy, type Subject } from '@scoregw/quota'
import fc from 'fast-check'

/** A request as it happened, and the line that a server wrote of it. */
export interface WrittenRequest {
  readonly at: number
  readonly subject: Subject
  readonly operation: string
  readonly cost: number | undefined
  readonly plan: string | undefined
  /** Whether its status says that its tokens came back. */
  readonly isRefunded: boolean
  readonly text: string
}

/** A policy and a log with lines of all kinds; `undefined`: a line that is no request. */
export interface RandomLog {
  /** The policy as written in a file. */
  readonly definition: object
  readonly policy: Policy
  readonly lines: readonly (WrittenRequest | { readonly text: string })[]
  readonly options: readonly string[]
  readonly extension: string
}

const START = Date.UTC(2026, 2, 28, 20)
const HOUR = 3_600_000

const TIMES = [
  { per: '30s' },
  { per: '10m' },
  { per: '5h' },
  { every: 'day', timeZone: 'Europe/Berlin' },
  { every: 'week', timeZone: 'UTC' },
] as const

/** Whom limits are for; a team's and everybody's have more room. */
const WHOSE = [{ by: 'user' }, { by: 'team' }, { shared: 'service' }] as const

/** What limits count: everything, a category, or one operation. */
const TARGETS = [undefined, 'read', 'write', 'look'] as const

interface Definition {
  readonly limits: Readonly<Record<string, { readonly by?: string; readonly limit: number | 'unlimited' }>>
  readonly operations: object
  readonly plans?: object
}

const limit = fc
  .record({
    time: fc.constantFrom(...TIMES),
    whose: fc.constantFrom(...WHOSE),
    for: fc.constantFrom(...TARGETS),
    number: fc.integer({ min: 0, max: 25 }),
  })
  .map(({ time, whose, number, for: only }) => ({
    ...whose,
    ...time,
    limit: number === 25 ? ('unlimited' as const) : number * (1 + 2 * (WHOSE as readonly object[]).indexOf(whose)),
    ...(only !== undefined && { for: only }),
  }))

const definitions: fc.Arbitrary<Definition> = fc
  .record({
    // Of each user's own, so that every operation is counted and there is a key.
    first: limit.map(({ for: _, ...rest }) => ({ ...rest, by: 'user', shared: undefined })),
    others: fc.array(limit, { maxLength: 6 }),
    prices: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 3, maxLength: 3 }),
    large: fc.nat(100),
  })
  .map(({ first, others, prices: [get = 1, put = 1, look = 1], large }) => {
    const limits = Object.fromEntries([first, ...others].map((each, at) => [`limit-${at}`, each]))
    const priced = (cost: number) => ({ cost, ...(cost === 0 && { free: true }) })
    return {
      limits,
      operations: {
        get: { category: 'read', ...priced(get) },
        look: { category: 'read', ...priced(look) },
        put: { category: 'write', ...priced(put) },
      },
      plans: { large: { 'limit-0': large } },
    }
  })

/** The same with each team's limits for everybody: a line in common log format has one name. */
function withoutTeam({ limits, ...rest }: Definition): Definition {
  const entries = Object.entries(limits).map(([name, { by, ...each }]) => [
    name,
    by === 'team' ? { ...each, shared: 'service' } : { ...each, by },
  ])
  return { ...rest, limits: Object.fromEntries(entries) }
}

interface Drawn {
  readonly laterMs: number
  readonly late: number
  readonly user: number
  /** 2: the request has no team. */
  readonly team: number
  readonly operation: 'get' | 'put' | 'look'
  readonly cost: number | undefined
  readonly plan: 'large' | 'none' | undefined
  readonly status: number
  readonly form: number
  readonly junk: number
}

const requests: fc.Arbitrary<Drawn[]> = fc.array(
  fc.record({
    laterMs: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 4 * HOUR })),
    late: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 90_000 })),
    user: fc.nat(4),
    team: fc.nat(2),
    operation: fc.constantFrom('get', 'put', 'look'),
    cost: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.nat(9)),
    plan: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.constantFrom('large', 'none')),
    status: fc.constantFrom(200, 200, 200, 404, 429, 500),
    form: fc.nat(5),
    junk: fc.nat(40),
  }),
  { minLength: 20, maxLength: 250 },
)

const NAMES = ['ann', 'bob', 'Zoë', '张三', 'd e']
const JUNK = ['', '   ', '{"time": "2026-03-28T20', '[1,2]', '{"user":"ann"}', '\u0000\u0001', 'null', '"text"']

/** Random policies with random logs as NDJSON or in common log format. */
export const randomLogs: fc.Arbitrary<RandomLog> = fc
  .record({ definition: definitions, requests, isJson: fc.boolean() })
  .map(({ definition: any, requests: drawn, isJson }) => {
    let now = START
    const definition = isJson ? any : withoutTeam(any)
    const policy = parsePolicy(definition)
    const isTeamed = policy.layers.some(({ name }) => name === 'team')
    const lines = drawn.flatMap((each) => {
      now += each.laterMs
      const asked = requestOf(each, now - each.late, isJson, isTeamed)
      const text = isJson ? jsonOf(each, asked) : commonOf(each, asked)
      const junk = JUNK[each.junk]
      return junk === undefined ? [{ ...asked, text }] : [{ text: junk }, { ...asked, text }]
    })
    const routes = ['--route', 'GET /get* = get', '--route', 'PUT * = put', '--route', '* * = look']
    const subject = isJson && isTeamed ? ['--subject', 'user=user,team=org.team'] : []
    return {
      definition,
      policy,
      lines,
      options: [...(isJson ? [] : routes), ...subject, '--refund-from', '400', '--time-zone', 'Asia/Shanghai'],
      extension: isJson ? 'ndjson' : 'log',
    }
  })

function requestOf(each: Drawn, at: number, isJson: boolean, isTeamed: boolean): Omit<WrittenRequest, 'text'> {
  const user = isJson ? (NAMES[each.user] ?? '') : `user${each.user}`
  return {
    // Common log format knows seconds.
    at: isJson ? at : Math.floor(at / 1_000) * 1_000,
    subject: isJson && isTeamed ? { user, team: each.team === 2 ? null : `t${each.team}` } : user,
    operation: each.operation,
    cost: isJson ? each.cost : undefined,
    plan: isJson ? each.plan : undefined,
    isRefunded: each.status >= 400 && each.status !== 429,
  }
}

function jsonOf(each: Drawn, { at, operation, cost, plan }: Omit<WrittenRequest, 'text'>): string {
  const iso = new Date(at).toISOString()
  const inZone = (hours: number): string => new Date(at + hours * HOUR).toISOString().slice(0, -1)
  const times = [iso, at, at / 1_000, `${inZone(-7)}-07:00`, inZone(8), `${inZone(5).replace('T', ' ')}+0500`]
  return JSON.stringify({
    level: 'info',
    time: times[each.form],
    user: NAMES[each.user],
    org: each.team === 2 ? {} : { team: `t${each.team}` },
    operation,
    cost,
    plan,
    res: { statusCode: each.status },
  })
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const METHODS = { get: 'GET /get/it?q=1', put: 'PUT /any', look: 'GET /else' } as const

function commonOf(each: Drawn, { at }: Omit<WrittenRequest, 'text'>): string {
  const hours = [0, 0, 8, -7, 2, 11][each.form] ?? 0
  const local = new Date(at + hours * HOUR)
  const two = (value: number): string => String(value).padStart(2, '0')
  const date = `${two(local.getUTCDate())}/${MONTHS[local.getUTCMonth()]}/${local.getUTCFullYear()}`
  const zone = `${hours < 0 ? '-' : '+'}${two(Math.abs(hours))}00`
  const time = `${date}:${local.toISOString().slice(11, 19)} ${zone}`
  return `10.0.0.1 - user${each.user} [${time}] "${METHODS[each.operation]} HTTP/1.1" ${each.status} 512 "-" "curl"`
}
