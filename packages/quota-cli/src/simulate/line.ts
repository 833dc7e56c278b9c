import type { Field, LogRecord } from './fields.ts'

/** The result of reading a line of a log. */
export interface LogLine {
  /** `undefined` where the line has no such field, or nothing in it. */
  of(field: Field): unknown
}

/** A line that was read as a whole. */
export class RecordLine implements LogLine {
  readonly #record: LogRecord

  constructor(record: LogRecord) {
    this.#record = record
  }

  of(field: Field): unknown {
    return field.of(this.#record)
  }
}
