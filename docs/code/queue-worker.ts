import type { Quota } from '@scoregw/quota'

export interface Job {
  readonly id: string
  /** Goes up with every try. */
  readonly attempt: number
  readonly user: string
}

/** What the queue should do with a job; `never`: it can never run. */
export type Verdict =
  | 'done'
  | 'drop'
  | 'never'
  | { readonly retryAfterMs: number }

/**
 * Runs a job under a reservation id. A job that is delivered twice runs,
 * and is charged, once. A failed attempt refunds its tokens and uses up
 * its id: the next attempt has another.
 */
export async function handleJob<Operation extends string>(
  quota: Quota<Operation>,
  operation: Operation,
  { id, attempt, user }: Job,
  work: () => Promise<void>,
): Promise<Verdict> {
  const result = await quota.run(
    { subject: user, operation, id: `job:${id}:${attempt}` },
    work,
  )
  if (result.allowed) return 'done'
  // Another worker runs it, or has cancelled it.
  if (result.decision === undefined) return 'drop'
  const { retryAfterMs } = result.decision
  // Waiting doesn't help if the job costs more than a limit.
  return retryAfterMs === null ? 'never' : { retryAfterMs }
}
