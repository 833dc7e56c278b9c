import type { Answer } from '../../store/answer.ts'
import { withinTime } from './time-limit.ts'

/** How one step follows another: at once, or when what the first one asked is there. */
export interface Steps {
  /** Whether answers are here at once. */
  readonly sync: boolean
  then<A, B>(answer: Answer<A>, next: (value: A) => Answer<B>): Answer<B>
  /** The same, and what comes of it where there is no answer. */
  ask<A, B>(ask: () => Answer<A>, next: (value: A) => Answer<B>, failed: (error: unknown) => Answer<B>): Answer<B>
  /** @param late hears of an answer that came after so many milliseconds, in place of which there was an error */
  inTime<A>(ask: () => Answer<A>, ms: number, late?: (value: A) => void): Answer<A>
}

export const NOW: Steps = {
  sync: true,
  then: (answer, next) => next(answer as never),
  ask(ask, next, failed) {
    let value: unknown
    try {
      value = ask()
    } catch (error) {
      return failed(error)
    }
    return next(value as never)
  },
  inTime: (ask) => ask(),
}

export const LATER: Steps = {
  sync: false,
  then: (answer, next) => Promise.resolve(answer).then(next),
  ask(ask, next, failed) {
    try {
      return Promise.resolve(ask()).then(next, failed)
    } catch (error) {
      return failed(error)
    }
  },
  inTime: (ask, ms, late) => withinTime(ask(), ms, late),
}

/** For those who wait, whichever way it is answered. */
export function promised<T>(ask: () => Answer<T>): Promise<T> {
  try {
    return Promise.resolve(ask())
  } catch (error) {
    return Promise.reject(error)
  }
}
