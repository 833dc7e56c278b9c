import type { Decision } from '../decision/decision.ts'
import type { Quotas } from '../policy/limits.ts'
import type { ReadReply, ReadRequest, ResetRequest, SyncCounters, SyncStore } from '../store/quota-store.ts'
import { type Subject, storeSchema } from '../store/schema.ts'
import { orAborted } from './abort.ts'
import { SyncCounting } from './counting.ts'
import type { Decider, Reserved } from './decider.ts'
import { Engine } from './engine.ts'
import type { EngineParts } from './engine-parts.ts'
import type { SyncQuota } from './quota.ts'
import type { QuotaRequest, QuotaStatus, Reservation, ReserveRequest, SyncReservation } from './requests.ts'
import { awaited, heldNow, mayRepeat, refusedReservation, repeatedReservation } from './reservation.ts'
import { askNow } from './unavailable.ts'

/** An engine whose stores answer at once. */
export class SyncEngine extends Engine implements SyncQuota {
  readonly sync = true
  readonly #counters: SyncCounters
  readonly #counting: SyncCounting
  readonly #decider: Decider

  constructor(parts: EngineParts, store: SyncStore) {
    super(parts)
    this.#counters = store.open(storeSchema(parts.policy))
    this.#counting = new SyncCounting(parts.live, this.#counters)
    this.#decider = parts.decider((posting) => {
      try {
        this.#counters.settle(posting)
      } catch {
        // Posted once, whether that arrives or not.
      }
    })
  }

  consumeSync(request: QuotaRequest): Decision {
    this.requireOpen()
    const asked = this.#decider.asked(request)
    if (asked.cost === 0) return this.#decider.free(asked)
    const startedAtMs = this.parts.telling.start()
    return this.#decider.decision(asked, startedAtMs, this.#counting.take(asked, undefined))
  }

  peekSync(request: QuotaRequest): Decision {
    this.requireOpen()
    const asked = this.#decider.asked(request)
    if (asked.cost === 0) return this.#decider.free(asked)
    const quotas = this.#quotasOf(asked.subject)[asked.category]!
    return this.#decider.foreseen(asked, quotas, this.#look(this.#decider.lookFor(asked, quotas)))
  }

  reserveSync(request: ReserveRequest): SyncReservation {
    this.requireOpen()
    const asked = this.#decider.asked(request)
    const id = this.parts.check.id(request, asked)
    if (asked.cost === 0 && id === undefined) {
      return heldNow(this.#decider.free(asked), () => undefined, mayRepeat(false))
    }
    const startedAtMs = this.parts.telling.start()
    return this.#handle(this.#decider.reservation(asked, startedAtMs, this.#counting.take(asked, id), id))
  }

  statusSync(subject: Subject): QuotaStatus {
    this.requireOpen()
    this.parts.check.subject(subject)
    const quotas = this.#quotasOf(subject)
    return this.#decider.status(subject, quotas, this.#look(this.#decider.lookAt(subject, quotas)))
  }

  async consume(request: QuotaRequest): Promise<Decision> {
    request.signal?.throwIfAborted()
    return this.consumeSync(request)
  }

  async peek(request: QuotaRequest): Promise<Decision> {
    return this.peekSync(request)
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    const { signal } = request
    signal?.throwIfAborted()
    const reservation = awaited(this.reserveSync(request)) as Reservation
    return signal === undefined ? reservation : orAborted(Promise.resolve(reservation), signal)
  }

  async status(subject: Subject): Promise<QuotaStatus> {
    return this.statusSync(subject)
  }

  protected async closeWindows(request: ResetRequest): Promise<void> {
    this.#counters.reset(request)
  }

  #quotasOf(subject: Subject): readonly Quotas[] {
    return askNow(() => this.parts.live.known(subject)!, 'the settings store')
  }

  #look(request: ReadRequest): ReadReply {
    return askNow(() => this.#counters.read(request))
  }

  #handle(reserved: Reserved): SyncReservation {
    if (reserved.kind === 'refused') return refusedReservation(reserved.decision)
    if (reserved.kind === 'repeated') return repeatedReservation(reserved.status) as SyncReservation
    const { decision, settlement, hasId } = reserved
    const settle = (giveBack: number, as: 'committed' | 'cancelled'): void => {
      const request = settlement(giveBack, as)
      if (request !== undefined) askNow(() => this.#counters.settle(request))
    }
    return heldNow(decision, settle, mayRepeat(hasId))
  }
}
