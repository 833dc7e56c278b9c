import { type Counting, QuotaError, type QuotaLogger, type QuotaRequest } from '@scoregw/quota'

type Limits<C extends Counting> = NonNullable<QuotaRequest<string, C>['limits']>
type MaybeAsync<T> = T | PromiseLike<T>

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
   * Numbers of the subject's own limits from your data, by name, or a function that returns them; `undefined` and
   * `null`: none.
   */
  readonly limits?: Limits<C> | ((call: Call) => MaybeAsync<Limits<C> | null | undefined>) | undefined
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

/** @throws {QuotaError} `invalid_options` if the options don't say whose calls they are */
export function checkCaller({ subject }: { readonly subject?: unknown }): void {
  if (subject !== undefined) return
  throw new QuotaError(
    'invalid_options',
    'subject: missing; expected the caller, or a function of the call that returns it',
  )
}

/** Returns subject, plan, limits and hold lifetime for a call. */
export async function optionsOfCall<Call, C extends Counting>(
  { subject, plan, limits, ttlMs = 60_000 }: CallOptions<Call, C>,
  call: Call,
): Promise<Pick<QuotaRequest<string, C>, 'subject' | 'plan' | 'limits'> & { readonly ttlMs: number }> {
  const numbers = typeof limits === 'function' ? await limits(call) : limits
  return {
    limits: numbers ?? undefined,
    subject: typeof subject === 'function' ? await subject(call) : subject,
    plan: typeof plan === 'function' ? plan(call) : plan,
    ttlMs,
  }
}
