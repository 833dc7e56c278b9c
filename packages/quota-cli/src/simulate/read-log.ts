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

/**
 * Reads logs one after the other. @param known the operations and units of the policies @param maxLines of all logs
 * together
 */
export async function readLog(
  paths: readonly string[],
  known: Pick<EventLog, 'operations' | 'units'>,
  mapping: Mapping,
  maxLines: number,
  io: Io,
): Promise<ReadLog> {
  const log = new EventLog(known.operations, known.units)
  const skipped = new Skipped()
  const progress = new Progress(io)
  let lines = 0
  let unmetered = 0
  let isCut = false
  let unknown: readonly string[] = []
  // Logs of several servers are read as one. Each may have another format.
  for (const path of paths) {
    const reader = new LineReader(log, skipped, mapping, lines)
    const isOver = (): boolean => {
      isCut = reader.lines >= maxLines
      return isCut
    }
    await readLines(
      path,
      {
        line: (piece, start, end) => !isOver() && reader.read(piece, start, end),
        tooLong: () => !isOver() && reader.tooLong(),
        progress: (read, size) =>
          progress.show(
            () => `reading ${size === undefined ? '' : percent(read, size)}, ${counted(reader.lines)} lines`,
          ),
      },
      io.signal,
    )
    lines = reader.lines
    unmetered += reader.unmetered
    unknown = reader.unknown
    if (isCut || io.signal.aborted) break
  }
  progress.end()
  return { log, lines, unmetered, skipped: skipped.all(), isCut, unknown }
}
