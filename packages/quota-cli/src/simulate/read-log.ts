import type { Io } from '../io.ts'
import { Progress } from '../progress.ts'
import { counted, percent } from '../text.ts'
import { EventLog } from './event-log.ts'
import { LineReader } from './line-reader.ts'
import { readLines } from './lines.ts'
import type { Mapping } from './mapping.ts'
import { Skipped, type SkippedLines } from './skipped.ts'

/** The requests read from logs. */
export interface ReadLog {
  readonly log: EventLog
  readonly lines: number
  /** How many lines the routes exclude from metering. */
  readonly unmetered: number
  readonly skipped: readonly SkippedLines[]
  /** Whether there were more lines than `--max-lines`. */
  readonly isCut: boolean
  /** Operations that routes name but no policy has. */
  readonly unknown: readonly string[]
}

/** How to read logs: also the operations and units that the policies have. */
export interface ReadLogOptions extends Pick<EventLog, 'operations' | 'units'> {
  readonly mapping: Mapping
  /** Of all logs together. */
  readonly maxLines: number
}

/** Reads logs one after the other. */
export async function readLog(
  paths: readonly string[],
  { operations, units, mapping, maxLines }: ReadLogOptions,
  io: Io,
): Promise<ReadLog> {
  const log = new EventLog(operations, units)
  const skipped = new Skipped()
  const progress = new Progress(io)
  const reader = new LineReader(log, skipped, mapping)
  const isOver = (): boolean => io.signal.aborted || reader.isCut
  // Logs of several servers are read as one. Each may have another format.
  for (const path of paths) {
    if (isOver()) break
    reader.begin()
    for await (const { lines, done } of readLines(path)) {
      for (const line of lines) reader.read(line, maxLines)
      progress.show(() => `reading ${done === undefined ? '' : percent(done, 1)}, ${counted(reader.lines)} lines`)
      if (isOver()) break
    }
  }
  progress.end()
  log.sort()
  const { lines, unmetered, unknown, isCut } = reader
  return { log, lines, unmetered, skipped: skipped.all(), isCut, unknown }
}
