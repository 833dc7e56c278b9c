const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Round durations. */
const LENGTHS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28].map((count) => count * DAY),
]

/** The most intervals that a log is divided into. */
const MAX_BUCKETS = 96

/** Counts requests and refusals per interval of a log's time. */
export class Buckets {
  /** The start of the first interval, epoch milliseconds. */
  readonly from: number
  readonly lengthMs: number
  readonly asked: Uint32Array
  readonly refused: Uint32Array

  /** @param first and @param last the earliest and latest instants, epoch milliseconds */
  constructor(first: number, last: number) {
    const span = last - first + 1
    const usual = LENGTHS_MS.find((lengthMs) => span / lengthMs <= MAX_BUCKETS - 1)
    this.lengthMs = usual ?? Math.ceil(span / (MAX_BUCKETS - 1) / DAY) * DAY
    this.from = Math.floor(first / this.lengthMs) * this.lengthMs
    const count = Math.floor((last - this.from) / this.lengthMs) + 1
    this.asked = new Uint32Array(count)
    this.refused = new Uint32Array(count)
  }

  add(at: number, isRefused: boolean): void {
    const index = Math.floor((at - this.from) / this.lengthMs)
    this.asked[index]!++
    if (isRefused) this.refused[index]!++
  }
}
