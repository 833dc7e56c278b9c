import type { Subject } from '@scoregw/quota'
import { commonLogRecord } from './common-log.ts'
import type { EventLog } from './event-log.ts'
import { type Fields, fieldsOf } from './fields.ts'
import { Instants } from './instants.ts'
import { type LogLine, RecordLine } from './line.ts'
import { type Piece, textOf } from './lines.ts'
import type { Mapping } from './mapping.ts'
import { OperationOfLine } from './operation-of-line.ts'
import { ScannedLines } from './scanned-lines.ts'
import type { Skipped, SkipReason } from './skipped.ts'

/** The outcome of a line. */
export type Read = 'added' | 'unmetered' | 'empty' | SkipReason

const MAX_SUBJECT_BYTES = 256
const TOO_MANY_REQUESTS = 429

/** Turns a log's lines into requests. */
export class LineReader {
  /** How many lines the routes exclude from metering. */
  unmetered = 0
  #lines: number
  readonly #log: EventLog
  readonly #skipped: Skipped
  readonly #mapping: Mapping
  readonly #fields: Fields
  readonly #instants: Instants
  readonly #operation: OperationOfLine
  readonly #scanned: ScannedLines
  #format: 'ndjson' | 'common' | undefined

  /** @param before how many lines earlier logs had */
  constructor(log: EventLog, skipped: Skipped, mapping: Mapping, before: number) {
    this.#lines = before
    this.#log = log
    this.#skipped = skipped
    this.#mapping = mapping
    this.#fields = fieldsOf(mapping, log.units)
    this.#instants = new Instants(mapping.timeZone)
    this.#operation = new OperationOfLine(log.operations, mapping.routes, this.#fields)
    this.#scanned = new ScannedLines(this.#fields)
    this.#format = mapping.format === 'auto' ? undefined : mapping.format
  }

  /** How many lines were read so far, including empty ones and earlier logs. */
  get lines(): number {
    return this.#lines
  }

  /** Operations that routes name but no policy has. */
  get unknown(): readonly string[] {
    return this.#operation.unknown
  }

  /** Reads one line; @returns true, since more lines may follow */
  read(piece: Piece, start: number, end: number): true {
    this.#lines++
    const line = this.#line(piece, start, end)
    const read = typeof line === 'string' ? line : this.#read(line)
    if (read === 'unmetered') this.unmetered++
    else if (read !== 'added' && read !== 'empty') this.#skipped.add(read, this.#lines, textOf(piece, start, end))
    return true
  }

  tooLong(): true {
    this.#skipped.add('too_long', ++this.#lines, '')
    return true
  }

  #read(line: LogLine): Read {
    const fields = this.#fields
    const time = line.of(fields.time)
    if (time === undefined) return 'no_time'
    const at = this.#instants.read(time)
    if (at === undefined) return 'wrong_time'
    const operation = this.#operation.of(line)
    if (typeof operation === 'string') return operation
    const subject = this.#subjectOf(line)
    if (typeof subject === 'string') return subject
    const costs = fields.costs.map((field) => amountOf(line.of(field)))
    if (!costs.every(isRight)) return 'wrong_cost'
    const plan = this.#planOf(line.of(fields.plan))
    if (plan === undefined) return 'wrong_plan'
    this.#log.add({ at, subject, operation, costs, plan, isRefunded: this.#isRefunded(line), line: this.#lines })
    return 'added'
  }

  #line(piece: Piece, start: number, end: number): LogLine | Read {
    const scanned = this.#format && this.#scanned.of(this.#format, piece, start, end)
    if (scanned !== undefined) return scanned
    const text = textOf(piece, start, end)
    if (isBlank(text)) return 'empty'
    this.#format ??= formatOf(text)
    if (this.#format === 'common') {
      const record = commonLogRecord(text)
      return record === undefined ? 'not_common_log' : new RecordLine(record)
    }
    try {
      const record: unknown = JSON.parse(text)
      if (typeof record !== 'object' || record === null || Array.isArray(record)) return 'not_an_object'
      this.#scanned.learn(piece.text.slice(start, end))
      return new RecordLine(record as Readonly<Record<string, unknown>>)
    } catch {
      return 'not_json'
    }
  }

  #subjectOf(line: LogLine): number | SkipReason {
    const { subject, host, layers } = this.#fields
    if (layers.length > 0) return this.#subjectOfLayers(line)
    const value = line.of(subject) ?? line.of(host)
    if (value === undefined) return 'no_subject'
    const key = keyOf(value)
    return key === undefined ? 'wrong_subject' : this.#log.subjectOf(key, (each): Subject => each)
  }

  #subjectOfLayers(line: LogLine): number | SkipReason {
    const keys: Record<string, string> = {}
    for (const [layer, field] of this.#fields.layers) {
      const value = line.of(field)
      if (value === undefined) return 'no_subject'
      const key = keyOf(value)
      if (key === undefined) return 'wrong_subject'
      keys[layer] = key
    }
    return this.#log.subjectOf(JSON.stringify(keys), (each) => JSON.parse(each) as Subject)
  }

  #planOf(value: unknown): number | undefined {
    if (value === undefined) return 0
    return typeof value === 'string' && value.length <= 64 ? this.#log.planOf(value) : undefined
  }

  #isRefunded(line: LogLine): boolean {
    const { refundFrom } = this.#mapping
    if (refundFrom === undefined) return false
    const status = Number(line.of(this.#fields.status))
    return status >= refundFrom && status !== TOO_MANY_REQUESTS
  }
}

function formatOf(line: string): 'ndjson' | 'common' {
  return line.trimStart().startsWith('{') ? 'ndjson' : 'common'
}

function isBlank(text: string): boolean {
  // Nearly all lines begin with another character.
  return text === '' || (text.charCodeAt(0) <= SPACE && text.trim() === '')
}

const SPACE = 32

/** A subject's key. It may be a number, as some databases use. */
function keyOf(value: unknown): string | undefined {
  const key = typeof value === 'number' ? String(value) : value
  if (typeof key !== 'string' || key.length > MAX_SUBJECT_BYTES) return undefined
  return key.length * 3 <= MAX_SUBJECT_BYTES || Buffer.byteLength(key) <= MAX_SUBJECT_BYTES ? key : undefined
}

function isRight(amount: number | undefined | null): amount is number | undefined {
  return amount !== null
}

/** `null` if the value is not an amount. */
function amountOf(value: unknown): number | undefined | null {
  if (value === undefined) return undefined
  const amount = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(amount) && (amount as number) >= 0 ? (amount as number) : null
}
