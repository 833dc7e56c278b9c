import { adaptiveLaw, type FactorState, type Learned, resetFactor } from '@scoregw/quota/adaptive'
import { sqlFactor } from '@scoregw/quota-sql'
import type * as z from 'zod'
import type { AuditLog, Doer } from '../audit/audit-log.ts'
import { COUNTERS } from '../db/migrations/0010-counters.ts'
import { learnedBody, type resetDocument } from './documents.ts'

const NO_CALLS = { calls: 0, errors: 0, recentCalls: 0, recentErrors: 0 }

/**
 * Makes the law forget what it has learned, in one transaction with the audit entry.
 * @returns what that was; `null`: nothing, and nothing is written down
 */
export async function forgetLearned(audit: AuditLog, by: Doer): Promise<z.input<typeof resetDocument>['forgotten']> {
  return audit.change(by, async ({ db, note }) => {
    const replaced = await resetFactor(sqlFactor({ db, prefix: COUNTERS }))
    const before = replaced === undefined ? null : learnedBody(learnedIn(replaced))
    if (before !== null) note({ action: 'factor.reset', before, after: null })
    return before
  })
}

/** A tick takes over the state of a version before walls. */
function learnedIn(state: FactorState): Learned {
  const { learned } = state.learned === undefined ? adaptiveLaw(state, NO_CALLS, state.tickedAt ?? 0) : state
  if (learned === undefined) throw new Error('the law has learned nothing')
  return learned
}
