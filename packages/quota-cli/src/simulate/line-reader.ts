import type { Subject } from '@scoregw/quota'
import { commonLogRecord, type LogRecord } from './common-log.ts'
import type { EventLog } from './event-log.ts'
import { Field, type FieldName, USUAL_NAMES } from './fields.ts'
import { Instants } from './instants.ts'
import { type Mapping, subjectLayers } from './mapping.ts'
import { Routes, usualOperation } from './routes.ts'
import type { Skipped, SkipReason } from './skipped.ts'

/** What became of a line. */
type Read = 'added' | 'unmetered' | 'empty' | SkipReason

const MAX_SUBJECT_BYTES = 256
const TOO_MANY_REQUESTS = 429

/** Turns the lines of a log into requests. */
export class LineReader {
  /** Lines that a route says are not metered. */
  unmetered = 0
  #lines: number
  readonly #log: EventLog
  readonly #skipped: Skipped
  readonly #mapping: Mapping
  readonly #routes: Routes
  readonly #instants: Instants
  readonly #operationAt: ReadonlyMap<string, number>
  readonly #fields: Readonly<Record<FieldName, Field>>
  /** By layer, where the subject has a key for each. */
  readonly #layers: readonly (readonly [layer: string, field: Field])[]
  #format: 'ndjson' | 'common' | undefined

  /** @param before how many lines there were in logs before */
  constructor(log: EventLog, skipped: Skipped, mapping: Mapping, before: number) {
    this.#lines = before
    this.#log = log
    this.#skipped = skipped
    this.#mapping = mapping
    this.#routes = new Routes(mapping.routes)
    this.#instants = new Instants(mapping.timeZone)
    this.#operationAt = new Map(log.operations.map((name, index) => [name, index]))
    this.#format = mapping.format === 'auto' ? undefined : mapping.format
    const named = (name: FieldName): Field => {
      const own = name === 'request' ? undefined : mapping[name]
      return new Field(own === undefined ? USUAL_NAMES[name] : [own])
    }
    this.#fields = {
      time: named('time'),
      subject: named('subject'),
      operation: named('operation'),
      cost: named('cost'),
      plan: named('plan'),
      method: named('method'),
      path: named('path'),
      request: named('request'),
      status: named('status'),
    }
    this.#layers = subjectLayers(mapping).map(([layer, field]) => [layer, new Field([field])])
  }

  /** Lines so far, of logs before and empty ones included. */
  get lines(): number {
    return this.#lines
  }

  /** Operations that routes lead to and no policy has. */
  get strangers(): string[] {
    return this.#routes.operations.filter((name) => !this.#operationAt.has(name))
  }

  read(text: string): void {
    this.#lines++
    const read = this.#read(text)
    if (read === 'unmetered') this.unmetered++
    else if (read !== 'added' && read !== 'empty') this.#skipped.add(read, this.#lines, text)
  }

  tooLong(): void {
    this.#skipped.add('too_long', ++this.#lines, '')
  }

  #read(text: string): Read {
    const record = this.#record(text)
    if (typeof record === 'string') return record
    const fields = this.#fields
    const time = fields.time.of(record)
    if (time === undefined) return 'no_time'
    const at = this.#instants.read(time)
    if (at === undefined) return 'wrong_time'
    const operation = this.#operationOf(record)
    if (typeof operation === 'string') return operation
    const subject = this.#subjectOf(record)
    if (typeof subject === 'string') return subject
    const cost = costOf(fields.cost.of(record))
    if (cost === null) return 'wrong_cost'
    const plan = this.#planOf(fields.plan.of(record))
    if (plan === undefined) return 'wrong_plan'
    this.#log.add({ at, subject, operation, cost, plan, isRefunded: this.#isRefunded(record), line: this.#lines })
    return 'added'
  }

  #record(text: string): LogRecord | Read {
    if (isBlank(text)) return 'empty'
    this.#format ??= formatOf(text)
    if (this.#format === 'common') return commonLogRecord(text) ?? 'not_common_log'
    try {
      const record: unknown = JSON.parse(text)
      return isRecord(record) ? record : 'not_an_object'
    } catch {
      return 'not_json'
    }
  }

  /** The place of the operation. */
  #operationOf(record: LogRecord): number | Read {
    const named = this.#fields.operation.of(record)
    if (named !== undefined) return this.#operationAt.get(String(named)) ?? 'unknown_operation'
    const { method, path } = this.#requestOf(record)
    if (!this.#routes.isEmpty) {
      const routed = this.#routes.of(method ?? '', path ?? '')
      if (routed === undefined) return 'no_operation'
      return routed.operation === undefined
        ? 'unmetered'
        : (this.#operationAt.get(routed.operation) ?? 'unknown_operation')
    }
    const usual = usualOperation(this.#log.operations, method)
    return usual === undefined ? 'no_operation' : (this.#operationAt.get(usual) ?? 'unknown_operation')
  }

  #requestOf(record: LogRecord): { readonly method: string | undefined; readonly path: string | undefined } {
    const { method, path, request } = this.#fields
    const [ofLine, pathOfLine] = textOf(request.of(record))?.split(' ') ?? []
    const whole = textOf(path.of(record)) ?? pathOfLine
    const end = whole?.search(/[?#]/) ?? -1
    return {
      method: (textOf(method.of(record)) ?? ofLine)?.toUpperCase(),
      path: end === -1 ? whole : whole?.slice(0, end),
    }
  }

  #subjectOf(record: LogRecord): number | SkipReason {
    if (this.#layers.length > 0) return this.#subjectOfLayers(record)
    const value = this.#fields.subject.of(record) ?? record.host
    if (value === undefined) return 'no_subject'
    const key = keyOf(value)
    return key === undefined ? 'wrong_subject' : this.#log.subjectOf(key, (each): Subject => each)
  }

  #subjectOfLayers(record: LogRecord): number | SkipReason {
    const keys: Record<string, string> = {}
    for (const [layer, field] of this.#layers) {
      const value = field.of(record)
      if (value === undefined) return 'no_subject'
      const key = keyOf(value)
      if (key === undefined) return 'wrong_subject'
      keys[layer] = key
    }
    return this.#log.subjectOf(JSON.stringify(keys), () => keys)
  }

  #planOf(value: unknown): number | undefined {
    if (value === undefined) return 0
    return typeof value === 'string' && value.length <= 64 ? this.#log.planOf(value) : undefined
  }

  #isRefunded(record: LogRecord): boolean {
    const { refundFrom } = this.#mapping
    if (refundFrom === undefined) return false
    const status = Number(this.#fields.status.of(record))
    return status >= refundFrom && status !== TOO_MANY_REQUESTS
  }
}

function formatOf(line: string): 'ndjson' | 'common' {
  return line.trimStart().startsWith('{') ? 'ndjson' : 'common'
}

function isBlank(text: string): boolean {
  // Lines begin with something else, nearly always.
  return text === '' || (text.charCodeAt(0) <= SPACE && text.trim() === '')
}

const SPACE = 32

function isRecord(value: unknown): value is LogRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A subject's key; numbers are what some databases call their users. */
function keyOf(value: unknown): string | undefined {
  const key = typeof value === 'number' ? String(value) : textOf(value)
  if (key === undefined || key.length > MAX_SUBJECT_BYTES) return undefined
  return key.length * 3 <= MAX_SUBJECT_BYTES || Buffer.byteLength(key) <= MAX_SUBJECT_BYTES ? key : undefined
}

/** `null`: it is none. */
function costOf(value: unknown): number | undefined | null {
  if (value === undefined) return undefined
  const cost = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(cost) && (cost as number) >= 0 ? (cost as number) : null
}
