/**
 * Guards the tools of an MCP server.
 *
 * @module
 */
import type { Counting, HeldReservation, OneUnit, Quota, RefusedDecision } from '@scoregw/quota'
import { type Locale, refusalMessage } from '@scoregw/quota/http'
import { isoText, onAbort, operationOf } from '@scoregw/quota/internal'
import { type CallOptions, checkCaller, optionsOfCall } from './call-options.ts'
import { settleOrLog } from './settle.ts'

/** The members of a tool call that a guard reads, from the SDK's `RequestHandlerExtra`. */
export interface ToolCallExtra {
  /** Aborts when the client cancels the call or its session ends. */
  readonly signal: AbortSignal
  /** Present over HTTP with sessions. Over stdio and stateless HTTP there is none. */
  readonly sessionId?: string | undefined
  readonly authInfo?:
    | { readonly clientId: string; readonly extra?: Readonly<Record<string, unknown>> | undefined }
    | undefined
}

/** The options of {@link quotaMcp}. */
export interface QuotaMcpOptions<Operation extends string = string, C extends Counting = OneUnit>
  extends CallOptions<ToolCallExtra, C> {
  /** The engine. Each tool is an operation with its own price. */
  readonly quota: Quota<Operation, C>
  /**
   * How to settle a call whose tool throws or returns `isError`: refund it (`cancel`) or charge it (`commit`).
   *
   * @default 'cancel'
   */
  readonly failedAs?: 'cancel' | 'commit' | undefined
  /**
   * The language of refusals.
   *
   * @default 'en'
   */
  readonly locale?: Locale | undefined
}

/** The result of a refused tool call: an error message for the model. */
export interface RefusedToolResult {
  [key: string]: unknown
  isError: true
  content: { type: 'text'; text: string }[]
  /** The same in numbers, for programs. `retryAfterSeconds` is `null` where waiting can't help. */
  _meta: { 'scoregw/quota': { retryable: boolean; retryAfterSeconds: number | null; resetAt: string } }
}

/**
 * Makes a guard for tools. While a tool runs, its call holds the operation's price, and a slot if the policy limits
 * concurrency.
 *
 * @returns wraps the callback of a tool; {@link holdOf} its last argument is the hold
 * @throws {QuotaError} `unknown_operation`, when a tool is wrapped
 * @example
 * const metered = quotaMcp({ quota, subject: ({ authInfo }) => String(authInfo?.extra?.userId ?? 'anonymous') })
 * server.registerTool('search', { inputSchema: { text: z.string() } }, metered('search', async ({ text }) => find(text)))
 */
export function quotaMcp<Operation extends string, C extends Counting>(
  options: QuotaMcpOptions<Operation, C>,
): ToolGuard<Operation> {
  const { quota, failedAs = 'cancel', locale = 'en' } = options
  checkCaller(options)
  return (operation, tool) => {
    operationOf(quota.policy, operation)
    return async (...args) => {
      const extra = args.at(-1) as ToolCallExtra
      const hold = await quota.reserve({ ...(await optionsOfCall(options, extra)), operation })
      // Without an id, a reservation is either held or refused.
      if (hold.status !== 'reserved') return refusedResult(hold.decision as RefusedDecision, locale)
      holds.set(extra, hold as HeldReservation<Counting>)
      const stop = hold.keepAlive()
      // The session may have ended before the listener was added.
      if (extra.signal.aborted) stop()
      const ignore = onAbort(extra.signal, stop)
      let isCharged = failedAs === 'commit'
      try {
        const result = await tool(...args)
        isCharged ||= (result as { readonly isError?: boolean }).isError !== true
        return result
      } finally {
        stop()
        ignore()
        await settleOrLog(() => (isCharged ? hold.commit() : hold.cancel()), options.logger)
      }
    }
  }
}

/** Wraps the callback of a tool. The tool is an operation of the policy. */
export type ToolGuard<Operation extends string = string> = <
  Args extends readonly unknown[] = [ToolCallExtra],
  Result extends object = object,
>(
  operation: Operation,
  tool: (...args: Args) => Result | PromiseLike<Result>,
) => (...args: Args) => Promise<Result | RefusedToolResult>

const holds = /* @__PURE__ */ new WeakMap<object, HeldReservation<Counting>>()

/**
 * Returns the hold of a guarded call, for tools that know their actual cost: `holdOf(extra)?.commit(40)`. `undefined`:
 * the call isn't guarded.
 */
export function holdOf<C extends Counting = OneUnit>(extra: ToolCallExtra): HeldReservation<C> | undefined {
  return holds.get(extra) as HeldReservation<C> | undefined
}

function refusedResult(decision: RefusedDecision, locale: Locale): RefusedToolResult {
  const { retryable, resetAt, retryAfterSeconds } = decision
  const advice = retryable
    ? `Do not call this tool again before ${isoText(resetAt)}.`
    : 'Do not call this tool again like this: waiting will not help.'
  return {
    isError: true,
    content: [{ type: 'text', text: `${refusalMessage(decision, { locale })} ${advice}` }],
    _meta: { 'scoregw/quota': { retryable, retryAfterSeconds, resetAt: isoText(resetAt) } },
  }
}
