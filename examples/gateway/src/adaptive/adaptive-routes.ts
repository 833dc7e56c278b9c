import type { Clock, Quota } from '@scoregw/quota'
import {
  ADAPTIVE_DEFAULTS,
  adaptiveCounts,
  adaptiveLaw,
  type FactorState,
  type FactorStore,
  type Learned,
  type OutcomeRecorder,
  type OutcomeStore,
  resetFactor,
} from '@scoregw/quota/adaptive'
import { sqlFactor } from '@scoregw/quota-sql'
import type * as z from 'zod'
import type { AuditLog, Doer } from '../audit/audit-log.ts'
import { COUNTERS } from '../db/migrations/0010-counters.ts'
import { type Route, route } from '../http/route.ts'
import type { OperationName } from '../quota/policy.ts'
import { adaptiveBody, adaptiveDocument, learnedBody, resetDocument } from './documents.ts'

const MINUTE_MS = 60_000

interface AdaptiveOptions {
  readonly quota: Quota<OperationName>
  readonly factorStore: FactorStore
  readonly outcomes: OutcomeStore
  readonly recorder: OutcomeRecorder
  readonly audit: AuditLog
  readonly clock: Clock
}

/** The factor of mode `adaptive`: where it stands and why, and a way to forget what its law has learned. */
export function adaptiveRoutes(options: AdaptiveOptions): Route[] {
  return [
    route({
      method: 'get',
      path: '/admin/quota/adaptive',
      docs: {
        id: 'adaptiveFactor',
        tag: 'Administration',
        summary: 'The factor of mode adaptive, and the reason for its value',
        description: 'It follows the server internal errors of the last 30 minutes, between 0.75 and 1.5.',
      },
      access: 'admin',
      answer: adaptiveDocument,
      async handle() {
        return { body: await factorNow(options) }
      },
    }),
    route({
      method: 'post',
      path: '/admin/quota/adaptive/reset',
      docs: {
        id: 'resetAdaptive',
        tag: 'Administration',
        summary: 'Forget what mode adaptive has learned',
        description:
          'Forgets the wall, which rises are to blame, and how slowly errors pass. Factor and history stay, and the factor rises freely. Works in every mode.',
      },
      access: 'admin',
      answer: resetDocument,
      async handle({ user }) {
        const forgotten = await forgetLearned(options.audit, user.id)
        return { body: { forgotten, ...(await factorNow(options)) } }
      },
    }),
  ]
}

async function factorNow({
  quota,
  factorStore,
  outcomes,
  recorder,
  clock,
}: AdaptiveOptions): Promise<z.input<typeof adaptiveDocument>> {
  await recorder.flush()
  const [{ mode }, stored] = await Promise.all([quota.settings.get(), factorStore.read()])
  const minute = Math.floor(clock.now() / MINUTE_MS)
  const { windowMinutes, recentMinutes } = ADAPTIVE_DEFAULTS
  const minutes = await outcomes.read(minute - windowMinutes, minute)
  return adaptiveBody(mode, stored, adaptiveCounts(minutes, minute - recentMinutes), minute * MINUTE_MS)
}

const NO_CALLS = { calls: 0, errors: 0, recentCalls: 0, recentErrors: 0 }

/**
 * Makes the law forget what it has learned, in one transaction with the audit entry.
 * @returns what that was; `null`: nothing, and nothing is written down
 */
async function forgetLearned(audit: AuditLog, by: Doer): Promise<z.input<typeof resetDocument>['forgotten']> {
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
