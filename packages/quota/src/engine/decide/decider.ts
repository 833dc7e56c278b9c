import { admits, type DecisionFrame, windowStatuses } from '../../decision/decide.ts'
import type { AdmittedDecision, Decision } from '../../decision/decision.ts'
import { type Asked, admitted, refused } from '../../decision/outcome.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { HoldRecord } from '../../store/hold-port.ts'
import type { ReadReply, ReadRequest, SettleRequest } from '../../store/quota-store.ts'
import type { ReservationId } from '../../store/reservation-id.ts'
import type { Subject } from '../../store/schema.ts'
import type { Clock } from '../../time/clock.ts'
import type { HeldWindowStatus, QuotaRequest, QuotaStatus, RepeatedReservation } from '../requests.ts'
import type { HeldTokens } from '../reservations/hold.ts'
import type { LivePeriods } from '../settings/live-periods.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import { type Answered, NoAnswer } from './asking.ts'
import type { RequestCheck, ReservationTerms } from './check.ts'
import type { Fallback } from './fallback.ts'
import type { Telling } from './reports.ts'

/** What every decision is made with, whichever way the stores answer. */
export interface DeciderParts {
  readonly check: RequestCheck
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly frames: readonly DecisionFrame[]
  readonly telling: Telling
  readonly fallback: Fallback
  readonly clock: Clock
  /** Makes a hold of this engine's, to be worked with. */
  readonly held: (asked: Asked, id: ReservationId, ttlMs: number, endsAt: number) => HeldTokens
  /** Posts to the store what was spent while it did not answer; never throws. */
  readonly post: (posting: Omit<SettleRequest, 'id'>) => void
}

/** What {@link Decider.reservation} found: tokens held under a decision, or the end of it. */
export type Reserved =
  | {
      readonly kind: 'held'
      readonly asked: Asked
      readonly decision: AdmittedDecision
      /** Whether it was to be a hold, and the store has none: the failure policy admitted it. */
      readonly isUnrecorded?: boolean | undefined
      /** What has to be sent to the store to settle; nothing where nothing has to be. */
      readonly settlement: (tokens: number, as: SettleRequest['as']) => SettleRequest | undefined
      /** Whether it has an id, or is a hold: it may be settled again whatever went wrong. */
      readonly isNamed: boolean
      /** There if it is a hold, which is settled by this instead. */
      readonly hold?: HeldTokens | undefined
    }
  | { readonly kind: 'refused'; readonly decision: Extract<Decision, { allowed: false }> }
  | { readonly kind: 'repeated'; readonly status: RepeatedReservation['status'] }

/** The one path from a store's answer to a decision: it asks nothing itself, and so waits for nothing. */
export class Decider {
  readonly #parts: DeciderParts

  constructor(parts: DeciderParts) {
    this.#parts = parts
  }

  /** @throws {QuotaError} for what a programmer got wrong */
  asked(request: QuotaRequest): Asked {
    return this.#parts.check.request(request, this.#parts.live.compiled)
  }

  /** The decision of an answer, told to those who listen; without an answer, what the failure policy says. */
  decision(asked: Asked, startedAtMs: number | undefined, answer: Answered | NoAnswer): Decision {
    const { frames, telling, fallback, post } = this.#parts
    if (answer instanceof NoAnswer) return fallback.admit(asked, startedAtMs, answer).decision
    const frame = frames[asked.category]!
    const decision =
      answer.outcome === 'admitted' ? admitted(asked, answer, frame, 'store') : refused(asked, answer, frame)
    if (fallback.remembers) for (const posting of fallback.seen(asked, answer)) post(posting)
    telling.decided(decision, asked, startedAtMs)
    return decision
  }

  /** The same for a reservation. */
  reservation(
    asked: Asked,
    startedAtMs: number | undefined,
    answer: Answered | NoAnswer,
    { id, hold }: ReservationTerms,
  ): Reserved {
    if (answer instanceof NoAnswer) {
      const { decision, giveBack } = this.#parts.fallback.admit(asked, startedAtMs, answer)
      const settlement = (tokens: number): SettleRequest | undefined => {
        const posting = giveBack(tokens)
        return posting && { ...posting, as: 'committed' }
      }
      return { kind: 'held', asked, decision, settlement, isNamed: false, isUnrecorded: hold !== undefined }
    }
    const { outcome, endsAt } = answer
    if (outcome === 'duplicate' || outcome === 'cancelled' || outcome === 'expired') {
      return { kind: 'repeated', status: outcome }
    }
    if (outcome === 'too_many_holds') {
      const message = `the subject has ${hold!.maxHolds} open holds (maxHolds): settle them, or let them end`
      throw new QuotaError('too_many_holds', message)
    }
    if (outcome === 'conflict') {
      throw new QuotaError('id_conflict', `the id was used for another operation or cost than "${asked.operation}"`)
    }
    const decision = this.decision(asked, startedAtMs, answer)
    if (!decision.allowed) return { kind: 'refused', decision }
    const { subject, category } = asked
    const { layers } = answer.quotas
    // States may be worked out when they are looked at: most reservations are kept in full, and ask for none.
    const settlement = (tokens: number, as: SettleRequest['as']): SettleRequest => {
      return { subject, category, layers, states: answer.states, giveBack: [tokens], as, id }
    }
    const held = hold === undefined ? undefined : this.#parts.held(asked, id!, hold.ttlMs, endsAt!)
    return { kind: 'held', asked, decision, settlement, isNamed: id !== undefined, hold: held }
  }

  /** The same as a reservation. */
  freely(asked: Asked): Reserved {
    return { kind: 'held', asked, decision: this.free(asked), settlement: () => undefined, isNamed: false }
  }

  /** What costs nothing is admitted, and no counter is asked. */
  free(asked: Asked): AdmittedDecision {
    const { live, clock, frames } = this.#parts
    const { settings, defaults } = live.compiled
    const quotas = (this.#knownTo(asked) ?? defaults)[asked.category]!
    const periods = this.#parts.periods.of(quotas)
    const counted = { now: clock.now(), states: [], quotas, periods, settingsVersion: settings.version }
    return admitted(asked, counted, frames[asked.category]!, 'free')
  }

  /** Settings that cannot be read hold up nothing that is free. */
  #knownTo({ subject, plan }: Asked): readonly Quotas[] | undefined {
    try {
      return this.#parts.live.known(subject, plan)
    } catch {
      return undefined
    }
  }

  /** What a request would be answered, by a look at the counters. */
  foreseen(asked: Asked, quotas: Quotas, { periods }: ReadRequest, { now, states: [states] }: ReadReply): Decision {
    const { frames, live } = this.#parts
    const frame = frames[asked.category]!
    const settingsVersion = live.compiled.settings.version
    const counted = { now, states: states!, quotas, periods, settingsVersion, isLook: true }
    return admits(frame, counted, asked) ? admitted(asked, counted, frame, 'store') : refused(asked, counted, frame)
  }

  /** The look that {@link foreseen} needs. */
  lookFor({ subject, category }: Asked, quotas: Quotas): ReadRequest {
    const { layers } = quotas
    return { subject, categories: [category], layers, periods: this.#parts.periods.of(quotas) }
  }

  /** The look that {@link status} needs. */
  lookAt(subject: Subject, quotas: readonly Quotas[]): ReadRequest {
    const { layers } = quotas[0]!
    return { subject, categories: [...quotas.keys()], layers, periods: this.#parts.periods.of(quotas[0]!) }
  }

  /** @param holds the subject's open holds */
  status(
    subject: Subject,
    quotas: readonly Quotas[],
    { periods }: ReadRequest,
    { now, states }: ReadReply,
    holds: readonly HoldRecord[],
  ): QuotaStatus {
    const { frames, live } = this.#parts
    const entries = frames.map((frame, category) => {
      const looked = { now, states: states[category]!, quotas: quotas[category]!, periods }
      const windows = windowStatuses(frame, looked)
      const ofCategory = holds.filter((hold) => hold.category === category)
      return [frame.category, ofCategory.length === 0 ? windows : withHeld(windows, frame, ofCategory)] as const
    })
    const settingsVersion = live.compiled.settings.version
    return { subject, now, settingsVersion, windows: Object.fromEntries(entries) }
  }
}

/** What holds have in the very windows that are shown, in the first layer of the subject's own. */
function withHeld(
  windows: readonly HeldWindowStatus[],
  { layout, layers }: DecisionFrame,
  holds: readonly HoldRecord[],
): readonly HeldWindowStatus[] {
  const own = layers.find(({ shared }) => !shared)!.name
  return windows.map((status) => {
    if (status.layer !== own) return status
    const cell = layout.cells.findIndex(({ label }) => label === status.window)
    const isSame = (startedAt: number): boolean => status.kind === 'concurrency' || startedAt === status.startedAt
    const tokens = holds.map(({ charged }) => (isSame(charged[2 * cell]!) ? charged[2 * cell + 1]! : 0))
    const held = Math.min(
      status.used,
      tokens.reduce((sum, each) => sum + each, 0),
    )
    return held > 0 ? { ...status, held } : status
  })
}
