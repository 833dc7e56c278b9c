import type { Answer } from '../../store/answer.ts'
import { withinTime } from './time-limit.ts'

/** How one step follows another: at once, or when the answer to the first one arrives. Which, is what stores declare. */
export interface Driver {
  /** Whether answers are values. */
  readonly sync: boolean
  chain<A, B>(answer: Answer<A>, next: (value: A) => Answer<B>): Answer<B>
  /** Calls and goes on with `next`, or with `failed` where the call throws or rejects; what these throw is thrown. */
  guard<A, B>(call: () => Answer<A>, next: (value: A) => Answer<B>, failed: (error: unknown) => Answer<B>): Answer<B>
  /**
   * @param late called with an answer that came after so many milliseconds
   * @throws {QuotaError} `store_error` when there was no answer in time
   */
  inTime<A>(call: () => Answer<A>, ms: number, late?: (value: A) => void): Answer<A>
}

/** Of stores that answer at once: no answer can be late. */
export const NOW: Driver = {
  sync: true,
  chain: (answer, next) => next(answer as never),
  guard(call, next, failed) {
    let value: unknown
    try {
      value = call()
    } catch (error) {
      return failed(error)
    }
    return next(value as never)
  },
  inTime: (call) => call(),
}

/** Of stores that answer later. */
export const LATER: Driver = {
  sync: false,
  chain: (answer, next) => Promise.resolve(answer).then(next),
  guard(call, next, failed) {
    try {
      return Promise.resolve(call()).then(next, failed)
    } catch (error) {
      return failed(error)
    }
  },
  inTime: (call, ms, late) => withinTime(call(), ms, late),
}

/** How a call hands out what came of it: as it is, or as a promise. */
export type Answering = <T>(call: () => Answer<T>) => Promise<T>

/** As it is: what a store answers at once is a value, whatever its type says. */
export const direct: Answering = ((call: () => unknown) => call()) as Answering

/** An answer as a promise, whatever the driver; what the call throws rejects it. */
export function promised<T>(call: () => Answer<T>): Promise<T> {
  try {
    return Promise.resolve(call())
  } catch (error) {
    return Promise.reject(error)
  }
}
