import type { LogRecord } from './fields.ts'

/** The common log format, and fields that servers append, such as referer and agent. */
const LINE =
  /^(?<host>\S+) \S+ (?<user>.{1,256}?) \[(?<time>[^\]]{1,64})\] "(?<request>(?:[^"\\]|\\.)*)" (?<status>\d{3}|-) (?<bytes>\d+|-)(?: |$)/

/** Parses a line of the common log format; `undefined` for any other line. */
export function commonLogRecord(line: string): LogRecord | undefined {
  return LINE.exec(line)?.groups
}

/** The names of a record's fields, in the order of the line. */
export const COMMON_LOG_NAMES = ['host', 'user', 'time', 'request', 'status', 'bytes'] as const

const SPACE = 32
const QUOTE = 34
const BACKSLASH = 92
const OPEN = 91
const CLOSE = 93
const FIRST_OTHER = 127
const LONGEST_USER = 256
const LONGEST_TIME = 64

const NOWHERE = -1

/**
 * Finds the fields of {@link commonLogRecord} in a line of ASCII without escapes.
 *
 * @param spots receives the beginning and end of each value, in the order of {@link COMMON_LOG_NAMES}
 * @returns whether they were found. If not, the line may still have this format
 */
export function scanCommonLog(bytes: Uint8Array, start: number, end: number, spots: Int32Array): boolean {
  const timeStart = scanWho(bytes, start, end, spots)
  const requestStart = timeStart === NOWHERE ? NOWHERE : scanTime(bytes, timeStart, end, spots)
  return requestStart !== NOWHERE && scanAnswer(bytes, requestStart, end, spots)
}

/** `10.0.0.1 - ann [`; @returns the beginning of the time */
function scanWho(bytes: Uint8Array, start: number, end: number, spots: Int32Array): number {
  const hostEnd = wordEnd(bytes, start, end)
  const identEnd = wordEnd(bytes, hostEnd + 1, end)
  if (hostEnd === start || identEnd === hostEnd + 1) return NOWHERE
  const userStart = identEnd + 1
  // The shortest user that is followed by a time.
  let userEnd = userStart + 1
  while (userEnd < end && !(bytes[userEnd] === SPACE && bytes[userEnd + 1] === OPEN)) userEnd++
  if (userEnd - userStart > LONGEST_USER || !isPlain(bytes, userStart, userEnd)) return NOWHERE
  spots[0] = start
  spots[1] = hostEnd
  spots[2] = userStart
  spots[3] = userEnd
  return userEnd + 2
}

/** `06/Aug/2026:12:00:00 +0000] "`; @returns the beginning of the request */
function scanTime(bytes: Uint8Array, start: number, end: number, spots: Int32Array): number {
  let timeEnd = start
  while (timeEnd < end && bytes[timeEnd] !== CLOSE) timeEnd++
  if (timeEnd === start || timeEnd - start > LONGEST_TIME || !isPlain(bytes, start, timeEnd)) return NOWHERE
  if (bytes[timeEnd + 1] !== SPACE || bytes[timeEnd + 2] !== QUOTE) return NOWHERE
  spots[4] = start
  spots[5] = timeEnd
  return timeEnd + 3
}

/** `GET / HTTP/1.1" 200 512` */
function scanAnswer(bytes: Uint8Array, start: number, end: number, spots: Int32Array): boolean {
  let requestEnd = start
  while (requestEnd < end && bytes[requestEnd] !== QUOTE) requestEnd++
  const statusStart = requestEnd + 2
  const bytesStart = statusStart + 4
  const bytesEnd = digitsEnd(bytes, bytesStart, end)
  if (bytesEnd === bytesStart || digitsEnd(bytes, statusStart, end) !== bytesStart - 1) return false
  if (bytes[requestEnd + 1] !== SPACE || bytes[bytesStart - 1] !== SPACE) return false
  if ((bytesEnd < end && bytes[bytesEnd] !== SPACE) || !isPlain(bytes, start, requestEnd)) return false
  spots[6] = start
  spots[7] = requestEnd
  spots[8] = statusStart
  spots[9] = bytesStart - 1
  spots[10] = bytesStart
  spots[11] = bytesEnd
  return true
}

/** The end of a visible ASCII word followed by a space; `start` if there is no such word. */
function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at]! > SPACE && bytes[at]! < FIRST_OTHER) at++
  return at < end && bytes[at] === SPACE ? at : start
}

function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at]! >= 48 && bytes[at]! <= 57) at++
  return at
}

/** Whether the text contains no escape, nothing to decode, and no line end. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte < SPACE || byte >= FIRST_OTHER || byte === BACKSLASH) return false
  }
  return true
}
