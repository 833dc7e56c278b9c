import type { Quota } from '@scoregw/quota'
import { quotaHeaders, refusalMessage } from '@scoregw/quota/http'
import {
  type ExecutionArgs,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  getArgumentValues,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'

/** Arguments that say how many entries a list has at most. */
const SIZES = ['first', 'last', 'limit']
/** How many entries a list counts as without such an argument. */
const LIST = 10
/** No query costs more. */
const MOST = 1_000_000

/**
 * The most that a query may cost. A field sets its cost with
 * `extensions: { cost: 5 }`, others cost 1. What is below a list counts
 * as often as the list has entries, and what is in a fragment as often
 * as the fragment is used. The size of a connection is that of the list
 * in it.
 */
function costOf(args: ExecutionArgs): number {
  const { schema, document, operationName, variableValues } = args
  const operation = getOperationAST(document, operationName)
  const root = operation && schema.getRootType(operation.operation)
  if (!root) return 0
  const { coerced } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    variableValues ?? {},
  )
  // Such a query isn't executed.
  if (coerced === undefined) return 0
  const fragments = document.definitions.filter(
    (node) => node.kind === Kind.FRAGMENT_DEFINITION,
  )
  const known = new Map<string, number>()

  function fragment(name: string, size: number): number {
    const key = `${name} ${size}`
    const found = known.get(key)
    if (found !== undefined) return found
    const node = fragments.find((each) => each.name.value === name)
    const type = node?.typeCondition.name.value ?? ''
    const cost = node ? below(type, node.selectionSet, size) : 0
    known.set(key, cost)
    return cost
  }

  /** @param size entries of a list that doesn't say how many */
  function below(
    type: string,
    { selections }: SelectionSetNode,
    size: number,
  ) {
    let cost = 0
    for (const node of selections) cost += of(type, node, size)
    return Math.min(cost, MOST)
  }

  function of(typeName: string, node: SelectionNode, size: number) {
    if (node.kind === Kind.FRAGMENT_SPREAD)
      return fragment(node.name.value, size)
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const { typeCondition, selectionSet } = node
      const name = typeCondition?.name.value ?? typeName
      return below(name, selectionSet, size)
    }
    const type = schema.getType(typeName)
    if (!isObjectType(type) && !isInterfaceType(type)) return 0
    const found = type.getFields()[node.name.value]
    // `__typename` and the like cost nothing.
    return found === undefined ? 0 : field(found, node, size)
  }

  function field(
    found: GraphQLField<unknown, unknown>,
    node: FieldNode,
    size: number,
  ): number {
    const { cost } = found.extensions
    const own = typeof cost === 'number' ? cost : 1
    if (node.selectionSet === undefined) return own
    const given = getArgumentValues(found, node, coerced)
    const sizes = SIZES.map((name) => Number(given[name] ?? 0))
    const entries = Math.max(...sizes) || size
    const type = getNamedType(found.type).name
    const isList = isListType(getNullableType(found.type))
    const rest = isList
      ? entries * below(type, node.selectionSet, LIST)
      : below(type, node.selectionSet, entries)
    return Math.min(own + rest, MOST)
  }

  return below(root.name, operation.selectionSet, LIST)
}

/**
 * Charges a query what it may cost, and refunds it if it returns no
 * data. A subscription is charged when it starts.
 */
export function useQuota<Operation extends string>(options: {
  readonly quota: Quota<Operation>
  readonly operation: Operation
  readonly subject: (request: Request) => string | null
}): Plugin {
  const { quota, operation, subject: subjectOf } = options

  async function reserve(args: ExecutionArgs) {
    const { request } = args.contextValue as { request: Request }
    const subject = subjectOf(request)
    if (subject === null) throw failure('UNAUTHENTICATED', 401)
    const cost = costOf(args)
    const reserved = await quota.reserve({ subject, operation, cost })
    if (reserved.status !== 'refused') return reserved
    const headers = quotaHeaders(reserved.decision)
    const message = refusalMessage(reserved.decision)
    throw failure('QUOTA_EXCEEDED', 429, message, headers)
  }

  return {
    async onExecute({ args, setResultAndStopExecution: stop }) {
      const reserved = await reserve(args).catch(answered(stop))
      if (reserved === undefined) return undefined
      return {
        async onExecuteDone({ result }) {
          // A stream of results has no data yet: it is charged.
          const failed =
            'data' in result ? result.data == null : 'errors' in result
          await (failed ? reserved.cancel() : reserved.commit())
        },
      }
    },
    async onSubscribe({ args, setResultAndStopExecution: stop }) {
      const reserved = await reserve(args).catch(answered(stop))
      await reserved?.commit()
    },
  }
}

function failure(
  code: string,
  status: number,
  message = 'Sign in first.',
  headers: Record<string, string> = {},
) {
  const http = { status, headers }
  return new GraphQLError(message, { extensions: { code, http } })
}

/** Answers with an error that is meant for the caller. */
function answered(stop: (result: { errors: GraphQLError[] }) => void) {
  return (error: unknown) => {
    if (!(error instanceof GraphQLError)) throw error
    stop({ errors: [error] })
    return undefined
  }
}
