import type { Field, LogRecord } from './fields.ts'

/** A log line that was read. */
export interface LogLine {
  /** The value of a field; `undefined` if the line has none, or an empty one. */
  of(field: Field): unknown
}

/** A line that was parsed completely. */
export class RecordLine implements LogLine {
  readonly #record: LogRecord

  constructor(record: LogRecord) {
    this.#record = record
  }

  of(field: Field): unknown {
    return field.of(this.#record)
  }
}
