/**
 * Guards the tools of an MCP server.
 *
 * @module
 */
import type { Counting, HeldReservation, OneUnit, Quota, RefusedDecision } from '@scoregw/quota'
import { isoText, type Locale, operationOf, refusalMessage } from '@scoregw/quota/http'
import { type CallOptions, optionsOfCall } from './call-options.ts'
import { settleOrLog } from './settle.ts'

/** What a guard reads of a call: the SDK's `RequestHandlerExtra`. */
export interface ToolCallExtra {
  /** Aborted when the client cancels the call, or its session ends. */
  readonly signal: AbortSignal
  /** Over HTTP. */
  readonly sessionId?: string | undefined
  readonly authInfo?:
    | { readonly clientId: string; readonly extra?: Readonly<Record<string, unknown>> | undefined }
    | undefined
}

/** The options of {@link quotaMcp}. */
export interface QuotaMcpOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends CallOptions<ToolCallExtra, C> {
  /** Its operations are the tools, each at its price. */
  readonly quota: Quota<Operation, C>
  /**
   * The outcome of a call whose tool throws, or answers `isError`: `cancel` gives it back, `commit` charges it.
   * @default 'cancel'
   */
  readonly failedAs?: 'cancel' | 'commit' | undefined
  /**
   * The language of refusals.
   * @default 'en'
   */
  readonly locale?: Locale | undefined
}

/** The result of a call that a quota refuses: an error that a model reads. */
export interface RefusedToolResult {
  [key: string]: unknown
  isError: true
  content: { type: 'text'; text: string }[]
  /** For programs: the same in numbers. */
  _meta: { 'scoregw/quota': { retryable: boolean; retryAfterSeconds: number; resetAt: string } }
}

/**
 * Makes what guards tools: each call holds the price of its operation, and a slot where the policy limits how many run
 * together, while the tool works.
 *
 * @returns wraps the callback of a tool; {@link holdOf} its last argument is the hold
 * @throws {QuotaError} `unknown_operation`, when a tool is wrapped
 * @example
 * const metered = quotaMcp({ quota, subject: ({ sessionId }) => sessionId ?? 'stdio' })
 * server.registerTool('search', { inputSchema: { text: z.string() } }, metered('search', async ({ text }) => find(text)))
 */
export function quotaMcp<Operation extends string, C extends Counting>(
  options: QuotaMcpOptions<Operation, C>,
): ToolGuard<Operation> {
  const { quota, failedAs = 'cancel', locale = 'en' } = options
  return (operation, tool) => {
    operationOf(quota.policy, operation)
    return async (...args) => {
      const extra = args.at(-1) as ToolCallExtra
      const hold = await quota.reserve({ ...(await optionsOfCall(options, extra)), operation })
      // Without an id there is no other answer than admitted or refused.
      if (hold.status !== 'reserved') return refusedResult(hold.decision as RefusedDecision, locale)
      holds.set(extra, hold as HeldReservation<Counting>)
      const stop = hold.keepAlive()
      // A tool that gets no notice of the end of its session keeps nothing longer than that.
      if (extra.signal.aborted) stop()
      extra.signal.addEventListener('abort', stop, { once: true })
      let isCharged = failedAs === 'commit'
      try {
        const result = await tool(...args)
        isCharged ||= (result as { readonly isError?: boolean }).isError !== true
        return result
      } finally {
        stop()
        extra.signal.removeEventListener('abort', stop)
        await settleOrLog(() => (isCharged ? hold.commit() : hold.cancel()), options.logger)
      }
    }
  }
}

/** Wraps the callback of a tool, which is an operation of the policy. */
export type ToolGuard<Operation extends string = string> = <
  Args extends readonly unknown[] = [ToolCallExtra],
  Result extends object = object,
>(
  operation: Operation,
  tool: (...args: Args) => Result | PromiseLike<Result>,
) => (...args: Args) => Promise<Result | RefusedToolResult>

const holds = /* @__PURE__ */ new WeakMap<object, HeldReservation<Counting>>()

/**
 * The hold of a guarded call, for tools that know what they cost: `holdOf(extra)?.commit(40)`. `undefined`: the call is not
 * guarded.
 */
export function holdOf<C extends Counting = OneUnit>(extra: ToolCallExtra): HeldReservation<C> | undefined {
  return holds.get(extra) as HeldReservation<C> | undefined
}

function refusedResult(decision: RefusedDecision, locale: Locale): RefusedToolResult {
  const { retryable, retryAfterSeconds, resetAt } = decision
  const advice = retryable
    ? `Do not call this tool again before ${isoText(resetAt)}.`
    : 'Do not call this tool again like this: waiting will not help.'
  return {
    isError: true,
    content: [{ type: 'text', text: `${refusalMessage(decision, { locale })} ${advice}` }],
    _meta: { 'scoregw/quota': { retryable, retryAfterSeconds, resetAt: isoText(resetAt) } },
  }
}
