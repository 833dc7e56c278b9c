import { setImmediate as nextTick } from 'node:timers/promises'
import { notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import type { AttemptContext } from './attempt.ts'
import { Breaker } from './breaker.ts'
import { Deadline } from './deadline.ts'
import { storeError } from './errors.ts'
import { Turn, type TurnContext } from './turn.ts'

/** Most operations of one transaction. */
const MOST = 256
/** Calls that wait for an answer; beyond it new ones fail at once. */
const MAX_UNDER_WAY = 10_000

/** What was asked for in one tick of the event loop, and has one deadline. */
interface Group {
  readonly operations: Operation[]
  readonly deadline: Deadline
  left: number
}

/**
 * What a process asks for, one transaction at a time: what comes meanwhile makes up the next one. So however many ask,
 * shared rows change hands between processes, and never between the calls of one.
 */
export class Turns {
  readonly #deadlineMs: number
  readonly #context: TurnContext
  readonly #breaker = new Breaker(() => performance.now())
  readonly #waiting: { readonly operation: Operation; readonly group: Group }[] = []
  #group: Group | undefined
  #turn: Turn | undefined
  #running: Promise<void> | undefined
  #underWay = 0
  #lastError: unknown
  readonly #followed = new Set<Promise<void>>()

  constructor(context: AttemptContext) {
    this.#deadlineMs = context.deadlineMs
    this.#context = {
      ...context,
      answered: () => this.#breaker.succeeded(),
      unanswered: (error) => {
        this.#lastError = error
      },
      follow: (end) => this.#follow(end),
    }
  }

  /** Answers or fails an operation, within the deadline. */
  ask(operation: Operation): void {
    if (this.#underWay >= MAX_UNDER_WAY) {
      operation.fail(notDone(storeError(`${MAX_UNDER_WAY} calls are under way, and no more are taken on`)))
      return
    }
    this.#underWay++
    const group = this.#group ?? this.#newGroup()
    group.operations.push(operation)
    group.left++
    this.#waiting.push({ operation, group })
    this.#running ??= this.#run()
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    await Promise.all(this.#followed)
  }

  #newGroup(): Group {
    const operations: Operation[] = []
    const deadline = new Deadline(this.#deadlineMs, () => this.#over(operations))
    this.#group = { operations, deadline, left: 0 }
    setImmediate(() => {
      this.#group = undefined
    })
    return this.#group
  }

  async #run(): Promise<void> {
    // What is asked for in one tick goes together, and so does what those ask who were just answered.
    for (await nextTick(); this.#waiting.length > 0; await nextTick()) {
      const taken = this.#waiting.splice(0, MOST)
      await this.#take(taken.map(({ operation }) => operation))
      this.#underWay -= taken.length
      for (const { group } of taken) {
        group.left--
        if (group.left === 0) group.deadline.met()
      }
    }
    this.#running = undefined
  }

  async #take(operations: readonly Operation[]): Promise<void> {
    if (!this.#breaker.admits()) {
      const error = notDone(storeError('PostgreSQL gave no answers for a while and is not asked now', this.#lastError))
      for (const operation of operations) operation.fail(error)
      return
    }
    this.#turn = new Turn(this.#context, operations)
    await this.#turn.run()
    this.#turn = undefined
  }

  /** The deadline of some operations has passed. */
  #over(operations: readonly Operation[]): void {
    const unanswered = operations.filter(({ isOver }) => !isOver)
    if (unanswered.length === 0) return
    this.#breaker.failed()
    for (const operation of unanswered) {
      const error = storeError(`PostgreSQL gave no answer within ${this.#deadlineMs} ms`, this.#lastError)
      operation.fail(this.#turn?.mayHaveDone(operation) === true ? error : notDone(error))
    }
    this.#turn?.look()
  }

  #follow(end: Promise<void>): void {
    const followed = end.finally(() => this.#followed.delete(followed))
    this.#followed.add(followed)
  }
}
