import type { Answer } from './answer.ts'
import type { FactorState } from './factor-state.ts'

/** What a {@link FactorStore} holds. */
export interface VersionedFactor {
  /** Counts the writes: 1, 2, 3 ... */
  readonly version: number
  /** The minute of the tick that wrote it, whole minutes since the epoch. */
  readonly minute: number
  readonly state: FactorState
}

/**
 * Where the adaptive factor lives: one row for all processes that share it, with a version of its own, apart from the
 * settings', so that its moves never come between an administrator's read and write.
 *
 * In SQL `compareAndSet` is one statement: `UPDATE factor SET version = version + 1, minute = :minute, state = :state
 * WHERE version = :expectedVersion AND minute <> :minute`, and an `INSERT` that yields to an existing row for version 0.
 */
export interface FactorStore {
  /**
   * Whether every call answers at once.
   * @default false: answers are awaited
   */
  readonly sync?: boolean | undefined
  /** `undefined`: nothing was ever written; the factor is 1. */
  read(): Answer<VersionedFactor | undefined>
  /**
   * Writes only if `expectedVersion` is stored (0: nothing is) and `minute` is not, so that no minute is ticked twice.
   * @returns whether it wrote
   */
  compareAndSet(expectedVersion: number, minute: number, state: FactorState): Answer<boolean>
  /** Calls `listener` within one second of a write, also by other processes, until the returned function is called. */
  watch(listener: () => void): () => void
  close?(): void | PromiseLike<void>
}
