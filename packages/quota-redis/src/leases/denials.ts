import { countIn, type Layout } from '@scoregw/quota/internal'
import type { UnitAmounts } from './amounts.ts'
import { elapsedMs, type Moment, type Seen } from './lease.ts'
import { areSameLimits, type LeaseLimits, type SharedAnswer, type SharedRequest } from './shared-answer.ts'

/** How long a refusal of the shared layers applies to later requests of at least the same cost, in milliseconds. */
const DENIAL_MS = 1_000

interface Denial extends Seen {
  readonly basis: LeaseLimits
  /** The remaining amount of each unit in its fullest window. */
  readonly room: UnitAmounts
  /** When the first of its windows ends, by the shared layers' clock. */
  readonly endsAt: number
}

export interface DenialsDeps {
  readonly layout: Layout
  readonly units: number
  /** Converts the shared layers' clock from an earlier moment to now; epoch milliseconds. */
  readonly timeAfter: (seen: Pick<Seen, 'now' | 'at'>, now: Moment) => number
}

/** The last refusal of the shared layers. For a second it also answers requests that they would refuse as well. */
export class Denials {
  readonly #deps: DenialsDeps
  #denial: Denial | undefined

  constructor(deps: DenialsDeps) {
    this.#deps = deps
  }

  /** Remembers a refusal. @returns what was left of each unit */
  note(seen: Seen, basis: LeaseLimits): UnitAmounts {
    const { layout, units } = this.#deps
    const left = basis.limits.map((limit, at) => limit - countIn(seen.states, 2 * at))
    const room = Array.from({ length: units }, (_, unit) =>
      Math.min(...left.filter((_, at) => layout.cellAt(at).unit === unit)),
    )
    this.#denial = { ...seen, basis, room, endsAt: Math.min(...seen.ends) }
    return room
  }

  /**
   * Updates the refusal from a later reply of the shared layers that did not refuse. This process's own charges change
   * the wait that a refusal reports.
   */
  follow(seen: Seen, basis: LeaseLimits): void {
    if (this.#denial === undefined) return
    if (areSameLimits(this.#denial.basis, basis)) this.note(seen, basis)
    else this.forget()
  }

  forget(): void {
    this.#denial = undefined
  }

  /** The refusal that the shared layers would make; `undefined` if they may admit the request. */
  answer(request: SharedRequest, now: Moment): SharedAnswer | undefined {
    const denial = this.#denial
    if (denial === undefined) return undefined
    const sharedNow = this.#deps.timeAfter(denial, now)
    const isOld = elapsedMs(denial.at, now) >= DENIAL_MS || sharedNow >= denial.endsAt
    if (isOld || !areSameLimits(denial.basis, request)) {
      this.#denial = undefined
      return undefined
    }
    const isRefused = denial.room.some((room, unit) => (request.costs[unit] ?? 0) > Math.max(0, room))
    return isRefused ? { outcome: 'refused', now: sharedNow, states: denial.states } : undefined
  }
}
