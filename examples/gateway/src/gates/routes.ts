import { success } from '../http/envelope.ts'
import { type Route, route } from '../http/route.ts'
import { gatesAnswer, gatesBody, toGateBody } from './bodies.ts'
import type { GateRepository } from './gate-repository.ts'

/** Reading how far a player got at the gates. */
export function gateRoutes(gates: GateRepository): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/user/kaleidx-scope',
      docs: {
        id: 'readGates',
        tag: 'User',
        summary: 'List all gates, 1 to 10',
        description: "The player's progress with each gate.",
      },
      access: 'user',
      body: gatesBody,
      answer: gatesAnswer,
      operation: 'user.gates',
      async handle({ user }) {
        const userKaleidxScopeList = (await gates.all(user.id)).map(toGateBody)
        return { body: success({ length: userKaleidxScopeList.length, userKaleidxScopeList }) }
      },
    }),
  ]
}
