/** The state that fast hand-written code keeps for three windows: `[startedAt, used]` each. */
export type FloorRow = number[]

const HOUR_MS = 3_600_000
const LENGTHS_MS = [HOUR_MS, 5 * HOUR_MS, 24 * HOUR_MS]

export function floorRow(): FloorRow {
  // An array of fractions is stored as plain doubles. One of whole numbers would be copied at the first instant.
  return [0.5, 0.5, 0.5, 0.5, 0.5, 0.5].fill(0)
}

/**
 * The floor: six counters per decision, hand-written for this case only. It supports one category, one price list and
 * fixed limits. It checks no argument, gives no reason, and forgets no user.
 */
export class Floor {
  readonly #limits: readonly number[]
  readonly #users = new Map<string, FloorRow>()
  readonly #site = floorRow()

  constructor(limit: number) {
    this.#limits = LENGTHS_MS.map(() => limit)
  }

  /** Charges the three windows of a user and of the site. @returns 0, or the milliseconds to wait */
  take(user: string, cost: number): number {
    const now = Date.now()
    let row = this.#users.get(user)
    if (row === undefined) {
      row = floorRow()
      this.#users.set(user, row)
    }
    const waitMs = Math.max(waitOf(row, this.#limits, cost, now), waitOf(this.#site, this.#limits, cost, now))
    if (waitMs > 0) return waitMs
    charge(row, cost, now)
    charge(this.#site, cost, now)
    return 0
  }
}

function waitOf(row: FloorRow, limits: readonly number[], cost: number, now: number): number {
  let waitMs = 0
  for (let w = 0; w < 3; w++) {
    const resetAt = (row[2 * w] as number) + (LENGTHS_MS[w] as number)
    const used = now < resetAt ? (row[2 * w + 1] as number) : 0
    if (used + cost > (limits[w] as number)) waitMs = Math.max(waitMs, resetAt - now, 1)
  }
  return waitMs
}

function charge(row: FloorRow, cost: number, now: number): void {
  for (let w = 0; w < 3; w++) {
    if (now < (row[2 * w] as number) + (LENGTHS_MS[w] as number)) row[2 * w + 1] = (row[2 * w + 1] as number) + cost
    else {
      row[2 * w] = now
      row[2 * w + 1] = cost
    }
  }
}
