import type { Fields } from './fields.ts'
import { JsonShape } from './json-shape.ts'
import type { LogLine } from './line.ts'
import type { Piece } from './lines.ts'
import { ScannedLine } from './scanned-line.ts'

/** The most shapes that are tried per line, and the most lines that are examined for a new shape. */
const MAX_SHAPES = 16
const MAX_LEARNED = 1_000

/** The shapes of a log's lines. Shapes of NDJSON are learned from parsed lines. */
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

  /** The line's shape; `undefined` if it is unknown and the line has to be parsed completely. */
  of(format: 'ndjson' | 'common', piece: Piece, start: number, end: number): LogLine | undefined {
    if (format === 'common') return this.#common.take(piece, start, end) ? this.#common : undefined
    const lines = this.#json
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!
      if (!line.take(piece, start, end)) continue
      // Moves frequent shapes to the front over time.
      if (i > 0) {
        lines[i] = lines[i - 1]!
        lines[i - 1] = line
      }
      return line
    }
    return undefined
  }

  /** @param line a JSON object, one byte per character */
  learn(line: string): void {
    if (this.#json.length >= MAX_SHAPES || this.#learned >= MAX_LEARNED) return
    this.#learned++
    const shape = JsonShape.of(line)
    const key = shape?.filled(() => '\n')
    // Lines with escapes have a known shape, but are never taken by it.
    if (shape === undefined || key === undefined || this.#known.has(key)) return
    this.#known.add(key)
    this.#json.push(ScannedLine.json(shape, this.#fields))
  }
}
