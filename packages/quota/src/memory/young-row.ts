/** Where the two parts of an instant meet: each is a small integer to V8, which keeps those without a box of their own. */
const PART = 2 ** 30

/**
 * A row whose windows opened at one instant and were charged alike since: so is the row of everybody who came a first
 * time, until one of its windows ends. It says with two numbers what takes seven of others, so that of a flood of subjects
 * never seen before, who mostly do not come back, little is kept.
 */
export class YoungRow {
  /** Tokens used in every one of its windows, at most {@link MOST}. The one member that is written. */
  used: number
  readonly #high: number
  readonly #low: number

  /** Most tokens of such a row: a small integer. */
  static readonly MOST: number = PART

  /** @param startedAt epoch milliseconds, 0 or more */
  constructor(startedAt: number, used: number) {
    const high = Math.floor(startedAt / PART)
    this.used = used
    this.#high = high | 0
    this.#low = (startedAt - high * PART) | 0
  }

  /** When its windows opened, epoch milliseconds. */
  get startedAt(): number {
    return this.#high * PART + this.#low
  }
}
