import type { Counting, QuotaLogger } from '@scoregw/quota'

/** The caller, and how long a hold outlives its process. `Call` is the argument of the functions. */
export interface CallOptions<Call, C extends Counting> {
  /**
   * The caller: a user, a session, one key for each layer of the policy; or a function of the call.
   * @example (extra) => ({ user: extra.authInfo?.clientId ?? 'anonymous', session: extra.sessionId ?? 'stdio' })
   */
  readonly subject: C['names']['subject'] | ((call: Call) => C['names']['subject'] | PromiseLike<C['names']['subject']>)
  /** The subject's plan, or a function of the call. */
  readonly plan?: C['names']['plan'] | ((call: Call) => C['names']['plan'] | undefined) | undefined
  /**
   * How long the tokens and slots of a process that died, or of a session that ended under a tool which does not end, are
   * kept, in milliseconds.
   * @default 60_000
   */
  readonly ttlMs?: number | undefined
  /**
   * Receives charges that could not be settled, such as a `QuotaError` of a store that is away; `false` silences it.
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
}

/** The subject, plan and time of a call, as the options have them. */
export async function optionsOfCall<Call, C extends Counting>(
  { subject, plan, ttlMs = 60_000 }: CallOptions<Call, C>,
  call: Call,
): Promise<{ subject: C['names']['subject']; plan: C['names']['plan'] | undefined; ttlMs: number }> {
  return {
    subject: typeof subject === 'function' ? await subject(call) : subject,
    plan: typeof plan === 'function' ? plan(call) : plan,
    ttlMs,
  }
}
