import type { Clock, Quota } from '@scoregw/quota'
import {
  ADAPTIVE_DEFAULTS,
  adaptiveCounts,
  type FactorStore,
  type OutcomeRecorder,
  type OutcomeStore,
} from '@scoregw/quota/adaptive'
import type * as z from 'zod'
import type { AuditLog } from '../audit/audit-log.ts'
import { type Route, route } from '../http/route.ts'
import type { OperationName } from '../quota/policy.ts'
import { adaptiveBody, adaptiveDocument, resetDocument } from './documents.ts'
import { forgetLearned } from './forget-learned.ts'

const MINUTE_MS = 60_000

export interface AdaptiveOptions {
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
