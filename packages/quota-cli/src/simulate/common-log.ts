/** A line of a log by the names of its fields. */
export type LogRecord = Readonly<Record<string, unknown>>

/** Common log format, and what servers add to it: referer, agent and more in the combined one. */
const LINE =
  /^(?<host>\S+) \S+ (?<user>.{1,256}?) \[(?<time>[^\]]{1,64})\] "(?<request>(?:[^"\\]|\\.)*)" (?<status>\d{3}|-) (?<bytes>\d+|-)(?: |$)/

/** `undefined` for what is no line of this format. */
export function commonLogRecord(line: string): LogRecord | undefined {
  return LINE.exec(line)?.groups
}
