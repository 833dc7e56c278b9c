import { QuotaError } from '../../errors/quota-error.ts'
import type { FactorStore } from '../../store/factor-store.ts'
import { type Answer, isNotDone, notDone, type StoreAbilities } from '../../store/quota-store.ts'
import type { SettingsReader, SettingsStore } from '../../store/settings-store.ts'
import { systemStopwatch } from '../../time/clock.ts'

/**
 * Waits for a result, at most `ms` milliseconds. If a busy process fires the timer late, it first checks whether the
 * result has arrived.
 *
 * @param late receives a result that arrives too late
 * @throws {QuotaError} `store_error` if no result arrived in time; otherwise what `answer` rejects with
 */
function withinTime<T>(answer: Answer<T>, ms: number, late?: (value: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false
    const giveUp = (): void => {
      isOver = true
      reject(new QuotaError('store_error', `no answer within ${Math.round(ms)} ms`))
    }
    let timer = setTimeout(() => {
      timer = setTimeout(giveUp)
    }, ms)
    // `Promise.resolve` also unwraps a result that is itself a thenable, which `answer.then` would not.
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
 * The deadline of calls. Waiting for the stores' first connections doesn't count, because they have their own limits.
 */
export class CallDeadline {
  readonly ms: number
  readonly #stores: readonly OpeningStore[]
  #isOpen = false
  /** When the last call that waited for first connections stopped waiting, by the system stopwatch. */
  #openedAt = Number.NEGATIVE_INFINITY

  constructor(ms: number, stores: readonly OpeningStore[] = []) {
    this.ms = ms
    this.#stores = stores
  }

  /**
   * Waits for a result until the deadline, like {@link withinTime}.
   *
   * @param startedAt when the caller started to wait, by the system stopwatch
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

/** The failed store, for messages. */
export type StoreName = 'the quota store' | 'the settings store'

/** Converts a store's error to `quota_unavailable`, with its cause. */
export function unavailable(cause: unknown, of: StoreName = 'the quota store'): QuotaError {
  if (cause instanceof QuotaError && cause.code === 'quota_unavailable') return cause
  const error = new QuotaError('quota_unavailable', `${of} did not answer${reasonOf(cause)}`, { cause })
  return isNotDone(cause) ? notDone(error) : error
}

/** The error if all stores are synchronous, but the counters have settings that the engine can't read. */
export function otherSettings(): QuotaError {
  return new QuotaError('store_error', 'a synchronous store replied that it knows other settings')
}

/** Returns the message of this library's errors. Messages of drivers may contain addresses and credentials. */
function reasonOf(cause: unknown): string {
  return cause instanceof QuotaError ? `: ${cause.message}` : ''
}

/** Calls an asynchronous store. Errors become `quota_unavailable`. */
async function callLater<T>(call: () => PromiseLike<T> | T, of?: StoreName): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw unavailable(error, of)
  }
}

// How often the engine retries when others change what it uses. The bounds are small because a caller waits. Settings
// and clocks change at most once per second, so reaching a bound indicates a fault.

/**
 * Stale replies in a row because the store's clock is outside the periods, or for holds because the settings changed.
 */
export const MAX_STALE = 3

/** How often one take reads settings that keep changing. */
export const MAX_CATCH_UPS = 3

/** Attempts of a write without `ifVersion` while other administrators write. */
export const MAX_WRITES = 10

/** The error of a policy or a request that needs more than its store supports. It ends with the store's remedy. */
export function unsupported(
  code: 'store_unsupported' | 'holds_unsupported',
  what: string,
  { remedy = 'docs/guide/stores.md lists what each store supports' }: StoreAbilities = {},
): QuotaError {
  return new QuotaError(code, `${what}; ${remedy}`)
}

/**
 * An operation of the engine, written once for synchronous and asynchronous stores. It yields each promise to await,
 * and resumes with its value. With stores that declare `sync`, it yields nothing.
 */
export type Task<T> = Generator<PromiseLike<unknown>, T, unknown>

/** Runs a task: {@link runSync} or {@link runAsync}. */
export type Run = <T>(task: Task<T>) => Answer<T>

/** Runs a task with synchronous stores. */
export function runSync<T>(task: Task<T>): T {
  const step = task.next()
  if (step.done !== true) throw new TypeError('a store that declares `sync` returned a promise')
  return step.value
}

/** Runs a task, and awaits what it yields. The part before the first `yield` runs synchronously. */
export async function runAsync<T>(task: Task<T>): Promise<T> {
  let step = task.next()
  while (step.done !== true) {
    let value: unknown
    try {
      value = await step.value
    } catch (error) {
      step = task.throw(error)
      continue
    }
    step = task.next(value)
  }
  return step.value
}

/** Returns the value of an answer: directly from a synchronous store, otherwise awaited. */
export function* answered<T>(sync: boolean, answer: Answer<T>): Task<T> {
  return sync ? (answer as T) : ((yield answer as PromiseLike<T>) as T)
}

/** Wraps a settings store with a deadline. Errors become `quota_unavailable`. */
export function settingsInTime(store: SettingsStore, deadline: CallDeadline): SettingsStore {
  // A synchronous reply can't be late.
  if (store.sync) return store
  const inTime = <T>(call: () => PromiseLike<T>): Promise<T> => settingsAnswer(call, deadline)
  return {
    sync: false,
    isMarked: store.isMarked,
    read: () => inTime(() => store.read()),
    write: (document, options) => inTime(() => store.write(document, options)),
    readSubject: (layer, key) => inTime(() => store.readSubject(layer, key)),
    writeSubject: (layer, key, document, options) => inTime(() => store.writeSubject(layer, key, document, options)),
    ...(store.inTransaction && {
      inTransaction: (transaction) => readerInTime(store.inTransaction!(transaction), deadline.ms),
    }),
    watch: (listener) => store.watch(listener),
    reannounce: (revision, seen) => inTime(async () => store.reannounce?.(revision, seen)),
    close: () => store.close?.(),
  }
}

/** Wraps a transaction's reader. It doesn't wait for a connection, because the transaction has one. */
function readerInTime(reader: SettingsReader, deadlineMs: number): SettingsReader {
  const deadline = new CallDeadline(deadlineMs)
  return {
    read: () => settingsAnswer(() => reader.read(), deadline),
    readSubject: (layer, key) => settingsAnswer(() => reader.readSubject(layer, key), deadline),
  }
}

function settingsAnswer<T>(call: () => PromiseLike<T>, deadline: CallDeadline): Promise<T> {
  return callLater(() => deadline.within(call(), systemStopwatch()), 'the settings store')
}

/** Wraps a factor store with a deadline for reads. */
export function factorInTime(store: FactorStore, deadline: CallDeadline): FactorStore {
  if (store.sync) return store
  return {
    sync: false,
    read: () => deadline.within(store.read(), systemStopwatch()),
    compareAndSet: (expectedVersion, minute, state) => store.compareAndSet(expectedVersion, minute, state),
    watch: (listener) => store.watch(listener),
    close: () => store.close?.(),
  }
}
