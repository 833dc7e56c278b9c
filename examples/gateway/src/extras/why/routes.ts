import { type Route, route } from '../../http/route.ts'
import { sharedLayers } from '../../quota/layer-members.ts'
import type { GatewayPolicy } from '../../quota/policy.ts'
import { userParams } from '../../quota/user-quota-routes.ts'
import { whyAnswerOf } from './answer.ts'
import { whyAnswer, whyBody } from './bodies.ts'
import { type LatestRefusals, latestRefusals } from './latest-refusals.ts'
import type { Why } from './why.ts'

/** Routes for administrators: who was refused, why, and the effect of a change. */
export function whyRoutes(why: Why, latest: LatestRefusals, policy: GatewayPolicy): Route[] {
  const shared = sharedLayers(policy)
  return [
    route({
      method: 'get',
      path: '/admin/refusals',
      docs: {
        id: 'latestRefusals',
        tag: 'Administration',
        summary: 'Recent refusals by user and limit',
        description:
          'Refusals of the last hour in all processes, by user, operation and limit, the newest first. Counts at most the newest 1,000.',
      },
      access: 'admin',
      answer: latestRefusals,
      async handle() {
        return { body: await latest.read() }
      },
    }),
    route({
      method: 'post',
      path: '/admin/users/:id/quota/why',
      docs: {
        id: 'whyRefused',
        tag: 'Administration',
        summary: 'Why a user is refused, and what another limit would change',
        description:
          "The decision about a request now, the binding limit and its end; the user's last refusals; and the last days decided again with a proposal. Changes nothing.",
        errors: ['quota_unavailable'],
        example: { operation: 'music.upsert', proposal: { mode: 'lenient' } },
      },
      params: userParams,
      access: 'admin',
      body: whyBody(policy),
      answer: whyAnswer,
      async handle({ params: { id }, input }) {
        const found = await why.explain({ userId: id, ...input })
        return { body: whyAnswerOf(id, policy.operations[found.operation].category, shared, found) }
      },
    }),
  ]
}
