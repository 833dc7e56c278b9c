import type { FactorState, FactorStore, VersionedFactor } from '../store/factor-store.ts'
import { type MinuteOutcomes, OUTCOMES_KEPT_MINUTES, type OutcomeStore, OutcomeTable } from '../store/outcome-store.ts'

/** A {@link FactorStore} in the memory of one process, which answers at once. */
export interface MemoryFactor extends FactorStore {
  readonly sync: true
  read(): VersionedFactor | undefined
  compareAndSet(expectedVersion: number, minute: number, state: FactorState): boolean
}

/** The adaptive factor in memory: gone with the process. */
export function memoryFactor(): MemoryFactor {
  const listeners = new Set<() => void>()
  let stored: VersionedFactor | undefined
  return {
    sync: true,
    read: () => stored,
    compareAndSet(expectedVersion, minute, state) {
      if ((stored?.version ?? 0) !== expectedVersion || stored?.minute === minute) return false
      stored = { version: expectedVersion + 1, minute, state }
      for (const listener of listeners) listener()
      return true
    },
    watch(listener) {
      // A function of our own, so that one listener may watch twice.
      const entry = (): void => listener()
      listeners.add(entry)
      return () => listeners.delete(entry)
    },
  }
}

/** An {@link OutcomeStore} in the memory of one process, which answers at once. */
export interface MemoryOutcomes extends OutcomeStore {
  add(counts: readonly MinuteOutcomes[]): void
  read(fromMinute: number, toMinute: number): MinuteOutcomes[]
}

/** Counts in memory, of the last 11,520 minutes that had any; gone with the process. */
export function memoryOutcomes(): MemoryOutcomes {
  const table = new OutcomeTable(OUTCOMES_KEPT_MINUTES)
  return {
    add(counts) {
      for (const each of counts) table.add(each)
    },
    read: (fromMinute, toMinute) => table.entries().filter(({ minute }) => minute >= fromMinute && minute < toMinute),
  }
}
