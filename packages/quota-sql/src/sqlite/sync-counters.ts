import type { Clock } from '@scoregw/quota'
import type {
  EndedHold,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  StoreSchema,
  SweepReply,
  SyncCounters,
  SyncHolds,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import { operationOf, type Work } from '../step/operation.ts'
import { endWork, Works } from '../step/works.ts'
import type { SqliteFile } from './file.ts'
import { failureOf, instant, stepped } from './turns.ts'

/** Holds that are settled in one transaction. */
const SWEPT_AT_ONCE = 32
/** Most ended holds that are remembered until somebody asks. */
const MAX_ENDED = 1_000
/** One call in so many forgets a little of what has ended, and settles the holds that are due. */
const CALLS_PER_STEP = 64
const FORGOTTEN_AT_ONCE = 8

/** Counters whose every call is a transaction. What it answers is an answer: nobody waits too long for it. */
export class SyncSqliteCounters implements SyncCounters {
  readonly holds: SyncHolds
  readonly #file: SqliteFile
  readonly #clock: Clock
  readonly #works: Works
  #ended: EndedHold[] = []
  #calls = 0

  constructor(file: SqliteFile, clock: Clock, schema: StoreSchema) {
    this.#file = file
    this.#clock = clock
    const never = (): void => undefined
    this.#works = new Works(schema, file.layouts, { settle: never, cancel: never })
    this.holds = {
      extend: (request) => this.#do(this.#works.extend(request)),
      grow: (request) => this.#do(this.#works.grow(request)),
      settle: (request) => this.#do(this.#works.settleHold(request)),
      list: (request) => this.#do(this.#works.list(request)),
      sweep: () => this.#sweep(),
    }
  }

  take(request: TakeRequest): TakeReply {
    this.#calls++
    if (this.#calls % CALLS_PER_STEP === 0) this.#chores()
    return this.#do(this.#works.take(request))
  }

  read(request: ReadRequest): ReadReply {
    return this.#do(this.#works.read(request))
  }

  settle(request: SettleRequest): void {
    this.#do(this.#works.settle(request))
  }

  reset(request: ResetRequest): void {
    this.#do(this.#works.reset(request))
  }

  #sweep(): SweepReply {
    this.#endDue()
    const ended = this.#ended
    this.#ended = []
    return { ended, open: this.#file.countHolds() }
  }

  #endDue(): void {
    for (;;) {
      const due = this.#file.due(instant(this.#clock), SWEPT_AT_ONCE)
      if (due.length === 0) return
      for (const footprint of due) this.#do(endWork(footprint))
    }
  }

  #chores(): void {
    this.#endDue()
    this.#file.forget(instant(this.#clock), FORGOTTEN_AT_ONCE)
  }

  #do<T>(work: Work<T>): T {
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined
    const operation = operationOf(work, {
      resolve: (value) => {
        outcome = { value }
      },
      reject: (error) => {
        outcome = { error }
      },
    })
    try {
      this.#file.begin()
      const ended = stepped(this.#file, [operation], this.#clock, () => undefined)
      this.#ended.push(...ended.slice(0, MAX_ENDED - this.#ended.length))
    } catch (error) {
      throw failureOf(error)
    }
    operation.done()
    if (outcome === undefined) throw new TypeError('an operation that was done has an answer')
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }
}
