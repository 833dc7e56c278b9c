import { COMMON_LOG_NAMES, commonLogRecord, scanCommonLog } from './common-log.ts'
import { type Field, type Fields, inside, isNothing, type LogRecord } from './fields.ts'
import { type JsonShape, MAX_VALUES } from './json-shape.ts'
import type { LogLine } from './line.ts'
import { type Piece, textOf } from './lines.ts'

/** For a field that has to be searched in the whole line. */
const UNUSUAL = -1

/** The shape of a line. It finds the values, so that only needed ones are parsed. */
interface Writing {
  /** @returns whether the line has this shape, with its values at these positions */
  scan(bytes: Uint8Array, start: number, end: number, spots: Int32Array): boolean
  value(piece: Piece, start: number, end: number): unknown
  /** Parses the whole line as a record. */
  parse(line: string): LogRecord
}

/** Lines of one shape. It reads the line that was last taken. */
export class ScannedLine implements LogLine {
  readonly #writing: Writing
  /** By a field's index: the indexes of its possible values. The first one with a value counts. */
  readonly #places: readonly (readonly number[])[]
  readonly #spots = new Int32Array(2 * MAX_VALUES)
  #piece: Piece = { bytes: Buffer.alloc(0), text: '' }
  #start = 0
  #end = 0

  /** @param marked a record of this shape, with a {@link marker} in place of each value */
  private constructor(writing: Writing, fields: Fields, marked: LogRecord) {
    this.#writing = writing
    this.#places = fields.all.map((field) => placesIn(marked, field))
  }

  /** Lines in common log format. */
  static common(fields: Fields): ScannedLine {
    const marked: Record<string, string> = Object.create(null)
    for (const [place, name] of COMMON_LOG_NAMES.entries()) marked[name] = marker(place)
    const parse = (line: string): LogRecord => commonLogRecord(line)!
    return new ScannedLine({ scan: scanCommonLog, value: textOf, parse }, fields, marked)
  }

  /** Lines that are JSON objects of one shape. */
  static json(shape: JsonShape, fields: Fields): ScannedLine {
    const marked = Buffer.from(
      shape.filled((place) => JSON.stringify(marker(place))),
      'latin1',
    )
    const scan: Writing['scan'] = (bytes, start, end, spots) => shape.fits(bytes, start, end, spots)
    return new ScannedLine({ scan, value: jsonValue, parse: JSON.parse }, fields, JSON.parse(marked.toString()))
  }

  /** @returns whether the line has this shape; if not, don't read its fields */
  take(piece: Piece, start: number, end: number): boolean {
    this.#piece = piece
    this.#start = start
    this.#end = end
    return this.#writing.scan(piece.bytes, start, end, this.#spots)
  }

  of(field: Field): unknown {
    for (const place of this.#places[field.place]!) {
      if (place === UNUSUAL) return field.of(this.#writing.parse(textOf(this.#piece, this.#start, this.#end)))
      const value = this.#writing.value(this.#piece, this.#spots[2 * place]!, this.#spots[2 * place + 1]!)
      if (!isNothing(value)) return value
    }
    return undefined
  }
}

const QUOTE = 34
const LETTER = 97

function jsonValue(piece: Piece, start: number, end: number): unknown {
  const first = piece.bytes[start]!
  if (first === QUOTE) return textOf(piece, start + 1, end - 1)
  const text = piece.text.slice(start, end)
  return first < LETTER ? Number(text) : (JSON.parse(text) as unknown)
}

/** The placeholder of a value. A record of placeholders shows which fields are values. */
function marker(place: number): string {
  return `#${place}`
}

function placesIn(marked: LogRecord, { names }: Field): number[] {
  const places: number[] = []
  for (const [name, path] of names) {
    const direct = marked[name]
    const nested = path.length === 1 ? undefined : inside(marked, path)
    if (direct === undefined && nested === undefined) continue
    const found = direct === undefined || nested === undefined ? (direct ?? nested) : undefined
    places.push(typeof found === 'string' ? Number(found.slice(1)) : UNUSUAL)
  }
  return places
}
