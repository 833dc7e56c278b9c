import type { Subject } from '@scoregw/quota'
import { type Unit, unitName } from '../amounts.ts'
import { commonLogRecord } from './common-log.ts'
import type { EventLog } from './event-log.ts'
import { type Fields, fieldsOf, type LogRecord } from './fields.ts'
import { Instants } from './instants.ts'
import type { Mapping } from './mapping.ts'
import { OperationOfLine } from './operation-of-line.ts'
import type { Skipped, SkipReason } from './skipped.ts'

/** The outcome of a line. */
type Read = 'added' | 'unmetered' | 'empty' | SkipReason

const TOO_MANY_REQUESTS = 429

/** Turns the lines of logs into requests. */
export class LineReader {
  /** How many lines the routes exclude from metering. */
  unmetered = 0
  /** How many lines were read so far, including empty ones. */
  lines = 0
  /** Whether there were more lines than are read. */
  isCut = false
  readonly #log: EventLog
  readonly #skipped: Skipped
  readonly #mapping: Mapping
  readonly #fields: Fields
  readonly #instants: Instants
  readonly #operation: OperationOfLine
  #format: 'ndjson' | 'common' | undefined

  constructor(log: EventLog, skipped: Skipped, mapping: Mapping) {
    this.#log = log
    this.#skipped = skipped
    this.#mapping = mapping
    this.#fields = fieldsOf(mapping, log.units.map(unitName))
    this.#instants = new Instants(mapping.timeZone)
    this.#operation = new OperationOfLine(log.operations, mapping.routes, this.#fields)
  }

  /** Operations that routes name but no policy has. */
  get unknown(): readonly string[] {
    return this.#operation.unknown
  }

  /** Begins another log, which may have another format. */
  begin(): void {
    this.#format = this.#mapping.format === 'auto' ? undefined : this.#mapping.format
  }

  /** @param line without its end; `undefined` if it is too long @param maxLines how many lines are read */
  read(line: string | undefined, maxLines: number): void {
    this.isCut ||= this.lines >= maxLines
    if (this.isCut) return
    this.lines++
    const record = line === undefined ? 'too_long' : this.#record(line)
    const read = typeof record === 'string' ? record : this.#add(record)
    if (read === 'unmetered') this.unmetered++
    else if (read !== 'added' && read !== 'empty') this.#skipped.add(read, this.lines, line ?? '')
  }

  #record(line: string): LogRecord | Read {
    if (line.trim() === '') return 'empty'
    this.#format ??= line.trimStart().startsWith('{') ? 'ndjson' : 'common'
    if (this.#format === 'common') return commonLogRecord(line.trimEnd()) ?? 'not_common_log'
    try {
      const record: unknown = JSON.parse(line)
      return typeof record === 'object' && record !== null && !Array.isArray(record)
        ? (record as LogRecord)
        : 'not_an_object'
    } catch {
      return 'not_json'
    }
  }

  #add(line: LogRecord): Read {
    const fields = this.#fields
    const time = fields.time.of(line)
    if (time === undefined) return 'no_time'
    const at = this.#instants.read(time)
    if (at === undefined) return 'wrong_time'
    const operation = this.#operation.of(line)
    if (typeof operation === 'string') return operation
    const subject = this.#subjectOf(line)
    if (typeof subject === 'string') return subject
    const costs = fields.costs.map((field, u) => amountOf(field.of(line), this.#log.units[u]!))
    if (!costs.every(isRight)) return 'wrong_cost'
    const plan = this.#planOf(fields.plan.of(line))
    if (plan === undefined) return 'wrong_plan'
    this.#log.add({ at, subject, operation, costs, plan, isRefunded: this.#isRefunded(line), line: this.lines })
    return 'added'
  }

  #subjectOf(line: LogRecord): number | SkipReason {
    const { subject, host, layers } = this.#fields
    if (layers.length > 0) return this.#subjectOfLayers(line)
    const value = subject.of(line) ?? host.of(line)
    if (value === undefined) return 'no_subject'
    const key = keyOf(value)
    return key === undefined ? 'wrong_subject' : this.#log.subjectOf(key, (each): Subject => each)
  }

  #subjectOfLayers(line: LogRecord): number | SkipReason {
    const keys: Record<string, string | null> = {}
    for (const [layer, field] of this.#fields.layers) {
      const value = field.of(line)
      const key = value === undefined ? null : keyOf(value)
      if (key === undefined) return 'wrong_subject'
      keys[layer] = key
    }
    if (Object.values(keys).every((key) => key === null)) return 'no_subject'
    return this.#log.subjectOf(JSON.stringify(keys), (each) => JSON.parse(each) as Subject)
  }

  #planOf(value: unknown): number | undefined {
    if (value === undefined) return 0
    return typeof value === 'string' && value.length <= 64 ? this.#log.planOf(value) : undefined
  }

  #isRefunded(line: LogRecord): boolean {
    const { refundFrom } = this.#mapping
    if (refundFrom === undefined) return false
    const status = Number(this.#fields.status.of(line))
    return status >= refundFrom && status !== TOO_MANY_REQUESTS
  }
}

/** A subject's key. It may be a number, as some databases use. */
function keyOf(value: unknown): string | undefined {
  const key = typeof value === 'number' ? String(value) : value
  return typeof key === 'string' ? key : undefined
}

function isRight(amount: number | undefined | null): amount is number | undefined {
  return amount !== null
}

/** `null` if the value is not an amount of the unit: a whole number, or money as a number with decimals. */
function amountOf(value: unknown, unit: Unit): number | undefined | null {
  if (value === undefined) return undefined
  const number = typeof value === 'string' && /^\d{1,16}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value
  if (typeof number !== 'number') return null
  const scale = typeof unit === 'string' ? undefined : unit.format?.scale
  const amount = scale === undefined ? number : Math.round(number * 10 ** scale)
  return Number.isSafeInteger(amount) && amount >= 0 ? amount : null
}
