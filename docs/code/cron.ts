import type { Quota } from '@scoregw/quota'

/** How a run ended in this process. */
export type Run = 'ran' | 'elsewhere' | 'no budget'

/**
 * Runs a job once per slot of time over all processes, and within a
 * budget. The id names the job and the slot. A run that throws refunds
 * its tokens, but its slot stays used up.
 */
export async function runOnce<Operation extends string>(
  quota: Quota<Operation>,
  job: {
    readonly name: string
    readonly operation: Operation
    /** Tokens of one run. */
    readonly cost: number
    /** How often it is due, in milliseconds. */
    readonly everyMs: number
  },
  /** Epoch milliseconds at which it is due. */
  at: number,
  work: () => Promise<void>,
): Promise<Run> {
  const slot = Math.floor(at / job.everyMs)
  const result = await quota.run(
    {
      subject: `job:${job.name}`,
      operation: job.operation,
      cost: job.cost,
      id: `${job.name}:${slot}`,
    },
    work,
  )
  if (result.allowed) return 'ran'
  return result.status === 'refused' ? 'no budget' : 'elsewhere'
}
