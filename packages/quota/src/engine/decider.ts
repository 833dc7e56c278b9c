import { admits, type DecisionFrame, windowStatuses } from '../decision/decide.ts'
import type { AdmittedDecision, Decision } from '../decision/decision.ts'
import { type Asked, admitted, refused } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Quotas } from '../policy/limits.ts'
import type { ReadReply, ReadRequest, ReservationId, SettleRequest } from '../store/quota-store.ts'
import type { Subject } from '../store/schema.ts'
import type { Clock } from '../time/clock.ts'
import type { RequestCheck } from './check.ts'
import { type Answered, NoAnswer } from './counting.ts'
import type { Fallback } from './fallback.ts'
import type { LiveSettings } from './live-settings.ts'
import type { QuotaRequest, QuotaStatus } from './requests.ts'
import type { Telling } from './telling.ts'

/** What every decision is made with, whichever way the stores answer. */
export interface DeciderParts {
  readonly check: RequestCheck
  readonly live: LiveSettings
  readonly frames: readonly DecisionFrame[]
  readonly telling: Telling
  readonly fallback: Fallback
  readonly clock: Clock
  /** Posts to the store what was spent while it did not answer; never throws. */
  readonly post: (posting: Omit<SettleRequest, 'id'>) => void
}

/** What {@link Decider.reservation} found: tokens held under a decision, or the end of it. */
export type Reserved =
  | {
      readonly kind: 'held'
      readonly decision: AdmittedDecision
      /** What has to be sent to the store to settle; nothing where nothing has to be. */
      readonly settlement: (giveBack: number, as: SettleRequest['as']) => SettleRequest | undefined
      readonly hasId: boolean
    }
  | { readonly kind: 'refused'; readonly decision: Extract<Decision, { allowed: false }> }
  | { readonly kind: 'repeated'; readonly status: 'duplicate' | 'cancelled' }

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
    id: ReservationId | undefined,
  ): Reserved {
    if (answer instanceof NoAnswer) {
      const { decision, giveBack } = this.#parts.fallback.admit(asked, startedAtMs, answer)
      const settlement = (tokens: number): SettleRequest | undefined => {
        const posting = giveBack(tokens)
        return posting && { ...posting, as: 'committed' }
      }
      return { kind: 'held', decision, settlement, hasId: false }
    }
    const { outcome, states } = answer
    if (outcome === 'duplicate' || outcome === 'cancelled') return { kind: 'repeated', status: outcome }
    if (outcome === 'conflict') {
      throw new QuotaError('id_conflict', `the id was used for another operation or cost than "${asked.operation}"`)
    }
    const decision = this.decision(asked, startedAtMs, answer)
    if (!decision.allowed) return { kind: 'refused', decision }
    const { subject, category } = asked
    const { layers } = answer.quotas
    const settlement = (giveBack: number, as: SettleRequest['as']): SettleRequest => {
      return { subject, category, layers, states, giveBack, as, id }
    }
    return { kind: 'held', decision, settlement, hasId: id !== undefined }
  }

  /** What costs nothing is admitted, and no counter is asked. */
  free(asked: Asked): AdmittedDecision {
    const { live, clock, frames } = this.#parts
    const { settings, defaults } = live.compiled
    const quotas = (this.#knownTo(asked.subject) ?? defaults)[asked.category]!
    const counted = { now: clock.now(), states: [], quotas, settingsVersion: settings.version }
    return admitted(asked, counted, frames[asked.category]!, 'free')
  }

  /** Settings that cannot be read hold up nothing that is free. */
  #knownTo(subject: Subject): readonly Quotas[] | undefined {
    try {
      return this.#parts.live.known(subject)
    } catch {
      return undefined
    }
  }

  /** What a request would be answered, by a look at the counters. */
  foreseen(asked: Asked, quotas: Quotas, { now, states: [states] }: ReadReply): Decision {
    const { frames, live } = this.#parts
    const frame = frames[asked.category]!
    const counted = { now, states: states!, quotas, settingsVersion: live.compiled.settings.version }
    return admits(quotas, states!, asked.cost)
      ? admitted(asked, counted, frame, 'store')
      : refused(asked, counted, frame)
  }

  /** The look that {@link foreseen} needs. */
  lookFor({ subject, category }: Asked, { layers }: Quotas): ReadRequest {
    return { subject, categories: [category], layers }
  }

  /** The look that {@link status} needs. */
  lookAt(subject: Subject, quotas: readonly Quotas[]): ReadRequest {
    return { subject, categories: [...quotas.keys()], layers: quotas[0]!.layers }
  }

  status(subject: Subject, quotas: readonly Quotas[], { now, states }: ReadReply): QuotaStatus {
    const { frames, live } = this.#parts
    const entries = frames.map((frame, index) => {
      return [frame.category, windowStatuses(frame, quotas[index]!, states[index]!)] as const
    })
    const settingsVersion = live.compiled.settings.version
    return { subject, now, settingsVersion, windows: Object.fromEntries(entries) }
  }
}
