import type { Asked, Counted } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Quotas } from '../policy/limits.ts'
import type { HoldTerms } from '../store/hold-port.ts'
import type { Counters, SyncCounters, TakeOutcome, TakeReply, TakeRequest } from '../store/quota-store.ts'
import type { SettingsReader } from '../store/settings-store.ts'
import { systemStopwatch } from '../time/clock.ts'
import type { ReservationTerms } from './check.ts'
import type { LivePeriods } from './live-periods.ts'
import type { LiveSettings } from './live-settings.ts'
import { withinTime } from './time-limit.ts'

/** A store's answer, and the quotas it was decided under. */
export interface Answered extends Counted {
  readonly outcome: Exclude<TakeOutcome, 'stale'>
  /** Of a hold: when it ends, epoch milliseconds. */
  readonly endsAt?: number | undefined
}

/** No answer: the store threw, was silent, or had no room. */
export class NoAnswer {
  readonly error: unknown
  /** What would have been asked. */
  readonly quotas: Quotas
  /** Whether it was the settings that could not be read. */
  readonly ofSettings: boolean

  constructor(error: unknown, quotas: Quotas, ofSettings = false) {
    this.error = error
    this.quotas = quotas
    this.ofSettings = ofSettings
  }
}

/** How often a decision reads settings that were changed again meanwhile. */
const MAX_CATCH_UPS = 3

/** How often it computes periods for a clock that was not where it was when it was last heard. */
const MAX_TURNS = 3

/** The counters know other settings than those that were decided under. */
class Stale {
  /** The revision that they know, `''`: none. */
  readonly revision: string

  constructor(revision: string) {
    this.revision = revision
  }
}

/** What a caller waits for at the moment, so that it can be named when that takes too long. */
interface Wait {
  forSettings: boolean
  /** The caller was told that there was no answer: nothing more is to be asked. */
  isOver: boolean
}

const TOO_LATE = 'too late'

const itself = (stale: Stale): Stale => stale

/** The subject's quotas by category; `undefined` where they have to be asked for. */
function knownTo(live: LiveSettings, { subject, plan, category }: Asked): readonly Quotas[] | NoAnswer | undefined {
  try {
    return live.known(subject, plan)
  } catch (error) {
    return new NoAnswer(error, live.compiled.defaults[category]!, true)
  }
}

/** Asks counters that answer at once, under settings that do. */
export class SyncCounting {
  readonly #live: LiveSettings
  readonly #periods: LivePeriods
  readonly #counters: SyncCounters

  constructor(live: LiveSettings, periods: LivePeriods, counters: SyncCounters) {
    this.#live = live
    this.#periods = periods
    this.#counters = counters
  }

  take(asked: Asked, { id, hold }: ReservationTerms): Answered | NoAnswer {
    const live = this.#live
    const counters = this.#counters
    let quotas = live.compiled.defaults[asked.category]!
    let ofSettings = true
    try {
      const { subject, category, cost, plan } = asked
      quotas = live.known(subject, plan)![category]!
      ofSettings = false
      if (id === undefined && hold === undefined && counters.takeOpen !== undefined) {
        const reply = counters.takeOpen(subject, category, quotas, cost, live.compiled.settings.version)
        if (reply !== undefined) return reply
      }
      for (let turns = 1; ; turns++) {
        const periods = this.#periods.of(quotas)
        // Settings that answer at once are read by every decision: nothing could be newer.
        const settingsRevision = undefined
        const request = {
          subject,
          category,
          quotas,
          cost,
          settingsRevision,
          id,
          periods,
          hold: holdUnder(quotas, hold),
        }
        const reply = counters.take(request)
        if (reply.outcome !== 'stale') {
          this.#periods.heard(reply.now)
          return answeredUnder(reply, quotas, periods, live.compiled.settings.version)
        }
        if (turns === MAX_TURNS) throw clockTurned()
        this.#periods.stale(reply.now)
      }
    } catch (error) {
      return new NoAnswer(error, quotas, ofSettings)
    }
  }
}

function clockTurned(): QuotaError {
  return new QuotaError('store_error', "the store's clock was turned faster than its periods could be computed")
}

/** What an {@link AsyncCounting} asks with. */
export interface AsyncCountingParts {
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly counters: Counters
  /** Whether the counters' answers are here at once. */
  readonly sync: boolean
  /** Whether the counters answer in time by themselves. */
  readonly keepTime: boolean
  readonly deadlineMs: number
  /** Reads the settings as a part of the transaction that the counters are in. */
  readonly settings?: SettingsReader | undefined
  /** Hears of an admission whose caller was already told that there was no answer. */
  readonly late: (asked: Asked, answer: Answered, terms: ReservationTerms) => void
}

/** Asks counters or settings that answer later, within a deadline. */
export class AsyncCounting {
  readonly #parts: AsyncCountingParts

  constructor(parts: AsyncCountingParts) {
    this.#parts = parts
  }

  /**
   * Never rejects, and waits for one promise where everything is as usual: each more would be a part of every decision.
   *
   * @param firstAskedAt when the caller began to wait for the very first look at the settings, by the machine's stopwatch
   */
  take(asked: Asked, terms: ReservationTerms, firstAskedAt?: number): Promise<Answered | NoAnswer> | NoAnswer {
    const { live, keepTime } = this.#parts
    const askedAt = firstAskedAt ?? systemStopwatch()
    const known = knownTo(live, asked)
    if (known instanceof NoAnswer) return known
    if (known === undefined || !keepTime || firstAskedAt !== undefined) {
      return this.#inTime(asked, terms, askedAt, (wait) => this.#takeKnowing(asked, terms, known, wait))
    }
    const caughtUp = (stale: Stale): Promise<Answered | NoAnswer> =>
      this.#inTime(asked, terms, askedAt, (wait) => this.#takeCaughtUp(asked, terms, stale, wait))
    return this.#takeUnder(known[asked.category]!, asked, terms, caughtUp)
  }

  /** Several stores are asked, or one that keeps no time: the caller waits for one deadline. */
  async #inTime(
    asked: Asked,
    terms: ReservationTerms,
    askedAt: number,
    ask: (wait: Wait) => Promise<Answered | NoAnswer>,
  ): Promise<Answered | NoAnswer> {
    const { live, deadlineMs, late } = this.#parts
    const wait: Wait = { forSettings: false, isOver: false }
    const leftMs = Math.max(0, deadlineMs - (systemStopwatch() - askedAt))
    try {
      return await withinTime(ask(wait), leftMs, (reply) => {
        if (!(reply instanceof NoAnswer) && reply.outcome === 'admitted') late(asked, reply, terms)
      })
    } catch (error) {
      wait.isOver = true
      return new NoAnswer(error, live.compiled.defaults[asked.category]!, wait.forSettings)
    }
  }

  /** @param known the subject's quotas by category, if they need not be asked for */
  async #takeKnowing(
    asked: Asked,
    terms: ReservationTerms,
    known: readonly Quotas[] | undefined,
    wait: Wait,
  ): Promise<Answered | NoAnswer> {
    const { live, settings } = this.#parts
    let quotas: readonly Quotas[]
    try {
      wait.forSettings = known === undefined
      quotas = known ?? live.quotasOf(await live.fetch(asked.subject, settings), asked.plan, asked.subject)
    } catch (error) {
      return new NoAnswer(error, live.compiled.defaults[asked.category]!, true)
    }
    wait.forSettings = false
    if (wait.isOver) return new NoAnswer(TOO_LATE, quotas[asked.category]!)
    const answer = await this.#takeUnder(quotas[asked.category]!, asked, terms, itself)
    return answer instanceof Stale ? this.#takeCaughtUp(asked, terms, answer, wait) : answer
  }

  /** Once more, after settings were read that the counters knew of and this process did not. */
  async #takeCaughtUp(asked: Asked, terms: ReservationTerms, first: Stale, wait: Wait): Promise<Answered | NoAnswer> {
    const { live, settings } = this.#parts
    let stale = first
    for (let tries = 1; tries <= MAX_CATCH_UPS; tries++) {
      let byCategory: readonly Quotas[]
      try {
        wait.forSettings = true
        await live.catchUp(stale.revision, settings)
        byCategory =
          live.known(asked.subject, asked.plan) ??
          live.quotasOf(await live.fetch(asked.subject, settings), asked.plan, asked.subject)
      } catch (error) {
        return new NoAnswer(error, live.compiled.defaults[asked.category]!, true)
      }
      wait.forSettings = false
      if (wait.isOver) return new NoAnswer(TOO_LATE, byCategory[asked.category]!)
      const answer = await this.#takeUnder(byCategory[asked.category]!, asked, terms, itself)
      // What was read was in force when it was read: stale again, it was changed since.
      if (!(answer instanceof Stale)) return answer
      stale = answer
    }
    const error = new QuotaError('store_error', 'the settings changed faster than they could be read')
    return new NoAnswer(error, live.compiled.defaults[asked.category]!)
  }

  /** @param stale what is answered where the counters know other settings */
  async #takeUnder<T>(
    quotas: Quotas,
    asked: Asked,
    terms: ReservationTerms,
    stale: (stale: Stale) => T | Promise<T>,
  ): Promise<Answered | NoAnswer | T> {
    const { live, periods, counters, sync } = this.#parts
    const { subject, category, cost } = asked
    try {
      for (let turns = 1; ; turns++) {
        const version = live.compiled.settings.version
        const known = periods.of(quotas)
        const settingsRevision = live.revision
        const { id } = terms
        const hold = holdUnder(quotas, terms.hold)
        const request: TakeRequest = { subject, category, quotas, cost, settingsRevision, id, periods: known, hold }
        const answer = counters.take(request)
        const reply = sync ? (answer as TakeReply) : await answer
        if (reply.outcome !== 'stale') {
          periods.heard(reply.now)
          return answeredUnder(reply, quotas, known, version)
        }
        if (reply.settingsRevision !== undefined || known === undefined) {
          return await stale(new Stale(reply.settingsRevision ?? ''))
        }
        if (turns === MAX_TURNS) throw clockTurned()
        periods.stale(reply.now)
      }
    } catch (error) {
      return new NoAnswer(error, quotas)
    }
  }
}

/** A hold has no slot where nothing that applies limits how many there are. */
function holdUnder({ isSlotless }: Quotas, hold: HoldTerms | undefined): HoldTerms | undefined {
  return isSlotless === true && hold?.slot === true ? { ...hold, slot: false } : hold
}

function answeredUnder(
  { outcome, now, states, endsAt }: TakeReply,
  quotas: Quotas,
  periods: readonly number[] | undefined,
  settingsVersion: number,
): Answered {
  return { outcome: outcome as Answered['outcome'], now, states, quotas, periods, settingsVersion, endsAt }
}
