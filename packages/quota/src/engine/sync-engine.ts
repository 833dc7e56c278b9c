import type { Decision } from '../decision/decision.ts'
import type { Asked } from '../decision/outcome.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Answer } from '../store/answer.ts'
import type { HoldRecord, SyncHolds } from '../store/hold-port.ts'
import type { ReadReply, ReadRequest, ResetRequest, SyncCounters, SyncStore } from '../store/quota-store.ts'
import { type Subject, storeSchema } from '../store/schema.ts'
import { orAborted } from './abort.ts'
import { SyncCounting } from './counting.ts'
import type { Decider, Reserved } from './decider.ts'
import { Engine } from './engine.ts'
import type { EngineParts } from './engine-parts.ts'
import type { HeldTokens } from './held-tokens.ts'
import type { SyncQuota } from './quota.ts'
import type {
  HeldReservation,
  QuotaRequest,
  QuotaStatus,
  RepeatedReservation,
  Reservation,
  ReservationCalls,
  ReserveRequest,
  StatusOptions,
  SyncReservation,
} from './requests.ts'
import {
  awaited,
  awaitedCalls,
  type CallsNow,
  callsNow,
  giveBackOfPlain,
  giveBackOfUnrecorded,
  heldFacts,
  moreOf,
  type PlainOwner,
  PlainReservation,
  refusedReservation,
  repeatedReservation,
} from './reservation.ts'
import { askNow } from './unavailable.ts'

/** How often something is asked again since the store's clock was not where it was when it was last heard. */
const MAX_TURNS = 3

type HeldNow = Extract<Reserved, { kind: 'held' }>

/** An engine whose stores answer at once. */
export class SyncEngine extends Engine implements SyncQuota {
  readonly sync = true
  readonly #counters: SyncCounters
  readonly #counting: SyncCounting
  readonly #decider: Decider
  readonly #plain: PlainOwner<HeldNow>

  constructor(parts: EngineParts, store: SyncStore) {
    super(parts)
    this.#counters = store.open(storeSchema(parts.policy))
    this.#counting = new SyncCounting(parts.live, parts.periods, this.#counters)
    this.#decider = parts.decider((posting) => {
      try {
        this.#counters.settle(posting)
      } catch {
        // Posted once, whether that arrives or not.
      }
    })
    this.#plain = this.#plainOwner()
  }

  consumeSync(request: QuotaRequest): Decision {
    this.requireOpen()
    const asked = this.#decider.asked(request)
    if (asked.slot) this.parts.check.consumable(asked)
    if (asked.cost === 0) return this.#decider.free(asked)
    const startedAtMs = this.parts.telling.start()
    return this.#decider.decision(asked, startedAtMs, this.#counting.take(asked, NO_TERMS))
  }

  peekSync(request: QuotaRequest): Decision {
    this.requireOpen()
    const asked = this.#decider.asked(request)
    if (asked.cost === 0 && !asked.slot) return this.#decider.free(asked)
    const quotas = this.#quotasOf(asked.subject, asked.plan)[asked.category]!
    const { look, reply } = this.#look(() => this.#decider.lookFor(asked, quotas))
    return this.#decider.foreseen(asked, quotas, look, reply)
  }

  reserveSync(request: ReserveRequest): SyncReservation {
    const reserved = this.#reserve(request)
    if (reserved.kind === 'refused') return refusedReservation(reserved.decision)
    if (reserved.kind === 'repeated') return repeatedReservation(reserved.status) as SyncReservation
    if (reserved.hold === undefined) return new PlainReservation(this.#plain, reserved)
    return Object.assign(this.#holdCalls(reserved.hold), heldFacts(reserved.decision))
  }

  statusSync(subject: Subject, { plan }: StatusOptions = {}): QuotaStatus {
    this.requireOpen()
    this.parts.check.subject(subject, plan)
    const quotas = this.#quotasOf(subject, plan)
    const { look, reply } = this.#look(() => this.#decider.lookAt(subject, quotas))
    const { holds } = this.#counters
    const held = holds === undefined ? NO_HOLDS : askNow(() => holds.list({ subject })).holds
    return this.#decider.status(subject, quotas, look, reply, held)
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
    const reservation = this.#reserveLater(this.#reserve(request))
    return signal === undefined ? reservation : orAborted(Promise.resolve(reservation), signal)
  }

  async status(subject: Subject, options?: StatusOptions): Promise<QuotaStatus> {
    return this.statusSync(subject, options)
  }

  protected async closeWindows(request: ResetRequest): Promise<void> {
    this.#counters.reset(request)
  }

  protected holdCalls(hold: HeldTokens): ReservationCalls {
    return awaitedCalls(this.#holdCalls(hold))
  }

  protected async askHolds<T>(ask: (holds: SyncHolds) => Answer<T>): Promise<T> {
    const holds = this.#holds
    // What holds that answer at once say is the answer.
    return askNow(() => ask(holds) as T)
  }

  protected async quotasNow({ subject, plan, category }: Asked): Promise<Quotas> {
    return this.#quotasOf(subject, plan)[category]!
  }

  #reserve(request: ReserveRequest): Reserved {
    this.requireOpen()
    const asked = this.#decider.asked(request)
    const terms = this.parts.check.terms(request, asked)
    if (asked.cost === 0 && terms.id === undefined) return this.#decider.freely(asked)
    const startedAtMs = this.parts.telling.start()
    return this.#decider.reservation(asked, startedAtMs, this.#counting.take(asked, terms), terms)
  }

  #reserveLater(reserved: Reserved): Reservation {
    if (reserved.kind === 'refused') return awaited(refusedReservation(reserved.decision))
    if (reserved.kind === 'repeated') return awaited(repeatedReservation(reserved.status)) as RepeatedReservation
    const { hold } = reserved
    const calls = awaitedCalls(hold === undefined ? new PlainReservation(this.#plain, reserved) : this.#holdCalls(hold))
    return Object.assign(calls, heldFacts(reserved.decision)) satisfies HeldReservation
  }

  #plainOwner(): PlainOwner<HeldNow> {
    return {
      check: ({ isUnrecorded, decision: { cost } }, as, actual) => void endingOf(isUnrecorded)(as, cost, actual),
      settle: ({ isUnrecorded, decision: { cost }, settlement }, as, actual) => {
        const { giveBack, uncharged } = endingOf(isUnrecorded)(as, cost, actual)
        // A full commit changes no counter, and only this handle could cancel: nothing to tell the store.
        const request = as === 'committed' && giveBack === 0 ? undefined : settlement(giveBack, as)
        if (request !== undefined) askNow(() => this.#counters.settle(request))
        return { charged: cost - giveBack, uncharged }
      },
      extend: ({ isUnrecorded = false }, ttlMs) => this.parts.endWithoutStore(isUnrecorded, ttlMs),
      add: ({ asked, isUnrecorded = false }, tokens) => {
        const more = moreOf(asked, tokens, isUnrecorded)
        return this.#decider.decision(more, undefined, this.#counting.take(more, NO_TERMS))
      },
    }
  }

  #holdCalls(hold: HeldTokens): CallsNow {
    const holds = this.#holds
    const { asked } = hold
    const quotas = (): Quotas => this.#quotasOf(asked.subject, asked.plan)[asked.category]!
    return callsNow({
      hold,
      mayRepeat: () => true,
      check: (_as, actual) => hold.checkSettle(actual),
      extend: (ttlMs) => {
        const request = hold.extendRequest(ttlMs)
        return hold.extended(askNow(() => holds.extend(request)))
      },
      add: (tokens) => {
        const { request, reply } = this.#inPeriods(
          () => hold.growRequest(tokens, quotas()),
          (asking) => holds.grow(asking),
        )
        return hold.grown(request, reply)
      },
      settle: (as, actual) => {
        const { request, reply } = this.#inPeriods(
          () => hold.settleRequest(as, actual, quotas()),
          (asking) => holds.settle(asking),
        )
        return hold.settled(request, reply)
      },
    })
  }

  get #holds(): SyncHolds {
    return this.requireHolds(this.#counters.holds)
  }

  #quotasOf(subject: Subject, plan?: string): readonly Quotas[] {
    return askNow(() => this.parts.live.known(subject, plan)!, 'the settings store')
  }

  /** Asks the store, again where its clock is outside of the periods that it was told. */
  #inPeriods<Q, R extends { readonly outcome: string; readonly now: number }>(
    requestNow: () => Q,
    ask: (request: Q) => R,
  ): { readonly request: Q; readonly reply: R } {
    for (let turns = 1; ; turns++) {
      const request = requestNow()
      const reply = askNow(() => ask(request))
      if (reply.outcome !== 'stale' || turns === MAX_TURNS) return { request, reply }
      this.parts.periods.stale(reply.now)
    }
  }

  #look(lookNow: () => ReadRequest): { readonly look: ReadRequest; readonly reply: ReadReply } {
    for (let turns = 1; ; turns++) {
      const look = lookNow()
      const reply = askNow(() => this.#counters.read(look))
      if (reply.isStale !== true || turns === MAX_TURNS) return { look, reply }
      this.parts.periods.stale(reply.now)
    }
  }
}

function endingOf(isUnrecorded: boolean | undefined): typeof giveBackOfPlain {
  return isUnrecorded === true ? giveBackOfUnrecorded : giveBackOfPlain
}

const NO_TERMS = {}
const NO_HOLDS: readonly HoldRecord[] = []
