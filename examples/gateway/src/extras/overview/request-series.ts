import type { OutcomeRecorder, OutcomeStore } from '@scoregw/quota/adaptive'
import type * as z from 'zod'
import { type BucketRange, bucketsOf } from '../../usage/failure-rate.ts'
import type { requestStep } from './documents.ts'

/** How the requests of one step of time ended, over all processes. */
export type RequestStep = z.output<typeof requestStep>

/** How requests ended in the steps of a range, the oldest first; those of this process are written first. */
export async function requestSeries(
  { outcomes, recorder }: { readonly outcomes: OutcomeStore; readonly recorder: Pick<OutcomeRecorder, 'flush'> },
  range: BucketRange,
): Promise<RequestStep[]> {
  await recorder.flush()
  const { bucketMinutes, fromMinute } = range
  const stored = await outcomes.read(fromMinute, range.toMinute)
  const refused = new Map<number, number>()
  for (const each of stored) {
    const step = Math.floor((each.minute - fromMinute) / bucketMinutes)
    refused.set(step, (refused.get(step) ?? 0) + each.refused)
  }
  return bucketsOf(range, stored).map(({ ts, calls, clientError, serverError, businessFail }, step) => {
    const byLimit = refused.get(step) ?? 0
    return {
      ts,
      calls,
      succeeded: calls - clientError - serverError - businessFail,
      refused: byLimit,
      clientError: clientError - byLimit + businessFail,
      serverError,
    }
  })
}
