import type { Asked, Counted } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Quotas } from '../policy/limits.ts'
import type {
  Counters,
  ReservationId,
  SyncCounters,
  TakeOutcome,
  TakeReply,
  TakeRequest,
} from '../store/quota-store.ts'
import { systemStopwatch } from '../time/clock.ts'
import type { LiveSettings } from './live-settings.ts'
import { withinTime } from './time-limit.ts'

/** A store's answer, and the quotas it was decided under. */
export interface Answered extends Counted {
  readonly outcome: Exclude<TakeOutcome, 'stale'>
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

/** The subject's quotas by category; `undefined` where they have to be asked for. */
function knownTo(live: LiveSettings, { subject, category }: Asked): readonly Quotas[] | NoAnswer | undefined {
  try {
    return live.known(subject)
  } catch (error) {
    return new NoAnswer(error, live.compiled.defaults[category]!, true)
  }
}

/** Asks counters that answer at once, under settings that do. */
export class SyncCounting {
  readonly #live: LiveSettings
  readonly #counters: SyncCounters

  constructor(live: LiveSettings, counters: SyncCounters) {
    this.#live = live
    this.#counters = counters
  }

  take(asked: Asked, id: ReservationId | undefined): Answered | NoAnswer {
    const live = this.#live
    let quotas = live.compiled.defaults[asked.category]!
    let ofSettings = true
    try {
      quotas = live.known(asked.subject)![asked.category]!
      ofSettings = false
      const { subject, category, cost } = asked
      const reply = this.#counters.take({ subject, category, quotas, cost, settingsRevision: undefined, id })
      // Settings that answer at once are read by every decision: nothing could be newer.
      return answeredUnder(reply, quotas, live.compiled.settings.version)
    } catch (error) {
      return new NoAnswer(error, quotas, ofSettings)
    }
  }
}

/** What an {@link AsyncCounting} asks with. */
export interface AsyncCountingParts {
  readonly live: LiveSettings
  readonly counters: Counters
  /** Whether the counters' answers are here at once. */
  readonly sync: boolean
  /** Whether the counters answer in time by themselves. */
  readonly keepTime: boolean
  readonly deadlineMs: number
  /** Hears of an admission whose caller was already told that there was no answer. */
  readonly late: (asked: Asked, answer: Answered, id: ReservationId | undefined) => void
}

/** Asks counters or settings that answer later, within a deadline. */
export class AsyncCounting {
  readonly #parts: AsyncCountingParts

  constructor(parts: AsyncCountingParts) {
    this.#parts = parts
  }

  /**
   * Never rejects.
   *
   * @param firstAskedAt when the caller began to wait for the very first look at the settings, by the machine's stopwatch
   */
  async take(asked: Asked, id: ReservationId | undefined, firstAskedAt?: number): Promise<Answered | NoAnswer> {
    const { live, keepTime } = this.#parts
    const askedAt = firstAskedAt ?? systemStopwatch()
    const known = knownTo(live, asked)
    if (known instanceof NoAnswer) return known
    if (known === undefined || !keepTime || firstAskedAt !== undefined) {
      return this.#inTime(asked, id, askedAt, (wait) => this.#takeKnowing(asked, id, known, wait))
    }
    const answer = await this.#takeUnder(known[asked.category]!, asked, id)
    if (!(answer instanceof Stale)) return answer
    return this.#inTime(asked, id, askedAt, (wait) => this.#takeCaughtUp(asked, id, answer, wait))
  }

  /** Several stores are asked, or one that keeps no time: the caller waits for one deadline. */
  async #inTime(
    asked: Asked,
    id: ReservationId | undefined,
    askedAt: number,
    ask: (wait: Wait) => Promise<Answered | NoAnswer>,
  ): Promise<Answered | NoAnswer> {
    const { live, deadlineMs, late } = this.#parts
    const wait: Wait = { forSettings: false, isOver: false }
    const leftMs = Math.max(0, deadlineMs - (systemStopwatch() - askedAt))
    try {
      return await withinTime(ask(wait), leftMs, (reply) => {
        if (!(reply instanceof NoAnswer) && reply.outcome === 'admitted') late(asked, reply, id)
      })
    } catch (error) {
      wait.isOver = true
      return new NoAnswer(error, live.compiled.defaults[asked.category]!, wait.forSettings)
    }
  }

  /** @param known the subject's quotas by category, if they need not be asked for */
  async #takeKnowing(
    asked: Asked,
    id: ReservationId | undefined,
    known: readonly Quotas[] | undefined,
    wait: Wait,
  ): Promise<Answered | NoAnswer> {
    const { live } = this.#parts
    let quotas: readonly Quotas[]
    try {
      wait.forSettings = known === undefined
      quotas = known ?? live.quotasOf(await live.fetch(asked.subject))
    } catch (error) {
      return new NoAnswer(error, live.compiled.defaults[asked.category]!, true)
    }
    wait.forSettings = false
    if (wait.isOver) return new NoAnswer(TOO_LATE, quotas[asked.category]!)
    const answer = await this.#takeUnder(quotas[asked.category]!, asked, id)
    return answer instanceof Stale ? this.#takeCaughtUp(asked, id, answer, wait) : answer
  }

  /** Once more, after settings were read that the counters knew of and this process did not. */
  async #takeCaughtUp(
    asked: Asked,
    id: ReservationId | undefined,
    first: Stale,
    wait: Wait,
  ): Promise<Answered | NoAnswer> {
    const { live } = this.#parts
    let stale = first
    for (let tries = 1; tries <= MAX_CATCH_UPS; tries++) {
      let byCategory: readonly Quotas[]
      try {
        wait.forSettings = true
        await live.catchUp(stale.revision)
        byCategory = live.known(asked.subject) ?? live.quotasOf(await live.fetch(asked.subject))
      } catch (error) {
        return new NoAnswer(error, live.compiled.defaults[asked.category]!, true)
      }
      wait.forSettings = false
      if (wait.isOver) return new NoAnswer(TOO_LATE, byCategory[asked.category]!)
      const answer = await this.#takeUnder(byCategory[asked.category]!, asked, id)
      // What was read was in force when it was read: stale again, it was changed since.
      if (!(answer instanceof Stale)) return answer
      stale = answer
    }
    const error = new QuotaError('store_error', 'the settings changed faster than they could be read')
    return new NoAnswer(error, live.compiled.defaults[asked.category]!)
  }

  async #takeUnder(quotas: Quotas, asked: Asked, id: ReservationId | undefined): Promise<Answered | NoAnswer | Stale> {
    const { live, counters, sync } = this.#parts
    try {
      const request = requestOf(asked, quotas, live, id)
      const version = live.compiled.settings.version
      const answer = counters.take(request)
      const reply = sync ? (answer as TakeReply) : await answer
      if (reply.outcome === 'stale') return new Stale(reply.settingsRevision ?? '')
      return answeredUnder(reply, quotas, version)
    } catch (error) {
      return new NoAnswer(error, quotas)
    }
  }
}

function requestOf(
  { subject, category, cost }: Asked,
  quotas: Quotas,
  live: LiveSettings,
  id: ReservationId | undefined,
): TakeRequest {
  return { subject, category, quotas, cost, settingsRevision: live.revision, id }
}

function answeredUnder(reply: TakeReply, quotas: Quotas, settingsVersion: number): Answered {
  const { now, states } = reply
  return { outcome: reply.outcome as Answered['outcome'], now, states, quotas, settingsVersion }
}
