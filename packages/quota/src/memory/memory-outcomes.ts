import { type MinuteOutcomes, OUTCOMES_KEPT_MINUTES, type OutcomeStore } from '../store/outcome-store.ts'
import { OutcomeTable } from '../store/outcome-table.ts'

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
