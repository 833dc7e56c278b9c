import { QuotaError } from '../../errors/quota-error.ts'
import { type Answer, isNotDone, notDone } from '../../store/quota-store.ts'

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

/** What was asked when something went wrong, as people read it. */
export type Asked = 'the quota store' | 'the settings store'

/** The error of a store as callers see it: never a refusal, and it names the cause. */
export function unavailable(cause: unknown, asked: Asked = 'the quota store'): QuotaError {
  if (cause instanceof QuotaError && cause.code === 'quota_unavailable') return cause
  const error = new QuotaError('quota_unavailable', `${asked} did not answer${reasonOf(cause)}`, { cause })
  return isNotDone(cause) ? notDone(error) : error
}

/** Errors of this library are safe to be read by anybody; those of drivers may hold addresses and more. */
function reasonOf(cause: unknown): string {
  return cause instanceof QuotaError ? `: ${cause.message}` : ''
}

/** Asks a store that answers later; its errors become `quota_unavailable`. */
export async function askLater<T>(ask: () => PromiseLike<T> | T, asked?: Asked): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw unavailable(error, asked)
  }
}

// How often the engine calls a store again when others change what it goes by. Each bound is small, since a caller waits: the
// settings and clocks behind it change once a second at the most, so that reaching it means a fault.

/** Calls in a row whose answer is stale, since the store's clock is outside of the periods, or (of holds) the settings changed. */
export const MAX_STALE = 3

/** How often one take reads settings that had changed again when they were read. */
export const MAX_CATCH_UPS = 3

/** Writes of settings without `ifVersion` that find another writer's document: many administrators may write at once. */
export const MAX_WRITES = 10
