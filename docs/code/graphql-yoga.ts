import { type Quota, quotaHeaders } from '@scoregw/quota'
import { refusalMessage } from '@scoregw/quota/http'
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'

/**
 * A field sets its cost: `extensions: { cost: 5 }`. Other fields cost 1,
 * and `__typename` costs nothing.
 */
function costOf(schema: GraphQLSchema, document: DocumentNode): number {
  const types = new TypeInfo(schema)
  let cost = 0
  const counting = visitWithTypeInfo(types, {
    Field({ name }) {
      const own = types.getFieldDef()?.extensions.cost
      if (!name.value.startsWith('__'))
        cost += typeof own === 'number' ? own : 1
    },
  })
  visit(document, counting)
  return cost
}

/**
 * Charges a query what its fields cost, and refunds a query that
 * returns no data.
 */
export function useQuota<Operation extends string>(options: {
  readonly quota: Quota<Operation>
  readonly operation: Operation
  readonly subject: (request: Request) => string
}): Plugin {
  const { quota, operation, subject } = options
  return {
    async onExecute({ args, setResultAndStopExecution }) {
      const { request } = args.contextValue
      const cost = costOf(args.schema, args.document)
      const reservation = await quota.reserve({
        subject: subject(request),
        operation,
        cost,
      })
      if (!reservation.allowed) {
        const { decision } = reservation
        if (decision === undefined)
          throw new TypeError(
            'only a reservation under an id is repeated',
          )
        const http = { status: 429, headers: quotaHeaders(decision) }
        const error = new GraphQLError(refusalMessage(decision), {
          extensions: { code: 'QUOTA_EXCEEDED', http },
        })
        setResultAndStopExecution({ errors: [error] })
        return undefined
      }
      return {
        async onExecuteDone({ result }) {
          // A stream of results has no data yet: it is charged.
          const failed =
            'data' in result ? result.data == null : 'errors' in result
          await (failed ? reservation.cancel() : reservation.commit())
        },
      }
    },
  }
}
