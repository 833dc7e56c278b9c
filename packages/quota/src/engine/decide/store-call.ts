import { QuotaError } from '../../errors/quota-error.ts'
import { type Answer, isNotDone, notDone } from '../../store/quota-store.ts'
import { systemStopwatch } from '../../time/clock.ts'

/**
 * Waits for an answer, at most `ms` milliseconds. If the process was busy and the timer fires late, it first checks
 * whether the answer has arrived.
 *
 * @param late receives an answer that arrived too late
 * @throws {QuotaError} `store_error` if there was no answer in time; otherwise what `answer` rejects with
 */
function withinTime<T>(answer: Answer<T>, ms: number, late?: (value: T) => void): Promise<T> {
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

/** A store that may still be making its first connection. */
interface OpeningStore {
  readonly opening?: PromiseLike<void> | undefined
}

/**
 * The deadline of calls. It starts after the stores' first connections, which have limits of their own. A call that
 * waited for them has its whole deadline left.
 */
export class CallDeadline {
  readonly ms: number
  readonly #stores: readonly OpeningStore[]
  #isOpen = false
  /** When the call ended that waited for first connections, by the machine's stopwatch. */
  #openedAt = Number.NEGATIVE_INFINITY

  constructor(ms: number, stores: readonly OpeningStore[] = []) {
    this.ms = ms
    this.#stores = stores
  }

  /**
   * Waits for an answer until the deadline, like {@link withinTime}.
   *
   * @param startedAt when the caller began to wait, by the machine's stopwatch
   */
  within<T>(answer: Answer<T>, startedAt: number, late?: (value: T) => void): Promise<T> {
    const opening = this.#opening()
    if (opening !== undefined) return this.#withinOpened(answer, opening, late)
    const passedMs = systemStopwatch() - Math.max(startedAt, this.#openedAt)
    return withinTime(answer, Math.max(0, this.ms - passedMs), late)
  }

  async #withinOpened<T>(answer: Answer<T>, opening: Promise<unknown>, late?: (value: T) => void): Promise<T> {
    await Promise.race([answer, opening])
    const value = await withinTime(answer, this.ms, late)
    this.#openedAt = systemStopwatch()
    return value
  }

  #opening(): Promise<unknown> | undefined {
    if (this.#isOpen) return undefined
    const openings = this.#stores.flatMap(({ opening }) => (opening === undefined ? [] : [opening]))
    this.#isOpen = openings.length === 0
    return this.#isOpen ? undefined : Promise.all(openings)
  }
}

/** The store that failed, as people read it. */
export type StoreName = 'the quota store' | 'the settings store'

/** A store's error as callers see it. It is never a refusal, and it names the cause. */
export function unavailable(cause: unknown, asked: StoreName = 'the quota store'): QuotaError {
  if (cause instanceof QuotaError && cause.code === 'quota_unavailable') return cause
  const error = new QuotaError('quota_unavailable', `${asked} did not answer${reasonOf(cause)}`, { cause })
  return isNotDone(cause) ? notDone(error) : error
}

/** The error if all stores are synchronous, and the counters know settings that the engine cannot read. */
export function otherSettings(): QuotaError {
  return new QuotaError('store_error', 'a synchronous store replied that it knows other settings')
}

/** Errors of this library are safe to show. Errors of drivers may contain addresses and credentials. */
function reasonOf(cause: unknown): string {
  return cause instanceof QuotaError ? `: ${cause.message}` : ''
}

/** Calls an asynchronous store. Its errors become `quota_unavailable`. */
export async function callLater<T>(ask: () => PromiseLike<T> | T, asked?: StoreName): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw unavailable(error, asked)
  }
}

// How often the engine calls a store again when others change what it uses. Each bound is small, since a caller waits: the
// settings and clocks behind it change once a second at the most, so that reaching it means a fault.

/** Stale replies in a row, because the store's clock is outside the periods or, for holds, the settings changed. */
export const MAX_STALE = 3

/** How often one take reads settings that have changed again meanwhile. */
export const MAX_CATCH_UPS = 3

/** Attempts of a write without `ifVersion`, if other administrators write at the same time. */
export const MAX_WRITES = 10
