import { setImmediate as turn } from 'node:timers/promises'
import type { Violation } from '@scoregw/quota'
import { subjectsOf } from '../../quota/layer-members.ts'
import type { OperationName } from '../../quota/policy.ts'
import type { UsageRecord } from '../../usage/usage-record.ts'
import { type TrialDeps, trialEngine } from './trial-engine.ts'

/** Requests per slice. Other work can run in between. */
const PIECE = 50

/** The outcome of one replayed request. */
export interface Replayed {
  readonly record: UsageRecord
  /** The limit that would have refused it; `null`: none. */
  readonly binding: Violation | null
}

/**
 * Decides recorded requests again, in their order and at their times, by a real engine under other rules. Limits that all subjects
 * share are left out, since what others used at the time is not known; so are requests that such a limit
 * refused.
 *
 * Tokens that were given back are given back again; requests refused at the time count with their full price.
 */
export async function replay(deps: Omit<TrialDeps, 'clock'>, records: readonly UsageRecord[]): Promise<Replayed[]> {
  const [first] = records
  if (first === undefined) return []
  const { policy, userId, rules } = deps
  let at = first.at
  // The clock must not go back: two processes may have decided with different clocks.
  const clock = { now: () => at }
  const { quota } = await trialEngine({ ...deps, clock, rules: withoutShared(rules, policy.layers) })
  const subject = subjectsOf(policy)(userId)
  const replayed: Replayed[] = []
  try {
    for (const [index, record] of records.entries()) {
      if (index % PIECE === PIECE - 1) await turn()
      at = Math.max(at, record.at)
      const cost = record.cost ?? 0
      const reservation = quota.reserveSync({ subject, operation: record.operation as OperationName, cost })
      if (reservation.status === 'refused') {
        replayed.push({ record, binding: reservation.decision.binding })
        continue
      }
      replayed.push({ record, binding: null })
      const charged = record.refusal === null ? record.charged : cost
      if (charged === 0) reservation.cancel()
      else reservation.commit(Math.min(charged, cost))
    }
    return replayed
  } finally {
    await quota.close()
  }
}

function withoutShared({ settings, subjects }: TrialDeps['rules'], layers: readonly LayerName[]): TrialDeps['rules'] {
  const shared = layers.filter((layer) => layer.shared).map(({ name }) => name)
  const off = shared.map((name) => [name, { enabled: false, multiplier: 1 }])
  return { settings: { ...settings, layers: Object.fromEntries(off) }, subjects }
}

type LayerName = { readonly name: string; readonly shared: boolean }
