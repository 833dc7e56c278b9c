import type { Decision } from '../decision/decision.ts'
import type { Asked } from '../decision/outcome.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Answer } from '../store/answer.ts'
import type {
  Counters,
  ReadReply,
  ReadRequest,
  ReservationId,
  ResetRequest,
  SettleRequest,
} from '../store/quota-store.ts'
import { type Subject, storeSchema } from '../store/schema.ts'
import { systemStopwatch } from '../time/clock.ts'
import { orAborted } from './abort.ts'
import { type Answered, AsyncCounting, NoAnswer } from './counting.ts'
import type { Decider, Reserved } from './decider.ts'
import { Engine } from './engine.ts'
import type { EngineParts } from './engine-parts.ts'
import type { QuotaRequest, QuotaStatus, Reservation, ReserveRequest } from './requests.ts'
import { awaited, heldLater, mayRepeat, refusedReservation, repeatedReservation } from './reservation.ts'
import { withinTime } from './time-limit.ts'
import { askLater, unavailable } from './unavailable.ts'

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
    const { live, deadlineMs, store } = parts
    this.#counters = store.open(storeSchema(parts.policy))
    this.#answersNow = store.sync
    // An answer that is here at once cannot be late.
    this.#keepsTime = store.sync || store.deadlineMs !== undefined
    this.#counting = new AsyncCounting({
      live,
      counters: this.#counters,
      sync: store.sync,
      keepTime: this.#keepsTime,
      deadlineMs,
      late: (asked, answer, id) => this.#giveBack(asked, answer, id),
    })
    // Posted once, whether that arrives or not.
    this.#decider = parts.decider((posting) => void this.#settle(posting).catch(() => undefined))
  }

  async consume(request: QuotaRequest): Promise<Decision> {
    const { signal } = request
    if (signal !== undefined) return (await this.#reserveOrAbort(request, signal)).decision as Decision
    const first = await this.#firstLook()
    const asked = this.#decider.asked(request)
    if (asked.cost === 0 && first?.error === undefined) return this.#decider.free(asked)
    const startedAtMs = this.parts.telling.start()
    return this.#decider.decision(asked, startedAtMs, await this.#take(asked, undefined, first))
  }

  async peek(request: QuotaRequest): Promise<Decision> {
    const askedAt = await this.#ready()
    const asked = this.#decider.asked(request)
    if (asked.cost === 0) return this.#decider.free(asked)
    const quotas = (await this.#quotasOf(asked.subject, askedAt))[asked.category]!
    const look = this.#decider.lookFor(asked, quotas)
    return this.#look(look, askedAt, (reply) => this.#decider.foreseen(asked, quotas, reply))
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    const { signal } = request
    return signal === undefined ? this.#reserve(request) : this.#reserveOrAbort(request, signal)
  }

  async status(subject: Subject): Promise<QuotaStatus> {
    const askedAt = await this.#ready()
    this.parts.check.subject(subject)
    const quotas = await this.#quotasOf(subject, askedAt)
    const look = this.#decider.lookAt(subject, quotas)
    return this.#look(look, askedAt, (reply) => this.#decider.status(subject, quotas, reply))
  }

  protected async closeWindows(request: ResetRequest): Promise<void> {
    await this.#done(this.#counters.reset(request))
  }

  async #reserve(request: ReserveRequest): Promise<Reservation> {
    const first = await this.#firstLook()
    const asked = this.#decider.asked(request)
    const id = this.parts.check.id(request, asked)
    if (asked.cost === 0 && id === undefined && first?.error === undefined) {
      return heldLater(this.#decider.free(asked), async () => undefined, mayRepeat(false))
    }
    const startedAtMs = this.parts.telling.start()
    const answer = await this.#take(asked, id, first)
    return this.#handle(this.#decider.reservation(asked, startedAtMs, answer, id))
  }

  async #reserveOrAbort(request: ReserveRequest, signal: AbortSignal): Promise<Reservation> {
    signal.throwIfAborted()
    return orAborted(this.#reserve(request), signal)
  }

  /** The very first look at the settings, which decisions wait for; its failure is the failure policy's. */
  async #firstLook(): Promise<FirstLook | undefined> {
    this.requireOpen()
    const { live } = this.parts
    if (live.loaded) return undefined
    const askedAt = systemStopwatch()
    try {
      await live.ready()
      return { askedAt }
    } catch (error) {
      return { askedAt, error }
    }
  }

  async #take(asked: Asked, id: ReservationId | undefined, first: FirstLook | undefined): Promise<Answered | NoAnswer> {
    if (first?.error === undefined) return this.#counting.take(asked, id, first?.askedAt)
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

  #quotasOf(subject: Subject, askedAt: number): Promise<readonly Quotas[]> {
    const { live } = this.parts
    const ask = async (): Promise<readonly Quotas[]> => live.known(subject) ?? live.quotasOf(await live.fetch(subject))
    return this.#inTime(askedAt, ask, 'the settings store')
  }

  #look<T>(request: ReadRequest, askedAt: number, answered: (reply: ReadReply) => T): Promise<T> {
    return this.#inTime(askedAt, async () => {
      const reply = this.#counters.read(request)
      return answered(this.#answersNow ? (reply as ReadReply) : await reply)
    })
  }

  async #settle(request: SettleRequest): Promise<void> {
    await this.#done(this.#counters.settle(request))
  }

  /** Waits for counters that have nothing to say, in time. */
  async #done(answer: Answer<void>): Promise<void> {
    if (this.#keepsTime) await answer
    else await withinTime(answer, this.parts.deadlineMs)
  }

  /** An admission whose caller was told that there was no answer. A refund that fails leaves the tokens charged. */
  #giveBack({ subject, category, cost }: Asked, { states, quotas }: Answered, id: ReservationId | undefined): void {
    const { layers } = quotas
    this.#settle({ subject, category, layers, states, giveBack: cost, as: 'cancelled', id }).catch(() => undefined)
  }

  #handle(reserved: Reserved): Reservation {
    if (reserved.kind === 'refused') return awaited(refusedReservation(reserved.decision))
    if (reserved.kind === 'repeated') return awaited(repeatedReservation(reserved.status)) as Reservation
    const { decision, settlement, hasId } = reserved
    const settle = async (giveBack: number, as: 'committed' | 'cancelled'): Promise<void> => {
      const request = settlement(giveBack, as)
      if (request !== undefined) await askLater(() => this.#settle(request))
    }
    return heldLater(decision, settle, mayRepeat(hasId))
  }
}

/** How the first look at the settings went. */
interface FirstLook {
  /** Since when somebody waits for it, by the machine's stopwatch. */
  readonly askedAt: number
  /** Why there is nothing to decide by; never `undefined` where that is so. */
  readonly error?: unknown
}
