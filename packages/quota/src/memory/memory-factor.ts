import type { FactorState } from '../store/factor-state.ts'
import type { FactorStore, VersionedFactor } from '../store/factor-store.ts'

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
