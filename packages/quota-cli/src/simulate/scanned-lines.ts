import type { Fields } from './fields.ts'
import { JsonShape } from './json-shape.ts'
import type { LogLine } from './line.ts'
import type { Piece } from './lines.ts'
import { ScannedLine } from './scanned-line.ts'

/** Most shapes that are tried on a line, and most lines that are checked for a new one. */
const MAX_SHAPES = 16
const MAX_LEARNED = 1_000

/** Ways in which the lines of a log are written; those of NDJSON are learned from lines that were parsed. */
export class ScannedLines {
  readonly #fields: Fields
  readonly #common: ScannedLine
  readonly #json: ScannedLine[] = []
  readonly #known = new Set<string>()
  #learned = 0

  constructor(fields: Fields) {
    this.#fields = fields
    this.#common = ScannedLine.common(fields)
  }

  /** `undefined`: the line has no known shape, and has to be parsed as a whole. */
  of(format: 'ndjson' | 'common', piece: Piece, start: number, end: number): LogLine | undefined {
    if (format === 'common') return this.#common.take(piece, start, end) ? this.#common : undefined
    const lines = this.#json
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!
      if (!line.take(piece, start, end)) continue
      // The most frequent come first by and by.
      if (i > 0) {
        lines[i] = lines[i - 1]!
        lines[i - 1] = line
      }
      return line
    }
    return undefined
  }

  /** @param line an object as JSON, each character a byte */
  learn(line: string): void {
    if (this.#json.length >= MAX_SHAPES || this.#learned >= MAX_LEARNED) return
    this.#learned++
    const shape = JsonShape.of(line)
    const key = shape?.filled(() => '\n')
    // Lines with escapes are of a shape that is known, and never taken.
    if (shape === undefined || key === undefined || this.#known.has(key)) return
    this.#known.add(key)
    this.#json.push(ScannedLine.json(shape, this.#fields))
  }
}
