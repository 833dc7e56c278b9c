import { admits, type DecisionFrame, type WindowStates } from '../decision/decide.ts'
import type { AdmittedDecision, Decision } from '../decision/decision.ts'
import { type Asked, admitted, type Counted, refused } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Policy } from '../policy/policy.ts'
import {
  chain,
  type MaybePromise,
  type QuotaStore,
  type ReservationId,
  type TakeOutcome,
  type TakeReply,
} from '../store/quota-store.ts'
import type { Clock, Stopwatch } from '../time/clock.ts'
import type { DecisionTime, Events } from './events.ts'
import type { LiveSettings } from './live-settings.ts'
import { LocalShares, type Posting, type TakeBack } from './local-shares.ts'
import { NearLimitWatch } from './near-limit.ts'
import type { FailurePolicy } from './options.ts'
import type { QuotaRequest, ReserveRequest } from './requests.ts'
import { held, type MaybeReservation, repeated, turnedAway } from './reservation.ts'
import { checkSubject, checkText, ownLayerNames } from './text.ts'
import { asking, unavailable } from './unavailable.ts'

/** What a {@link Decider} decides with. */
export interface DeciderParts {
  readonly policy: Policy
  readonly store: QuotaStore
  readonly live: LiveSettings
  readonly frames: readonly DecisionFrame[]
  readonly events: Events
  readonly clock: Clock
  readonly stopwatch: Stopwatch
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  readonly idTtlMs: number
  readonly createNonce: () => string
}

/** A request that was checked. */
interface Request extends Asked {
  /** By the stopwatch; `undefined` when nobody listened to how long decisions take. */
  readonly askedAtMs: number | undefined
}

/** A store's answer, and the quotas it was decided under. */
interface Answer extends Counted {
  readonly outcome: TakeOutcome
}

/** No answer: the store threw, or there was no room. */
class NoAnswer {
  readonly error: unknown
  /** What would have been asked; absent when not even the settings could be read. */
  readonly quotas: Quotas | undefined

  constructor(error: unknown, quotas?: Quotas) {
    this.error = error
    this.quotas = quotas
  }
}

/** What the failure policy says, and how tokens that it let somebody spend are given back. */
interface Fallback {
  readonly decision: AdmittedDecision
  readonly giveBack: (tokens: number) => MaybePromise<void>
}

/**
 * Turns requests into decisions: checks a request, asks the store under the settings in force, tells the listeners,
 * and answers by the failure policy when the store does not. Answers as fast as its stores do.
 */
export class Decider {
  readonly #policy: Policy
  readonly #ownLayers: readonly string[]
  readonly #store: QuotaStore
  /** Whether both stores answer at once. */
  readonly #sync: boolean
  readonly #live: LiveSettings
  readonly #frames: readonly DecisionFrame[]
  readonly #events: Events
  readonly #clock: Clock
  readonly #stopwatch: Stopwatch
  readonly #failurePolicy: Readonly<Record<string, FailurePolicy>>
  readonly #idTtlMs: number
  readonly #createNonce: () => string
  readonly #nearLimit: NearLimitWatch
  /** Kept only where some category decides locally. */
  readonly #shares: LocalShares | undefined

  constructor(parts: DeciderParts) {
    this.#policy = parts.policy
    this.#ownLayers = ownLayerNames(parts.policy.layers)
    this.#store = parts.store
    this.#sync = parts.store.sync && parts.live.sync
    this.#live = parts.live
    this.#frames = parts.frames
    this.#events = parts.events
    this.#clock = parts.clock
    this.#stopwatch = parts.stopwatch
    this.#failurePolicy = parts.failurePolicy
    this.#idTtlMs = parts.idTtlMs
    this.#createNonce = parts.createNonce
    this.#nearLimit = new NearLimitWatch(parts.policy.layers)
    const { windows, layers } = parts.policy
    const isLocal = Object.values(parts.failurePolicy).some((policy) => typeof policy === 'object')
    this.#shares = isLocal ? new LocalShares(windows, layers, parts.clock) : undefined
  }

  consume(request: QuotaRequest): MaybePromise<Decision> {
    const asked = this.#ask(request)
    if (asked.cost === 0) return this.#free(asked)
    return this.#sync ? this.#decision(asked, this.#takeNow(asked)) : this.#consumeLater(asked)
  }

  #consumeLater(asked: Request): MaybePromise<Decision> {
    return chain(this.#take(asked, undefined), (answer) => this.#decision(asked, answer))
  }

  /** As {@link #take}, where both stores answer at once: nothing is made for an answer that comes later. */
  #takeNow(asked: Asked): Answer | NoAnswer {
    let quotas: Quotas | undefined
    try {
      quotas = (this.#live.quotasOf(asked.subject) as readonly Quotas[])[asked.category]!
      const settingsVersion = this.#live.compiled.settings.version
      const { subject, category, cost } = asked
      const request = { subject, category, quotas, cost, settingsVersion, id: undefined }
      return answerOf(this.#store.take(request) as TakeReply, quotas, settingsVersion)
    } catch (error) {
      return new NoAnswer(error, quotas)
    }
  }

  peek(request: QuotaRequest): MaybePromise<Decision> {
    const asked = this.#ask(request)
    if (asked.cost === 0) return this.#free(asked)
    return asking(() =>
      chain(this.#live.quotasOf(asked.subject), (byCategory) => {
        const quotas = byCategory[asked.category]!
        const read = this.#store.read({ subject: asked.subject, categories: [asked.category], layers: quotas.layers })
        return chain(read, ({ now, states }) => this.#foresee(asked, quotas, now, states[0]!))
      }),
    )
  }

  #foresee(asked: Asked, quotas: Quotas, now: number, states: WindowStates): Decision {
    const frame = this.#frames[asked.category]!
    const counted = { now, states, quotas, settingsVersion: this.#live.compiled.settings.version }
    return admits(quotas, states, asked.cost)
      ? admitted(asked, counted, frame, 'store')
      : refused(asked, counted, frame)
  }

  reserve(request: ReserveRequest): MaybePromise<MaybeReservation> {
    const asked = this.#ask(request)
    const id = this.#idOf(request, asked)
    if (asked.cost === 0) return held(this.#free(asked), () => undefined)
    return chain(this.#take(asked, id), (answer) => this.#reservation(asked, answer, id))
  }

  #reservation(asked: Request, answer: Answer | NoAnswer, id: ReservationId | undefined): MaybeReservation {
    if (answer instanceof NoAnswer) {
      const fallback = this.#withoutStore(asked, answer)
      return held(fallback.decision, fallback.giveBack)
    }
    const { outcome } = answer
    if (outcome === 'duplicate' || outcome === 'cancelled') return repeated(outcome)
    if (outcome === 'conflict') {
      const message = `the id was used for another operation or cost than "${asked.operation}", ${asked.cost} tokens`
      throw new QuotaError('id_conflict', message)
    }
    const decision = this.#decision(asked, answer)
    if (!decision.allowed) return turnedAway(decision)
    const { subject, category } = asked
    const { states } = answer
    const { layers } = answer.quotas
    return held(decision, (giveBack, as) =>
      asking(() => this.#store.settle({ subject, category, layers, states, giveBack, as, id })),
    )
  }

  /** Checks a request; errors for the programmer are thrown here and nowhere later. */
  #ask(request: QuotaRequest): Request {
    const operation = this.#live.compiled.operations.get(request.operation)
    if (operation === undefined) throw unknownOperation(request.operation, this.#policy)
    checkSubject(request.subject, this.#ownLayers)
    const cost = request.cost ?? operation.cost
    if (!Number.isSafeInteger(cost) || cost < 0) throw invalidCost(cost)
    const { name, category } = operation
    const askedAtMs = this.#events.hearsTimes ? this.#stopwatch() : undefined
    return { subject: request.subject, operation: name, category, cost, askedAtMs }
  }

  #idOf({ id }: ReserveRequest, { operation, cost }: Asked): ReservationId | undefined {
    if (id === undefined) return undefined
    checkText(id, 'invalid_id', 'id')
    return { id, nonce: this.#createNonce(), fingerprint: `${operation}:${cost}`, ttlMs: this.#idTtlMs }
  }

  #take(asked: Asked, id: ReservationId | undefined, again = true): MaybePromise<Answer | NoAnswer> {
    try {
      const quotas = this.#live.quotasOf(asked.subject)
      if (!(quotas instanceof Promise)) return this.#takeUnder(quotas[asked.category]!, asked, id, again)
      return quotas.then(
        (late) => this.#takeUnder(late[asked.category]!, asked, id, again),
        (error: unknown) => new NoAnswer(error),
      )
    } catch (error) {
      return new NoAnswer(error)
    }
  }

  #takeUnder(
    quotas: Quotas,
    asked: Asked,
    id: ReservationId | undefined,
    again: boolean,
  ): MaybePromise<Answer | NoAnswer> {
    try {
      const answer = this.#askStore(asked, quotas, id)
      if (!(answer instanceof Promise)) return answer
      return answer.then(
        (late) => (late.outcome === 'stale' ? this.#takeWithNewer(asked, id, again) : late),
        (error: unknown) => new NoAnswer(error, quotas),
      )
    } catch (error) {
      return new NoAnswer(error, quotas)
    }
  }

  #askStore(asked: Asked, quotas: Quotas, id: ReservationId | undefined): MaybePromise<Answer> {
    const { subject, category, cost } = asked
    const settingsVersion = this.#live.compiled.settings.version
    const reply = this.#store.take({ subject, category, quotas, cost, settingsVersion, id })
    return reply instanceof Promise
      ? reply.then((late) => answerOf(late, quotas, settingsVersion))
      : answerOf(reply, quotas, settingsVersion)
  }

  /** The store knows newer settings than this process: reads them and asks once more. */
  async #takeWithNewer(asked: Asked, id: ReservationId | undefined, again: boolean): Promise<Answer | NoAnswer> {
    if (!again)
      return new NoAnswer(new QuotaError('store_error', 'the settings changed faster than they could be read'))
    await this.#live.refresh()
    return this.#take(asked, id, false)
  }

  /** The decision of an answer, told to those who listen; without an answer, what the failure policy says. */
  #decision(asked: Request, answer: Answer | NoAnswer): Decision {
    if (answer instanceof NoAnswer) return this.#withoutStore(asked, answer).decision
    const frame = this.#frames[asked.category]!
    const decision =
      answer.outcome === 'admitted' ? admitted(asked, answer, frame, 'store') : refused(asked, answer, frame)
    if (this.#shares !== undefined) this.#seen(this.#shares, asked, answer)
    if (this.#events.hearsDecisions) this.#tell(decision, asked)
    return decision
  }

  #tellTime({ category, askedAtMs }: Request, outcome: DecisionTime['outcome']): void {
    // Whoever began to listen while a request was under way does not hear of it.
    if (!this.#events.hearsTimes || askedAtMs === undefined) return
    const durationMs = this.#stopwatch() - askedAtMs
    this.#events.tell('decided', { category: this.#policy.categories[category]!, outcome, durationMs })
  }

  #tell(decision: Decision, asked: Request): void {
    this.#tellTime(asked, decision.allowed ? 'admitted' : 'refused')
    if (!decision.allowed) {
      this.#events.tell('refused', decision)
      return
    }
    this.#events.tell('admitted', decision)
    if (!this.#events.hears('nearLimit')) return
    for (const crossing of this.#nearLimit.crossings(decision)) this.#events.tell('nearLimit', crossing)
  }

  /** The store answers: remembers what it said, and posts what was spent while it did not. */
  #seen(shares: LocalShares, asked: Asked, answer: Answer): void {
    shares.see(asked, answer)
    for (const posting of shares.takePostings()) this.#settleLate(posting).catch(() => undefined)
  }

  async #settleLate(posting: Posting): Promise<void> {
    await this.#store.settle({ ...posting, as: 'committed' })
  }

  #withoutStore(asked: Request, { error, quotas }: NoAnswer): Fallback {
    const category = this.#policy.categories[asked.category]!
    const policy = this.#failurePolicy[category] ?? 'closed'
    const takeBack = typeof policy === 'object' ? this.#spendShare(asked, quotas, policy.local) : undefined
    const allowed = policy === 'open' || takeBack !== undefined
    this.#tellTime(asked, 'degraded')
    this.#events.tell('degraded', { category, allowed, error })
    if (!allowed) throw unavailable(error)
    const giveBack = (tokens: number): MaybePromise<void> => {
      const posting = takeBack?.(tokens)
      return posting === undefined ? undefined : asking(() => this.#settleLate(posting))
    }
    return { decision: this.#uncounted(asked, 'fallback'), giveBack }
  }

  #spendShare(
    asked: Asked,
    quotas: Quotas | undefined,
    { expectedProcesses }: { readonly expectedProcesses: number },
  ): TakeBack | undefined {
    return quotas === undefined ? undefined : this.#shares?.spend(asked, quotas.layers, expectedProcesses)
  }

  #free(asked: Asked): AdmittedDecision {
    return this.#uncounted(asked, 'free')
  }

  #uncounted(asked: Asked, source: 'free' | 'fallback'): AdmittedDecision {
    const settingsVersion = this.#live.compiled.settings.version
    const counted = { now: this.#clock.now(), states: [], quotas: NO_QUOTAS, settingsVersion }
    return admitted(asked, counted, this.#frames[asked.category]!, source)
  }
}

/** Of a decision for which no counter was asked. */
const NO_QUOTAS: Quotas = { layers: [], limits: [] }

function unknownOperation(operation: unknown, { operations }: Policy): QuotaError {
  const names = Object.keys(operations).join(', ')
  return new QuotaError('unknown_operation', `unknown operation "${String(operation)}"; the policy has ${names}`)
}

function invalidCost(cost: unknown): QuotaError {
  return new QuotaError('invalid_cost', `cost: expected a whole number of tokens, 0 or more, got ${String(cost)}`)
}

function answerOf({ outcome, now, states }: TakeReply, quotas: Quotas, settingsVersion: number): Answer {
  return { outcome, now, states, quotas, settingsVersion }
}
