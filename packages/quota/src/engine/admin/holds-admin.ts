import type { Policy } from '../../policy/policy.ts'
import type { EndedHold, HoldRecord } from '../../store/hold-port.ts'
import type { Subject } from '../../store/schema.ts'
import { SLOTS, TOKENS } from '../../windows/units.ts'
import { operationOf } from '../decide/check.ts'
import type { Hold, HoldEnd } from '../requests.ts'
import { holdRef } from '../reservations/hold-token.ts'

/** The open holds of an engine's subjects. */
export interface QuotaHolds {
  /**
   * The open holds of a subject, the earliest end first.
   * @throws {QuotaError} `invalid_subject`, `holds_unsupported`
   */
  list(subject: Subject): Promise<readonly Hold[]>
  /**
   * Cancels a hold of a subject, whoever holds it: its tokens go back and its slots are free.
   *
   * @param ref as {@link list} gives it
   * @returns whether there was such a hold, and open
   * @throws {QuotaError} `invalid_subject`, `holds_unsupported`
   */
  release(subject: Subject, ref: string): Promise<boolean>
  /**
   * Settles holds that have ended, and tells of them by the event `holdEnded`. Stores do so by themselves, at most a second
   * after; this is for those who do not want to wait, and for the number of holds.
   *
   * @returns open holds of all subjects
   */
  sweep(): Promise<{ readonly open: number; readonly ended: readonly HoldEnd[] }>
}

/** A hold as administrators see it. */
export function shownHold({ categories }: Policy, hold: HoldRecord): Hold {
  const { id, fingerprint, costs, takenAt, endsAt } = hold
  const { [TOKENS]: tokens = 0, [SLOTS]: slots = 0 } = costs
  const category = categories[hold.category]!
  return {
    ref: holdRef(category, id),
    operation: operationOf(fingerprint),
    category,
    tokens,
    slot: slots > 0,
    takenAt,
    endsAt,
  }
}

/** The end of a hold as those see it who listen. */
export function shownEnd({ fingerprint, costs, ...rest }: EndedHold): HoldEnd {
  return { operation: operationOf(fingerprint), tokens: costs[TOKENS] ?? 0, ...rest }
}
