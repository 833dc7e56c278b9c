import { type Io, painted } from '../io.ts'
import { counted, instant, lasting } from '../text.ts'
import type { PolicyResult } from './result.ts'

const ROWS = 8
/** Columns left of the bars. */
const AXIS = 9

/** Requests over time for a terminal, with admitted ones above refused ones. */
export function chart({ time }: PolicyResult, io: Io): string {
  const columns = Math.max(10, io.width - AXIS - 2)
  const pieces = Math.ceil(time.asked.length / columns)
  const asked = summed(time.asked, pieces)
  const refused = summed(time.refused, pieces)
  const top = Math.max(1, ...asked)
  const labels: Readonly<Record<number, string>> = { [ROWS]: counted(top), 1: '0' }
  const lines: string[] = []
  for (let row = ROWS; row >= 1; row--) {
    const label = labels[row] ?? ''
    const bars = asked.map((all, at) => cell(all, refused[at] ?? 0, row / ROWS, top, io)).join('')
    lines.push(`${label.padStart(AXIS - 2)} │${bars}`)
  }
  const end = time.from + time.asked.length * time.lengthMs
  const legend = `${painted(io, 'cyan', '░')} admitted  ${painted(io, 'red', '█')} refused`
  lines.push(`${' '.repeat(AXIS - 1)}└${'─'.repeat(asked.length)}`)
  lines.push(
    `${' '.repeat(AXIS)}${instant(time.from)} to ${instant(end)}, ${lasting(time.lengthMs * pieces)} a column  ${legend}`,
  )
  return lines.map((line) => `${line}\n`).join('')
}

function summed(numbers: readonly number[], pieces: number): number[] {
  const sums: number[] = []
  for (let at = 0; at < numbers.length; at += pieces) {
    sums.push(numbers.slice(at, at + pieces).reduce((sum, each) => sum + each, 0))
  }
  return sums
}

/** A bar fills a row if it reaches the row's middle. Any refusal shows in the lowest row. */
function cell(all: number, refused: number, height: number, top: number, io: Io): string {
  const least = (height - 0.5 / ROWS) * top
  const isLowest = height <= 1 / ROWS
  if (refused >= least || (isLowest && refused > 0)) return painted(io, 'red', '█')
  return all >= least || (isLowest && all > 0) ? painted(io, 'cyan', '░') : ' '
}
