import { setTimeout as pause } from 'node:timers/promises'
import { notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { storeError } from '../step/store-error.ts'
import { Attempt, type AttemptContext } from './attempt.ts'
import { isBetween, refusal, verdictOf } from './errors.ts'

/** Pause before a server that is away is asked again, in milliseconds. */
const AGAIN_AFTER_MS = 20
/** How long it is listened whether a commit that nobody waits for any more was made, in milliseconds. */
const LISTEN_MS = 5_000

/** What turns have in common. */
export interface TurnContext extends AttemptContext {
  /** The server answered. */
  readonly answered: () => void
  /** An attempt got no answer. */
  readonly unanswered: (error: unknown) => void
  /** Something goes on of which nobody waits for the end. */
  readonly follow: (end: Promise<void>) => void
}

/**
 * Some operations on their way. What was certainly not done is tried again while somebody waits. Of a commit whose answer
 * was lost the server is asked what became of it; where it does not know, what may have been done is never done again, but
 * for operations that are repeatable.
 */
export class Turn {
  readonly #context: TurnContext
  readonly #all: ReadonlySet<Operation>
  #operations: readonly Operation[]
  #attempt: Attempt | undefined
  /** Whether an attempt was made of which nobody knows how it ended. */
  #isInDoubt = false
  readonly #left: Promise<'left'>
  #leave!: () => void

  constructor(context: TurnContext, operations: readonly Operation[]) {
    this.#context = context
    this.#all = new Set(operations)
    this.#operations = operations
    this.#left = new Promise((resolve) => {
      this.#leave = () => resolve('left')
    })
  }

  /** Whether an operation may have been done, as far as anybody knows. */
  mayHaveDone(operation: Operation): boolean {
    return this.#all.has(operation) && (this.#isInDoubt || this.#attempt?.mayBeDone === true)
  }

  /** To be called when operations have failed from outside: nothing goes on for nobody. */
  look(): void {
    if (!this.#operations.every(({ isOver }) => isOver)) return
    this.#attempt?.abandon()
    this.#leave()
  }

  /** Never rejects. Every operation is answered or failed then. */
  async run(): Promise<void> {
    for (;;) {
      this.#operations = this.#operations.filter(({ isOver }) => !isOver)
      if (this.#operations.length === 0) return
      const failure = await this.#tried()
      if (failure === undefined) return
      if (await this.#isFound(failure.cause)) return
      this.#failed(failure.cause)
      if (!isBetween(failure.cause)) await Promise.race([pause(AGAIN_AFTER_MS), this.#left])
    }
  }

  /** What went wrong with an attempt; `undefined`: nothing, or nobody waits any more. */
  async #tried(): Promise<{ readonly cause: unknown } | undefined> {
    const attempt = new Attempt(this.#context, this.#operations)
    this.#attempt = attempt
    const made = attempt.run().then(
      () => this.#context.answered(),
      (cause: unknown) => ({ cause }),
    )
    const outcome = await Promise.race([made, this.#left])
    if (outcome === 'left') {
      this.#listen(attempt, made)
      return undefined
    }
    return outcome ?? undefined
  }

  /** Whether a commit whose answer was lost was made after all, and its operations are answered. */
  async #isFound(error: unknown): Promise<boolean> {
    const attempt = this.#attempt
    if (attempt?.mayBeDone !== true) return false
    this.#context.unanswered(error)
    while (this.#operations.some(({ isOver }) => !isOver)) {
      const found = await Promise.race([attempt.whatBecame().catch(() => 'open' as const), this.#left])
      if (found === 'committed') {
        this.#context.answered()
        return true
      }
      if (found === 'aborted' || found === 'unknown') return false
      await Promise.race([pause(AGAIN_AFTER_MS), this.#left])
    }
    return false
  }

  #failed(error: unknown): void {
    const isInDoubt = this.#attempt?.mayBeDone === true
    this.#attempt = undefined
    if (isInDoubt) {
      this.#isInDoubt = true
      this.#context.unanswered(error)
      const lost = storeError('the connection to PostgreSQL broke before the answer to a commit', error)
      for (const operation of this.#operations) if (!operation.repeatable) operation.fail(lost)
    } else if (verdictOf(error) === 'again') {
      if (isBetween(error)) this.#context.answered()
      else this.#context.unanswered(error)
    } else {
      this.#context.answered()
      const refused = refusal(error)
      for (const operation of this.#operations) operation.fail(this.#isInDoubt ? refused : notDone(refused))
    }
  }

  /** A late commit is an answer too: its operations give back what they were admitted for. */
  #listen(attempt: Attempt, made: Promise<unknown>): void {
    const timer = setTimeout(() => attempt.giveUp(), LISTEN_MS).unref()
    this.#context.follow(made.then(() => clearTimeout(timer)))
  }
}
