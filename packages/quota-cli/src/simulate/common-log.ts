import type { LogRecord } from './fields.ts'

/** The common log format, and fields that servers append, such as referer and agent. */
const LINE =
  /^(?<host>\S+) \S+ (?<user>.{1,256}?) \[(?<time>[^\]]{1,64})\] "(?<request>(?:[^"\\]|\\.)*)" (?<status>\d{3}|-) (?<bytes>\d+|-)(?: |$)/

/** Parses a line of the common log format; `undefined` for any other line. */
export function commonLogRecord(line: string): LogRecord | undefined {
  return LINE.exec(line)?.groups
}
