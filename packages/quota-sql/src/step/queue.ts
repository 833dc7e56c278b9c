import { setImmediate as nextTick } from 'node:timers/promises'
import type { QuotaError } from '@scoregw/quota'
import { Deadline } from './deadline.ts'
import type { Operation } from './operation.ts'

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

/** What a {@link Queue} works with. */
export interface QueueParts {
  readonly deadlineMs: number
  /** Answers or fails operations, all of them in one go. Never rejects. */
  readonly turn: (operations: readonly Operation[]) => Promise<void>
  /** Fails operations whose deadline has passed. */
  readonly over: (operations: readonly Operation[]) => void
  /** What is said to those for whom there is no room. */
  readonly full: (message: string) => QuotaError
}

/**
 * What a process asks for, one transaction at a time: what comes meanwhile makes up the next one. So however many ask,
 * shared rows change hands between processes, and never between the calls of one.
 */
export class Queue {
  readonly #parts: QueueParts
  readonly #waiting: { readonly operation: Operation; readonly group: Group }[] = []
  #group: Group | undefined
  #running: Promise<void> | undefined
  #underWay = 0

  constructor(parts: QueueParts) {
    this.#parts = parts
  }

  /** Answers or fails an operation, within the deadline. */
  ask(operation: Operation): void {
    if (this.#underWay >= MAX_UNDER_WAY) {
      operation.fail(this.#parts.full(`${MAX_UNDER_WAY} calls are under way, and no more are taken on`))
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
  }

  #newGroup(): Group {
    const operations: Operation[] = []
    const deadline = new Deadline(this.#parts.deadlineMs, () => {
      const unanswered = operations.filter(({ isOver }) => !isOver)
      if (unanswered.length > 0) this.#parts.over(unanswered)
    })
    const group = { operations, deadline, left: 0 }
    this.#group = group
    setImmediate(() => this.#close(group))
    return group
  }

  async #run(): Promise<void> {
    // What is asked for in one tick goes together, and so does what those ask who were just answered.
    for (await nextTick(); this.#waiting.length > 0; await nextTick()) {
      const taken = this.#waiting.splice(0, MOST)
      await this.#parts.turn(taken.map(({ operation }) => operation))
      this.#underWay -= taken.length
      for (const { group } of taken) {
        group.left--
        if (group.left > 0) continue
        group.deadline.met()
        // All of it may be answered in the tick in which it was asked: nobody joins a deadline that is over.
        this.#close(group)
      }
    }
    this.#running = undefined
  }

  #close(group: Group): void {
    if (this.#group === group) this.#group = undefined
  }
}
