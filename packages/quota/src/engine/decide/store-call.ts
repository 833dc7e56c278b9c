import { QuotaError } from '../../errors/quota-error.ts'
import { type Answer, isNotDone, notDone } from '../../store/quota-store.ts'
import { systemStopwatch } from '../../time/clock.ts'

/**
 * Waits for an answer, `ms` milliseconds at most. A timer that fires late, because the process was busy, is judged after
 * one more look at what has arrived meanwhile.
 *
 * @param late receives an answer that came after the limit
 * @throws {QuotaError} `store_error` when there was no answer in time; else what `answer` rejects with
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
 * The deadline of calls. It counts from the first connections of the stores on, which have limits of their own. The answer
 * that waited for them has the deadline for itself.
 */
export class CallDeadline {
  readonly ms: number
  readonly #stores: readonly OpeningStore[]
  #isOpen = false
  /** When the answer came that waited for first connections, by the machine's stopwatch. */
  #openedAt = Number.NEGATIVE_INFINITY

  constructor(ms: number, stores: readonly OpeningStore[] = []) {
    this.ms = ms
    this.#stores = stores
  }

  /**
   * Waits for an answer as {@link withinTime} does, until the deadline.
   *
   * @param startedAt since when the caller waits, by the machine's stopwatch
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

/** What was asked when something went wrong, as people read it. */
export type StoreName = 'the quota store' | 'the settings store'

/** The error of a store as callers see it: never a refusal, and it names the cause. */
export function unavailable(cause: unknown, asked: StoreName = 'the quota store'): QuotaError {
  if (cause instanceof QuotaError && cause.code === 'quota_unavailable') return cause
  const error = new QuotaError('quota_unavailable', `${asked} did not answer${reasonOf(cause)}`, { cause })
  return isNotDone(cause) ? notDone(error) : error
}

/** The error where all stores are synchronous, and the counters know settings that the engine cannot read. */
export function otherSettings(): QuotaError {
  return new QuotaError('store_error', 'a synchronous store replied that it knows other settings')
}

/** Errors of this library are safe to be read by anybody; those of drivers may hold addresses and more. */
function reasonOf(cause: unknown): string {
  return cause instanceof QuotaError ? `: ${cause.message}` : ''
}

/** Asks a store that answers later; its errors become `quota_unavailable`. */
export async function callLater<T>(ask: () => PromiseLike<T> | T, asked?: StoreName): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw unavailable(error, asked)
  }
}

// How often the engine calls a store again when others change what it uses. Each bound is small, since a caller waits: the
// settings and clocks behind it change once a second at the most, so that reaching it means a fault.

/** Calls in a row whose answer is stale, since the store's clock is outside of the periods, or (of holds) the settings changed. */
export const MAX_STALE = 3

/** How often one take reads settings that had changed again when they were read. */
export const MAX_CATCH_UPS = 3

/** Writes of settings without `ifVersion` that find another writer's document: many administrators may write at once. */
export const MAX_WRITES = 10
