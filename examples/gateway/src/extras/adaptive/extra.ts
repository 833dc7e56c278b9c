import { type Learned, resetFactor } from '@scoregw/quota/adaptive'
import { sqlFactor } from '@scoregw/quota-sql'
import * as z from 'zod'
import { factorNow } from '../../adaptive/adaptive-routes.ts'
import { adaptiveDocument, shownWall, wallSchema } from '../../adaptive/documents.ts'
import type { AuditLog, Doer } from '../../audit/audit-log.ts'
import { COUNTERS } from '../../db/migrations/0010-counters.ts'
import { route } from '../../http/route.ts'
import type { Extra } from '../extra.ts'

const MINUTE_MS = 60_000

const forgottenDocument = z.object({
  wall: wallSchema.nullable(),
  responseMinutes: z.number().min(0).describe('how long the last errors took to pass; 0: unknown'),
  rises: z.int().min(0).describe('rises that were suspected of causing errors'),
})

type Forgotten = z.input<typeof forgottenDocument>

/** Lets administrators reset what mode `adaptive` has learned. */
export const reset: Extra = {
  begin: ({ adaptive: mode, quota, clock, audit }) => ({
    routes: [
      route({
        method: 'post',
        path: '/admin/quota/adaptive/reset',
        docs: {
          id: 'resetAdaptive',
          tag: 'Administration',
          summary: 'Forget what mode adaptive has learned',
          description:
            'Forgets the wall, the suspected rises, and how slowly errors pass. Factor and history stay, and the factor can rise freely. Works in every mode.',
        },
        access: 'admin',
        answer: adaptiveDocument.extend({
          forgotten: forgottenDocument.nullable().describe('what the law had learned; null: nothing'),
        }),
        async handle({ user }) {
          const forgotten = await forgetLearned(audit, user.id)
          return { body: { forgotten, ...(await factorNow({ ...mode, quota, clock })) } }
        },
      }),
    ],
  }),
}

/**
 * Resets what the law has learned, in one transaction with the audit entry.
 *
 * @returns what it had learned; `null`: nothing, so there is no audit entry
 */
async function forgetLearned(audit: AuditLog, by: Doer): Promise<Forgotten | null> {
  return audit.change(by, async ({ db, note }) => {
    const replaced = await resetFactor(sqlFactor({ db, prefix: COUNTERS }))
    const before = replaced === undefined ? null : forgottenOf(replaced.learned)
    if (before !== null) note({ action: 'factor.reset', before, after: null })
    return before
  })
}

/** Returns what the reset forgets; `null`: only what fades within half an hour without errors. */
function forgottenOf({ wall, responseMs, rises }: Learned): Forgotten | null {
  if (wall === null && responseMs === 0 && rises.length === 0) return null
  return { wall: shownWall(wall), responseMinutes: responseMs / MINUTE_MS, rises: rises.length }
}
