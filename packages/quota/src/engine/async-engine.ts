import type { Decision } from '../decision/decision.ts'
import type { Asked } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Quotas } from '../policy/limits.ts'
import { type Answer, boxed } from '../store/answer.ts'
import type { AsyncHolds, HoldRecord, SyncHolds } from '../store/hold-port.ts'
import type { Counters, ReadReply, ReadRequest, ResetRequest, SettleRequest } from '../store/quota-store.ts'
import { type Subject, storeSchema } from '../store/schema.ts'
import { systemStopwatch } from '../time/clock.ts'
import { orAborted } from './abort.ts'
import type { ReservationTerms } from './check.ts'
import { type Answered, AsyncCounting, NoAnswer } from './counting.ts'
import type { Decider, Reserved } from './decider.ts'
import { Engine } from './engine.ts'
import type { EngineParts } from './engine-parts.ts'
import type { HeldTokens } from './held-tokens.ts'
import type { QuotaWithin } from './quota.ts'
import type {
  HeldReservation,
  QuotaRequest,
  QuotaStatus,
  RepeatedReservation,
  Reservation,
  ReservationCalls,
  ReserveRequest,
  StatusOptions,
} from './requests.ts'
import {
  awaited,
  callsLater,
  giveBackOfPlain,
  giveBackOfUnrecorded,
  heldFacts,
  mayRepeat,
  moreOf,
  refusedReservation,
  repeatedReservation,
} from './reservation.ts'
import { withinTime } from './time-limit.ts'
import { askLater, unavailable } from './unavailable.ts'

/** How often something is asked again since the store's clock, or the settings, were not what they were last. */
const MAX_TURNS = 3

/** An engine some store of which answers later. */
export class AsyncEngine extends Engine {
  readonly sync = false
  readonly #counters: Counters
  /** Whether the counters' answers are here at once, beside settings' that are not. */
  readonly #answersNow: boolean
  /** Whether the counters answer in time by themselves. */
  readonly #keepsTime: boolean
  readonly #counting: AsyncCounting
  readonly #decider: Decider

  constructor(parts: EngineParts) {
    super(parts)
    const { live, periods, deadlineMs, store } = parts
    this.#counters = store.open(storeSchema(parts.policy))
    this.#answersNow = store.sync
    // An answer that is here at once cannot be late.
    this.#keepsTime = store.sync || store.deadlineMs !== undefined
    this.#counting = new AsyncCounting({
      live,
      periods,
      counters: this.#counters,
      sync: store.sync,
      keepTime: this.#keepsTime,
      deadlineMs,
      late: (asked, answer, terms) => this.#giveBack(asked, answer, terms),
    })
    // Posted once, whether that arrives or not.
    this.#decider = parts.decider((posting) => void this.#settle(posting).catch(() => undefined))
  }

  async consume(request: QuotaRequest): Promise<Decision> {
    const { signal } = request
    if (signal !== undefined) return this.#consumeOrAbort(request, signal)
    const look = this.#firstLook()
    const first = look && (await look)
    const asked = this.#decider.asked(request)
    if (asked.slot) this.parts.check.consumable(asked)
    if (asked.cost === 0 && first?.error === undefined) return this.#decider.free(asked)
    const startedAtMs = this.parts.telling.start()
    return this.#decider.decision(asked, startedAtMs, await this.#take(asked, NO_TERMS, first))
  }

  override within(transaction: unknown): QuotaWithin {
    this.requireOpen()
    const { store, settingsStore, live, periods, deadlineMs, policy } = this.parts
    const counters = store.sync ? undefined : store.within?.(storeSchema(policy), transaction)
    if (counters === undefined) return super.within(transaction)
    const late = (): void => undefined
    const settings = settingsStore.within?.(transaction)
    const inTransaction = { counters, sync: false, keepTime: true, settings }
    // What comes late is a part of the transaction all the same, and goes with it.
    const counting = new AsyncCounting({ live, periods, deadlineMs, late, ...inTransaction })
    return {
      consume: async (request) => {
        this.requireOpen()
        if (!live.loaded) await askLater(() => live.ready(settings), 'the settings store')
        const asked = this.#decider.asked(request)
        if (asked.slot) this.parts.check.consumable(asked)
        if (asked.cost === 0) return this.#decider.free(asked)
        const startedAtMs = this.parts.telling.start()
        const answer = await counting.take(asked, NO_TERMS)
        if (answer instanceof NoAnswer)
          throw unavailable(answer.error, answer.ofSettings ? 'the settings store' : undefined)
        return this.#decider.decision(asked, startedAtMs, answer)
      },
    }
  }

  async peek(request: QuotaRequest): Promise<Decision> {
    const askedAt = await this.#ready()
    const asked = this.#decider.asked(request)
    if (asked.cost === 0 && !asked.slot) return this.#decider.free(asked)
    const { subject, plan, category } = asked
    const quotas = (await this.#quotasOf(subject, plan, askedAt))[category]!
    const lookNow = (): ReadRequest => this.#decider.lookFor(asked, quotas)
    return this.#look(lookNow, askedAt, (look, reply) => this.#decider.foreseen(asked, quotas, look, reply))
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    const { signal } = request
    return signal === undefined ? this.#reserve(request) : this.#reserveOrAbort(request, signal)
  }

  async status(subject: Subject, { plan }: StatusOptions = {}): Promise<QuotaStatus> {
    const askedAt = await this.#ready()
    this.parts.check.subject(subject, plan)
    const quotas = await this.#quotasOf(subject, plan, askedAt)
    const held = this.#heldBy(subject, askedAt)
    const lookNow = (): ReadRequest => this.#decider.lookAt(subject, quotas)
    const answered = async (look: ReadRequest, reply: ReadReply): Promise<QuotaStatus> =>
      this.#decider.status(subject, quotas, look, reply, await held)
    return this.#look(lookNow, askedAt, answered)
  }

  protected async closeWindows(request: ResetRequest): Promise<void> {
    await this.#done(this.#counters.reset(request))
  }

  protected holdCalls(hold: HeldTokens): ReservationCalls {
    const { asked } = hold
    const quotas = (): Promise<Quotas> => this.quotasNow(asked)
    return callsLater({
      hold,
      mayRepeat: () => true,
      check: (_as, actual) => hold.checkSettle(actual),
      extend: async (ttlMs) => {
        const request = hold.extendRequest(ttlMs)
        return hold.extended(await this.askHolds((holds) => holds.extend(request)))
      },
      add: async (tokens) => {
        const { request, reply } = await this.#inForce(
          async () => hold.growRequest(tokens, await quotas()),
          (asking) => this.askHolds((holds) => holds.grow(asking)),
        )
        return hold.grown(request, reply)
      },
      settle: async (as, actual) => {
        const { request, reply } = await this.#inForce(
          async () => hold.settleRequest(as, actual, await quotas()),
          (asking) => this.askHolds((holds) => holds.settle(asking)),
        )
        return hold.settled(request, reply)
      },
    })
  }

  protected async askHolds<T>(ask: (holds: SyncHolds | AsyncHolds) => Answer<T>): Promise<T> {
    const holds = this.requireHolds(this.#counters.holds)
    return askLater(() => this.#answer(ask(holds)))
  }

  protected async quotasNow({ subject, plan, category }: Asked): Promise<Quotas> {
    return (await this.#quotasOf(subject, plan, await this.#ready()))[category]!
  }

  async #reserve(request: ReserveRequest): Promise<Reservation> {
    const look = this.#firstLook()
    const first = look && (await look)
    const asked = this.#decider.asked(request)
    const terms = this.parts.check.terms(request, asked)
    if (asked.cost === 0 && terms.id === undefined && first?.error === undefined) {
      return this.#handle(this.#decider.freely(asked))
    }
    const startedAtMs = this.parts.telling.start()
    const answer = await this.#take(asked, terms, first)
    return this.#handle(this.#decider.reservation(asked, startedAtMs, answer, terms))
  }

  /** A consumption that can be taken back until the signal is too late: a reservation that is never settled. */
  async #consumeOrAbort(request: QuotaRequest, signal: AbortSignal): Promise<Decision> {
    const { live } = this.parts
    if (live.loaded) this.parts.check.consumable(this.#decider.asked(request))
    const { ttlMs: _, ...plain }: ReserveRequest = request
    return (await this.#reserveOrAbort(plain, signal)).decision as Decision
  }

  async #reserveOrAbort(request: ReserveRequest, signal: AbortSignal): Promise<Reservation> {
    signal.throwIfAborted()
    return orAborted(this.#reserve(request), signal)
  }

  /** The very first look at the settings, which decisions wait for; its failure is the failure policy's. */
  #firstLook(): Promise<FirstLook> | undefined {
    this.requireOpen()
    return this.parts.live.loaded ? undefined : this.#lookFirst()
  }

  async #lookFirst(): Promise<FirstLook> {
    const { live } = this.parts
    const askedAt = systemStopwatch()
    try {
      await live.ready()
      return { askedAt }
    } catch (error) {
      return { askedAt, error }
    }
  }

  #take(asked: Asked, terms: ReservationTerms, first: FirstLook | undefined): Promise<Answered | NoAnswer> | NoAnswer {
    if (first?.error === undefined) return this.#counting.take(asked, terms, first?.askedAt)
    return new NoAnswer(first.error, this.parts.live.compiled.defaults[asked.category]!, true)
  }

  /** The same for what is no decision: since when the caller waits, by the machine's stopwatch. */
  async #ready(): Promise<number> {
    const first = await this.#firstLook()
    if (first?.error !== undefined) throw unavailable(first.error, 'the settings store')
    return first?.askedAt ?? systemStopwatch()
  }

  #inTime<T>(askedAt: number, ask: () => Promise<T>, of?: 'the settings store'): Promise<T> {
    const leftMs = Math.max(0, this.parts.deadlineMs - (systemStopwatch() - askedAt))
    return askLater(() => withinTime(ask(), leftMs), of)
  }

  #quotasOf(subject: Subject, plan: string | undefined, askedAt: number): Promise<readonly Quotas[]> {
    const { live } = this.parts
    const ask = async (): Promise<readonly Quotas[]> =>
      live.known(subject, plan) ?? live.quotasOf(await live.fetch(subject), plan, subject)
    return this.#inTime(askedAt, ask, 'the settings store')
  }

  /** The open holds of a subject; a status waits for them as for its windows. */
  #heldBy(subject: Subject, askedAt: number): Promise<readonly HoldRecord[]> {
    const { holds } = this.#counters
    if (holds === undefined) return Promise.resolve(NO_HOLDS)
    const listed = this.#inTime(askedAt, async () => (await this.#answer(holds.list({ subject }))).holds)
    // Whoever waits for the windows first hears of their failure.
    listed.catch(() => undefined)
    return listed
  }

  #look<T>(
    lookNow: () => ReadRequest,
    askedAt: number,
    answered: (look: ReadRequest, reply: ReadReply) => T | Promise<T>,
  ): Promise<T> {
    return this.#inTime(askedAt, async () => {
      for (let turns = 1; ; turns++) {
        const look = lookNow()
        const answer = this.#counters.read(look)
        const reply = this.#answersNow ? (answer as ReadReply) : await answer
        if (reply.isStale !== true || turns === MAX_TURNS) return answered(look, reply)
        this.parts.periods.stale(reply.now)
      }
    })
  }

  /** Asks the store, again where it knows other settings, or its clock is outside of the periods that it was told. */
  async #inForce<Q, R extends { readonly outcome: string; readonly now: number }>(
    requestNow: () => Promise<Q>,
    ask: (request: Q) => Promise<R>,
  ): Promise<{ readonly request: Q; readonly reply: R }> {
    for (let turns = 1; ; turns++) {
      const request = await requestNow()
      const reply = await ask(request)
      if (reply.outcome !== 'stale') return { request, reply }
      if (turns === MAX_TURNS) throw unavailable(new QuotaError('store_error', 'settings and clock changed too fast'))
      const { settingsRevision } = reply as { readonly settingsRevision?: string | undefined }
      if (settingsRevision === undefined) this.parts.periods.stale(reply.now)
      else await askLater(() => this.parts.live.catchUp(settingsRevision), 'the settings store')
    }
  }

  async #settle(request: SettleRequest): Promise<void> {
    await this.#done(this.#counters.settle(request))
  }

  /** Waits for counters that have nothing to say, in time. */
  async #done(answer: Answer<void>): Promise<void> {
    if (this.#keepsTime) await answer
    else await withinTime(answer, this.parts.deadlineMs)
  }

  /** What counters say, in time. */
  async #answer<T>(answer: Answer<T>): Promise<T> {
    const counters = { sync: this.#answersNow }
    if (this.#keepsTime) return (await boxed(counters, answer)).value
    return (await withinTime(boxed(counters, answer), this.parts.deadlineMs)).value
  }

  /** An admission whose caller was told that there was no answer. A refund that fails leaves the tokens charged. */
  #giveBack(asked: Asked, { states, quotas, endsAt }: Answered, { id, hold }: ReservationTerms): void {
    const { subject, category, cost } = asked
    if (hold !== undefined) {
      this.holdCalls(this.parts.held(asked, id!, hold.ttlMs, endsAt!))
        .cancel()
        .catch(() => undefined)
      return
    }
    const { layers } = quotas
    this.#settle({ subject, category, layers, states, giveBack: cost, as: 'cancelled', id }).catch(() => undefined)
  }

  #handle(reserved: Reserved): Reservation {
    if (reserved.kind === 'refused') return awaited(refusedReservation(reserved.decision))
    if (reserved.kind === 'repeated') return awaited(repeatedReservation(reserved.status)) as RepeatedReservation
    return Object.assign(this.#calls(reserved), heldFacts(reserved.decision)) satisfies HeldReservation
  }

  #calls(reserved: Extract<Reserved, { kind: 'held' }>): ReservationCalls {
    const { asked, decision, settlement, hasId, hold, isUnrecorded = false } = reserved
    if (hold !== undefined) return this.holdCalls(hold)
    const giveBackOf = isUnrecorded ? giveBackOfUnrecorded : giveBackOfPlain
    return callsLater({
      hold: undefined,
      mayRepeat: mayRepeat(hasId),
      check: (as, actual) => void giveBackOf(as, decision.cost, actual),
      settle: async (as, actual) => {
        const { giveBack, uncharged } = giveBackOf(as, decision.cost, actual)
        // A full commit changes no counter, and only this handle could cancel: nothing to tell the store.
        const request = as === 'committed' && giveBack === 0 ? undefined : settlement(giveBack, as)
        if (request !== undefined) await askLater(() => this.#settle(request))
        return { charged: decision.cost - giveBack, uncharged }
      },
      extend: async (ttlMs) => this.parts.endWithoutStore(isUnrecorded, ttlMs),
      add: async (tokens) => {
        const more = moreOf(asked, tokens, isUnrecorded)
        return this.#decider.decision(more, undefined, await this.#take(more, NO_TERMS, undefined))
      },
    })
  }
}

const NO_TERMS: ReservationTerms = {}
const NO_HOLDS: readonly HoldRecord[] = []

/** How the first look at the settings went. */
interface FirstLook {
  /** Since when somebody waits for it, by the machine's stopwatch. */
  readonly askedAt: number
  /** Why there is nothing to decide by; never `undefined` where that is so. */
  readonly error?: unknown
}
