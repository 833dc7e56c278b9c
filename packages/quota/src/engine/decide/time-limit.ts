import { QuotaError } from '../../errors/quota-error.ts'
import type { Answer } from '../../store/answer.ts'

/**
 * Waits for an answer, `ms` milliseconds at most. A timer that fires late, because the process was busy, is judged after
 * one more look at what has arrived meanwhile.
 *
 * @param late hears of an answer that came after the limit
 * @throws {QuotaError} `store_error` when there was no answer in time; else what `answer` rejects with
 */
export function withinTime<T>(answer: Answer<T>, ms: number, late?: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const giveUp = (): void => {
      isOver = true
      reject(new QuotaError('store_error', `no answer within ${ms} ms`))
    }
    let timer = setTimeout(() => {
      timer = setTimeout(giveUp)
    }, ms)
    // Not by a `then` of its own: what that gives may be something to wait for in its turn.
    Promise.resolve(answer).then(
      (value) => {
        clearTimeout(timer)
        if (isOver) late?.(value)
        else resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
