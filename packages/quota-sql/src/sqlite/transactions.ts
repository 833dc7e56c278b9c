import timers from 'node:timers/promises'
import { QuotaError } from '@scoregw/quota'
import { errorText, instantOf } from '@scoregw/quota/internal'
import { type EndedHold, notDone } from '@scoregw/quota/store'
import { type Operation, Queue, readsRows } from '../step/operation.ts'
import { storeError } from '../step/store-error.ts'
import { type ConnectionManner, isBusy, type SqliteFile } from './file.ts'
import type { ParsedSqliteStoreOptions } from './options.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)
const { setTimeout: pause } = timers

/** The pause before a call is repeated because another process writes, in milliseconds. */
const AGAIN_AFTER_MS = 1

/** The dependencies of {@link SqliteTransactions}. */
export interface SqliteTransactionsDeps
  extends Pick<ParsedSqliteStoreOptions, 'clock' | 'db' | 'deadlineMs' | 'synchronous'> {
  readonly file: SqliteFile
  /** Receives the holds that ended in a committed transaction. */
  readonly ended: (holds: readonly EndedHold[]) => void
}

/** A process's calls to a file. While another process writes, they wait without blocking this one. */
export class SqliteTransactions {
  readonly #deps: SqliteTransactionsDeps
  readonly #queue: Queue
  /** The connection's settings outside of the counters' turns. */
  readonly #usual: ConnectionManner
  readonly #ours: ConnectionManner
  /** Whether the counters' settings are the same. */
  readonly #isUsual: boolean

  constructor(deps: SqliteTransactionsDeps) {
    this.#deps = deps
    this.#usual = deps.file.manner()
    // Another writer is waited for with a timer, without blocking the process.
    this.#ours = { busyTimeoutMs: 0, synchronous: deps.synchronous ?? this.#usual.synchronous }
    this.#isUsual = this.#usual.busyTimeoutMs === 0 && deps.synchronous === undefined
    const late = `the SQLite file was not free within ${deps.deadlineMs} ms`
    this.#queue = new Queue({
      deadlineMs: deps.deadlineMs,
      transact: (operations) => this.#turn(operations),
      over: (operations) => {
        // A step runs without a pause, so an unanswered operation was not begun.
        for (const operation of operations) operation.fail(notDone(storeError(late)))
      },
      full: (message) => notDone(storeError(message)),
    })
  }

  /** Answers or fails an operation, within the deadline. */
  add(operation: Operation): void {
    this.#queue.add(operation)
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    return this.#queue.idle()
  }

  /**
   * Runs small work when it has the connection and no other process writes.
   *
   * @throws {QuotaError} `store_error`
   */
  async small<T>(work: () => T): Promise<T> {
    const endsAt = steadyMs() + this.#deps.deadlineMs
    for (;;) {
      try {
        return await this.#inOrder(() => this.#ourWay(work))
      } catch (error) {
        if (!isBusy(error) || steadyMs() >= endsAt) throw failureOf(error)
      }
      await pause(AGAIN_AFTER_MS)
    }
  }

  #inOrder<T>(work: () => T): Promise<T> {
    const { db } = this.#deps
    return db === undefined ? Promise.resolve().then(work) : db.connection().execute(async () => work())
  }

  /** Never rejects. */
  async #turn(operations: readonly Operation[]): Promise<void> {
    while (operations.some(({ isOver }) => !isOver) && !(await this.#tried(operations))) await pause(AGAIN_AFTER_MS)
  }

  /** Whether everything was answered; `false` if another process has the file, and nothing was done. */
  async #tried(operations: readonly Operation[]): Promise<boolean> {
    let isCommitting = false
    const committing = (): void => {
      isCommitting = true
    }
    try {
      await this.#inOrder(() => this.#transact(operations, committing))
    } catch (error) {
      // Also at the commit, which was rolled back: without a write-ahead log, it waits for other processes' readers.
      if (isBusy(error)) return false
      const failure = isCommitting ? failureOf(error) : notDone(failureOf(error))
      for (const operation of operations) operation.fail(failure)
    }
    return true
  }

  #transact(operations: readonly Operation[], committing: () => void): void {
    const { file, clock, ended } = this.#deps
    if (operations.every(({ isOver }) => isOver)) return
    if (operations.every(readsRows)) {
      this.#ourWay(() => file.reading(() => file.read(operations, instantOf(clock))))
      for (const operation of operations) operation.done()
      return
    }
    const holds = this.#ourWay(() => file.whole(() => file.step(operations, instantOf(clock)), committing))
    for (const operation of operations) operation.done()
    ended(holds)
  }

  #ourWay<T>(work: () => T): T {
    const { file } = this.#deps
    if (!this.#isUsual) file.behave(this.#ours)
    try {
      return work()
    } finally {
      if (!this.#isUsual) file.behave(this.#usual)
    }
  }
}

export function failureOf(error: unknown): QuotaError {
  if (error instanceof QuotaError) return error
  if (isBusy(error)) return storeError('another process is writing the SQLite file', error)
  const remedy = /no such (?:table|column)/i.test(errorText(error)) ? ': run the migrations, see migrateQuota()' : ''
  return storeError(`SQLite refused the work${remedy}`, error)
}
