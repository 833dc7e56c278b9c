import type { Counting, QuotaLogger } from '@scoregw/quota'

/** Who calls, and how long a hold outlives its process. `Call` is the argument of the functions. */
export interface CallOptions<Call, C extends Counting> {
  /**
   * The caller: a user, a session, or an object with a key per layer; or a function that returns it.
   *
   * @example (extra) => ({ user: extra.authInfo?.clientId ?? 'anonymous', session: extra.sessionId ?? 'stdio' })
   */
  readonly subject: C['names']['subject'] | ((call: Call) => C['names']['subject'] | PromiseLike<C['names']['subject']>)
  /** The subject's plan, or a function that returns it. */
  readonly plan?: C['names']['plan'] | ((call: Call) => C['names']['plan'] | undefined) | undefined
  /**
   * How long tokens and slots stay held after a process crashes, or after a session ends while its tool runs on. In
   * milliseconds.
   *
   * @default 60_000
   */
  readonly ttlMs?: number | undefined
  /**
   * Receives errors of charges that could not be settled, for example because the store is unavailable. `false`: no
   * logs.
   *
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
}

/** Returns subject, plan and hold lifetime for a call. */
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
