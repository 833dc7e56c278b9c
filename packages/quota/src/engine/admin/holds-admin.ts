import { ALL } from '../../policy/cells.ts'
import type { Policy } from '../../policy/policy.ts'
import { amountOf, type Counting, noneOf, unitNames } from '../../policy/units.ts'
import type { AsyncHolds, EndedHold, HoldRecord, SettleHoldRequest, SyncHolds } from '../../store/hold-port.ts'
import type { Answer } from '../../store/quota-store.ts'
import type { Subject } from '../../store/subjects.ts'
import { type Amounts, amountsIn, SLOTS } from '../../windows/identity.ts'
import type { RequestCheck } from '../decide/check.ts'
import type { CounterCalls } from '../decide/counter-calls.ts'
import { runAsync, type Task } from '../decide/store-call.ts'
import type { Events } from '../events.ts'
import type { Hold, HoldEnd } from '../requests.ts'
import { holdRef, operationOf } from '../reservations/hold-token.ts'

type Holds = SyncHolds | AsyncHolds

export interface HoldsAdminDeps {
  readonly policy: Policy
  readonly calls: CounterCalls
  readonly check: RequestCheck
  readonly events: Events
  readonly freed: (subject?: Subject) => void
}

/** The open holds of an engine's subjects. */
export interface QuotaHolds<C extends Counting = Counting> {
  /**
   * Returns a subject's open holds, by expiry.
   *
   * @throws {QuotaError} `invalid_subject`, `holds_unsupported`
   */
  list(subject: C['names']['subject']): Promise<readonly Hold<C>[]>
  /**
   * Cancels a subject's hold of any process: refunds its tokens and frees its slots. A hold with a damaged record isn't
   * listed and has no ref. Resetting its subject removes it.
   *
   * @param ref from {@link list}
   * @returns whether the hold existed and was open
   * @throws {QuotaError} `invalid_subject`, `holds_unsupported`
   */
  release(subject: C['names']['subject'], ref: string): Promise<boolean>
  /**
   * Refunds expired holds, and emits `holdEnded` for each. Stores do this themselves within a second. Call it if you
   * can't wait, or to count open holds.
   *
   * @returns the number of open holds of all subjects, and the holds that it ended
   */
  sweep(): Promise<{ readonly open: number; readonly ended: readonly HoldEnd<C>[] }>
}

/** @param requireOpen throws if the engine is closed */
export function holdsAdmin(
  { policy, calls, check, events, freed }: HoldsAdminDeps,
  requireOpen: () => void,
): QuotaHolds {
  async function open(given: Subject): Promise<{ subject: Subject; holds: readonly HoldRecord[] }> {
    requireOpen()
    const subject = check.subject(given)
    const { holds } = await callHolds(calls, (port) => port.list({ subject }))
    return { subject, holds }
  }

  return {
    list: async (subject) => (await open(subject)).holds.map((hold) => shownHold(policy, hold)),
    async release(given, ref) {
      const { subject, holds: ofSubject } = await open(given)
      const found = ofSubject.find(({ id }) => holdRef(id) === ref)
      if (found === undefined) return false
      const { id, nonce, fingerprint } = found
      const request: SettleHoldRequest = {
        subject,
        set: ALL,
        id: { id, nonce, fingerprint, ttlMs: check.idTtlMs },
        as: 'cancelled',
        overrun: 'refuse',
        maxOverrun: noneOf(unitNames(policy)),
        quotas: { layers: [], limits: [] },
      }
      await callHolds(calls, (holds) => holds.settle(request))
      // The hold is listed by its first key. Its keys in other layers may differ from those of `subject`.
      freed()
      return true
    },
    async sweep() {
      requireOpen()
      const { ended, open: count } = await callHolds(calls, (holds) => holds.sweep())
      const shown = ended.map((end) => shownEnd(policy, end))
      for (const end of shown) events.emit('holdEnded', end)
      if (ended.length > 0) freed()
      return { open: count, ended: shown }
    },
  }
}

/** Calls the store's holds. */
export async function callHolds<T>(calls: CounterCalls, call: (holds: Holds) => Answer<T>): Promise<T> {
  // Boxed, because a promise would resolve a reply that has a `then`.
  function* boxed(): Task<{ readonly reply: T }> {
    return { reply: yield* calls.holds(call) }
  }
  return (await runAsync(boxed())).reply
}

/** Returns a hold as administrators see it. */
function shownHold(policy: Policy, hold: HoldRecord): Hold {
  const { id, fingerprint, costs, takenAt, endsAt } = hold
  return {
    ref: holdRef(id),
    operation: operationOf(fingerprint),
    ...heldBy(policy, costs),
    slot: (costs[SLOTS] ?? 0) > 0,
    takenAt,
    endsAt,
  }
}

/** Returns an expired hold as listeners see it. */
function shownEnd(policy: Policy, { fingerprint, costs, ...rest }: EndedHold): HoldEnd {
  return { operation: operationOf(fingerprint), ...heldBy(policy, costs), ...rest }
}

/** Returns the recorded amounts in the policy's units. */
function heldBy(policy: Policy, costs: Amounts): Counting['held'] {
  const units = unitNames(policy)
  const cost = amountOf(units, amountsIn(units, costs))
  return typeof cost === 'number' ? { tokens: cost } : { cost }
}
