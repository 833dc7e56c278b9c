import { luxonCalendar } from '../../src/calendar.ts'
import type { Locale } from '../../src/http.ts'
import {
  createQuota,
  definePolicy,
  type Limit,
  type LimitDefinition,
  type Policy,
  type RefusedDecision,
} from '../../src/index.ts'
import {
  type ScoreGatewayAnswersOptions,
  type ScoreGatewayLimit,
  scoreGatewayAnswers,
  scoreGatewayPolicy,
} from '../../src/score-gateway.ts'
import { testClock } from '../support.ts'

type Operation = 'read' | 'write' | 'chat'

const OPERATIONS = {
  read: { category: 'read', cost: 4 },
  write: { category: 'write', cost: 15 },
  chat: { category: 'write', cost: 1 },
} as const

/** The specification's numbers, with tokens enough for every limit but those of one window. */
function numbers(layer: 'personal' | 'site', window: string, tokens: number): Record<ScoreGatewayLimit, Limit> {
  const names = scoreGatewayPolicy().limits.map(({ name }) => name)
  const isFew = (name: string): boolean => name.startsWith(layer) && name.endsWith(window)
  return Object.fromEntries(names.map((name) => [name, isFew(name) ? tokens : 10_000])) as Record<
    ScoreGatewayLimit,
    Limit
  >
}

function policyOf(layer: 'personal' | 'site', window: string, tokens: number): Policy<Operation> {
  return scoreGatewayPolicy({ operations: OPERATIONS, limits: numbers(layer, window, tokens) }) as never
}

/** The same with limits of every other kind. */
function otherKinds(others: {
  readonly month: number
  readonly running?: number
  readonly '90m'?: number
}): Policy<Operation> {
  const { month, running = 1 } = others
  const limit = (by: string, per: string, most: Limit): LimitDefinition => {
    const whose = by === 'personal' ? { by } : { shared: by }
    return { ...whose, limit: most, per: per as '1h' }
  }
  const windows = (layer: string, ninety: number): Record<string, LimitDefinition> =>
    Object.fromEntries(
      ['1h', '5h', '1d', '90m'].map((per) => [`${layer}-${per}`, limit(layer, per, per === '90m' ? ninety : 10_000)]),
    )
  return definePolicy({
    unit: 'tokens',
    limits: {
      ...windows('personal', others['90m'] ?? 10_000),
      month: { by: 'personal', limit: month, every: 'month', timeZone: 'Asia/Shanghai' },
      running: { by: 'personal', concurrency: running, for: 'chat' },
      ...windows('site', 10_000),
    },
    titles: { personal: 'Personal', site: 'Site' },
    operations: OPERATIONS,
    answers: scoreGatewayAnswers(),
  } as never) as never
}

/** A refusal under the specification's policy, and what it is answered with. */
export interface RefusalCase {
  readonly name: string
  readonly decision: RefusedDecision
}

async function refusedBy(
  name: string,
  policy: Policy<Operation>,
  operation: Operation,
  cost: number | undefined,
): Promise<RefusalCase> {
  const clock = testClock()
  const quota = createQuota({ policy, clock, calendar: luxonCalendar(), logger: false })
  const request = { subject: 'u42', operation, ...(cost === undefined ? {} : { cost }) }
  for (;;) {
    const { decision } = await quota.reserve({ ...request, ttlMs: 60_000 })
    if (decision === undefined) throw new Error('expected a decision')
    if (!decision.allowed) return { name, decision }
    clock.at += 1_234
  }
}

/** Refusals by each limit of the specification's policy and by limits of other kinds. */
export async function specifiedRefusals(): Promise<readonly RefusalCase[]> {
  const cases: RefusalCase[] = []
  for (const layer of ['personal', 'site'] as const) {
    for (const window of ['1h', '5h', '1d']) {
      for (const operation of ['read', 'write'] as const) {
        const named = `${layer} ${window} ${operation}`
        cases.push(await refusedBy(named, policyOf(layer, window, 60), operation, undefined))
      }
    }
  }
  cases.push(await refusedBy('personal, above the limit', policyOf('personal', '1h', 60), 'write', 61))
  cases.push(await refusedBy('site, above the limit', policyOf('site', '5h', 60), 'read', 61))
  cases.push(await refusedBy('month', otherKinds({ month: 30 }), 'write', undefined))
  cases.push(await refusedBy('month, above the limit', otherKinds({ month: 30 }), 'write', 31))
  cases.push(await refusedBy('90 minutes', otherKinds({ month: 10_000, '90m': 60 }), 'write', undefined))
  cases.push(await refusedBy('concurrency', otherKinds({ month: 30 }), 'chat', undefined))
  cases.push(await refusedBy('concurrency, never', otherKinds({ month: 30, running: 0 }), 'chat', undefined))
  return cases
}

/** The options that answers were recorded with, by name. */
export const RECORDED_OPTIONS: Readonly<Record<string, ScoreGatewayAnswersOptions & { readonly locale?: Locale }>> = {
  English: {},
  'Chinese, with a forum': { locale: 'zh-CN', supportForumUrl: 'https://forum.example.com/quota' },
  'English, in Berlin, with a forum': { supportForumUrl: 'https://f.example', timeZone: 'Europe/Berlin' },
  'Chinese, in Berlin': { locale: 'zh-CN', timeZone: 'Europe/Berlin' },
}
