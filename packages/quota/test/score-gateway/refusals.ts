import { luxonCalendar } from '../../src/calendar.ts'
import type { Locale } from '../../src/http.ts'
import { createQuota, defaultPolicy, memoryStore, type Policy, type RefusedDecision } from '../../src/index.ts'
import type { ScoreGatewayAnswersOptions } from '../../src/score-gateway.ts'
import { testClock } from '../support.ts'

type Operation = 'read' | 'write' | 'chat'

const OPERATIONS = {
  read: { category: 'read', cost: 4 },
  write: { category: 'write', cost: 15 },
  chat: { category: 'write', cost: 1 },
} as const

/** The specification's policy, with tokens enough for every window but one. */
function policyOf(layer: 'personal' | 'site', window: string, tokens: number): Policy<Operation> {
  const many = { '1h': 10_000, '5h': 10_000, '1d': 10_000 }
  const few = { ...many, [window]: tokens }
  const base = { personal: { read: many, write: many }, site: { read: many, write: many } }
  return defaultPolicy({ operations: OPERATIONS, base: { ...base, [layer]: { read: few, write: few } } })
}

/** The same with limits of every other kind. */
function otherKinds(tokens: number): Policy<Operation> {
  const policy = policyOf('personal', '1h', 10_000)
  const personal = { ...policy.base.personal!.write, '90m': 10_000, month: tokens, running: 1 }
  const site = { ...policy.base.site!.write, '90m': 10_000, month: 'unlimited' as const }
  return {
    ...policy,
    windows: [
      ...policy.windows,
      { label: '90m', lengthMs: 5_400_000 },
      { label: 'month', every: 'month', timeZone: 'Asia/Shanghai' },
    ],
    base: { personal: { read: personal, write: personal }, site: { read: site, write: site } },
    concurrency: { label: 'running', operations: ['chat'] },
  }
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
  const quota = createQuota({ policy, store: memoryStore({ clock }), clock, calendar: luxonCalendar() })
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
  cases.push(await refusedBy('month', otherKinds(30), 'write', undefined))
  cases.push(await refusedBy('month, above the limit', otherKinds(30), 'write', 31))
  cases.push(await refusedBy('90 minutes', policyWith90Minutes(), 'write', undefined))
  cases.push(await refusedBy('concurrency', otherKinds(30), 'chat', undefined))
  const none = otherKinds(30)
  const blocked = { ...none.base.personal!.write, running: 0 }
  const blocking = { ...none, base: { ...none.base, personal: { read: blocked, write: blocked } } }
  cases.push(await refusedBy('concurrency, never', blocking, 'chat', undefined))
  return cases
}

function policyWith90Minutes(): Policy<Operation> {
  const policy = otherKinds(10_000)
  const write = { ...policy.base.personal!.write, '90m': 60 }
  return { ...policy, base: { ...policy.base, personal: { read: write, write } } }
}

/** The options that answers were recorded with, by name. */
export const RECORDED_OPTIONS: Readonly<Record<string, ScoreGatewayAnswersOptions & { readonly locale?: Locale }>> = {
  English: {},
  'Chinese, with a forum': { locale: 'zh-CN', supportForumUrl: 'https://forum.example.com/quota' },
  'English, in Berlin, with a forum': { supportForumUrl: 'https://f.example', timeZone: 'Europe/Berlin' },
  'Chinese, in Berlin': { locale: 'zh-CN', timeZone: 'Europe/Berlin' },
}
