import type { Decision, Violation } from '@scoregw/quota'
import { beijingDay, dayText } from '../../beijing-day.ts'
import { instantText } from '../../http/instant.ts'
import { limitDocument } from '../../quota/limit-document.ts'
import type { UsageRecord } from '../../usage/usage-record.ts'
import type { WhyAnswer } from './bodies.ts'
import type { Replayed } from './replay.ts'
import type { Findings } from './why.ts'

const MAX_REFUSALS = 10
const MAX_CHANGED = 50

/** Returns the findings as a response body. */
export function whyAnswerOf(userId: string, category: string, shared: readonly string[], found: Findings): WhyAnswer {
  const { operation, now, proposed, records } = found
  const refused = records.filter(({ refusal }) => refusal !== null)
  return {
    userId,
    operation,
    category,
    now: decisionOf(now),
    proposed: proposed === undefined ? null : decisionOf(proposed),
    refusals: refused.slice(-MAX_REFUSALS).reverse().flatMap(refusalOf),
    replay: replayOf(found, refused, shared),
  }
}

function decisionOf(decision: Decision): WhyAnswer['now'] {
  const isRefused = !decision.allowed
  return {
    allowed: decision.allowed,
    cost: decision.cost,
    binding: isRefused ? violationOf(decision.binding) : null,
    violations: isRefused ? decision.violations.map(violationOf) : [],
    shadowed: decision.shadowed.map(violationOf),
    retryAfterSeconds: isRefused ? decision.retryAfterSeconds : null,
    windows: decision.windows.map((each) => limitDocument(each)),
  }
}

function violationOf(of: Violation): WhyAnswer['now']['violations'][number] {
  const { layer, scope, category, window, kind, limit, burst, used, requested, resetAt, retryable } = of
  const ofBucket = burst !== undefined && { burst }
  return {
    layer,
    scope,
    category,
    window,
    kind,
    limit,
    ...ofBucket,
    used,
    requested,
    resetAt: instantText(resetAt),
    retryable,
  }
}

function refusalOf({ at, operation, category, refusal }: UsageRecord): WhyAnswer['refusals'] {
  if (refusal === null) return []
  const { resetAt, ...rest } = refusal
  return [{ at: instantText(at), operation, category, ...rest, resetAt: instantText(resetAt) }]
}

function replayOf(found: Findings, refused: readonly UsageRecord[], shared: readonly string[]): WhyAnswer['replay'] {
  const { since, until, records, present, future, isTruncated, hasOwnPeriods } = found
  const bySharedLimits = refused.filter(({ refusal }) => shared.includes(refusal?.layer ?? '')).length
  const bySlots = refused.filter(({ refusal }) => refusal?.kind === 'concurrency').length
  return {
    since: instantText(since),
    until: instantText(until),
    requests: records.length,
    replayed: present.length,
    recorded: { refused: refused.length, limits: countsOf(refused.flatMap(limitOfRecord)) },
    present: judgedOf(present),
    proposed: future === undefined ? null : judgedOf(future),
    days: daysOf(records, present, future),
    changed: (future ?? present)
      .filter(({ record, binding }) => (record.refusal === null) !== (binding === null))
      .slice(-MAX_CHANGED)
      .reverse()
      .map(changedOf),
    unknown: {
      bySharedLimits,
      bySlots,
      undecided: records.length - present.length - bySharedLimits - bySlots,
      isTruncated,
      hasOwnPeriods,
    },
  }
}

type Limit = Pick<Violation, 'layer' | 'scope' | 'category' | 'window'>

function judgedOf(replayed: readonly Replayed[]): WhyAnswer['replay']['present'] {
  const refused = replayed.flatMap(({ binding }) => (binding === null ? [] : [binding]))
  return { refused: refused.length, limits: countsOf(refused) }
}

function limitOfRecord({ category, refusal }: UsageRecord): Limit[] {
  return refusal === null ? [] : [{ layer: refusal.layer, scope: refusal.scope, window: refusal.window, category }]
}

/** The most frequent first. */
function countsOf(limits: readonly Limit[]): WhyAnswer['replay']['present']['limits'] {
  const counts = new Map<string, Limit & { count: number }>()
  for (const { layer, scope, category, window } of limits) {
    const key = JSON.stringify([layer, category, window])
    const known = counts.get(key) ?? { layer, scope, category, window, count: 0 }
    known.count++
    counts.set(key, known)
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)
}

function daysOf(
  records: readonly UsageRecord[],
  present: readonly Replayed[],
  future: readonly Replayed[] | undefined,
): WhyAnswer['replay']['days'] {
  const refusedOn = (replayed: readonly Replayed[]): Map<number, number> => {
    const days = new Map<number, number>()
    for (const { record, binding } of replayed) {
      const day = beijingDay(record.at)
      if (binding !== null) days.set(day, (days.get(day) ?? 0) + 1)
    }
    return days
  }
  const now = refusedOn(present)
  const then = future && refusedOn(future)
  const days = [...new Set(records.map(({ at }) => beijingDay(at)))]
  return days.map((day) => {
    const ofDay = records.filter(({ at }) => beijingDay(at) === day)
    return {
      date: dayText(day),
      requests: ofDay.length,
      recorded: ofDay.filter(({ refusal }) => refusal !== null).length,
      present: now.get(day) ?? 0,
      proposed: then === undefined ? null : (then.get(day) ?? 0),
    }
  })
}

function changedOf({ record, binding }: Replayed): WhyAnswer['replay']['changed'][number] {
  return {
    at: instantText(record.at),
    operation: record.operation,
    cost: record.cost ?? 0,
    wasRefused: record.refusal !== null,
    binding: binding === null ? null : { layer: binding.layer, scope: binding.scope, window: binding.window },
  }
}
