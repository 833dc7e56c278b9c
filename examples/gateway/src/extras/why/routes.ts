import { type Route, route } from '../../http/route.ts'
import { sharedLayers } from '../../quota/layer-members.ts'
import type { GatewayPolicy } from '../../quota/policy.ts'
import { userParams } from '../../quota/user-quota-routes.ts'
import { whyAnswerOf } from './answer.ts'
import { whyAnswer, whyBody } from './bodies.ts'
import type { Why } from './why.ts'

/** A route for administrators: why a user is refused, and the effect of a change. */
export function whyRoutes(why: Why, policy: GatewayPolicy): Route[] {
  const shared = sharedLayers(policy)
  return [
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
