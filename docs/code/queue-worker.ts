import type { Quota } from '@scoregw/quota'

export interface Job {
  readonly id: string
  /** Goes up with every try. */
  readonly attempt: number
  readonly user: string
}

/** What a queue is to do with a job. */
export type Verdict =
  | 'done'
  | 'drop'
  | { readonly retryAfterMs: number }

/**
 * Works on a job under a reservation id, so that one that is delivered
 * twice is worked on, and charged, once. A try that
 * fails gives its tokens back, and its id is used up: the next try has
 * another.
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
  // Another worker has it, or has given it up.
  if (result.decision === undefined) return 'drop'
  return { retryAfterMs: result.decision.retryAfterMs }
}
