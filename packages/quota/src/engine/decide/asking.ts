import type { Asked, Counted } from '../../decision/outcome.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import type { Quotas } from '../../policy/limits.ts'
import { takesSlots } from '../../policy/units.ts'
import type { Answer } from '../../store/answer.ts'
import type { Counters, TakeOutcome, TakeReply } from '../../store/quota-store.ts'
import type { SettingsReader } from '../../store/settings-store.ts'
import { systemStopwatch } from '../../time/clock.ts'
import type { SettingsByLayer } from '../settings/compiled-settings.ts'
import type { LivePeriods } from '../settings/live-periods.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { ReservationTerms } from './check.ts'
import { LATER } from './driver.ts'

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
const TOO_LATE = 'too late'

/** One take, and what its caller waits for at the moment, so that it can be named when that takes too long. */
interface Turn {
  readonly asked: Asked
  readonly terms: ReservationTerms
  readonly askedAt: number
  forSettings: boolean
  /** The caller was told that there was no answer: nothing more is to be asked. */
  isOver: boolean
  isTimed: boolean
  clocks: number
  catchUps: number
}

export interface AskingParts {
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

/** Asks counters under the settings in force, within a deadline where there is anything to wait for. */
export class Asking {
  readonly #parts: AskingParts

  constructor(parts: AskingParts) {
    this.#parts = parts
  }

  /** @param firstAskedAt when the caller began to wait for the very first look at the settings, by the machine's stopwatch */
  take(asked: Asked, terms: ReservationTerms, firstAskedAt?: number): Answer<Answered | NoAnswer> {
    const { live, keepTime, sync } = this.#parts
    let known: readonly Quotas[] | undefined
    try {
      known = live.known(asked.subject, asked.plan)
    } catch (error) {
      return this.#noSettings(error, asked)
    }
    if (known !== undefined && keepTime && firstAskedAt === undefined) {
      return this.#under(known[asked.category]!, asked, terms, sync ? 0 : systemStopwatch(), undefined)
    }
    const turn = turnOf(asked, terms, firstAskedAt ?? systemStopwatch())
    return this.#inTime(turn, () => this.#knowing(known, turn))
  }

  #inTime(turn: Turn, ask: () => Answer<Answered | NoAnswer>): Answer<Answered | NoAnswer> {
    const { deadlineMs, live, late } = this.#parts
    const { asked, terms, askedAt } = turn
    turn.isTimed = true
    const leftMs = Math.max(0, deadlineMs - (systemStopwatch() - askedAt))
    const came = (reply: Answered | NoAnswer): void => {
      if (!(reply instanceof NoAnswer) && reply.outcome === 'admitted') late(asked, reply, terms)
    }
    return LATER.ask(
      () => LATER.inTime(ask, leftMs, came),
      itself,
      (error) => {
        turn.isOver = true
        return new NoAnswer(error, live.compiled.defaults[asked.category]!, turn.forSettings)
      },
    )
  }

  /** @param known the subject's quotas by category, if they need not be asked for */
  #knowing(known: readonly Quotas[] | undefined, turn: Turn): Answer<Answered | NoAnswer> {
    const { live } = this.#parts
    const { asked, terms, askedAt } = turn
    const { subject, plan, category } = asked
    const under = (quotas: readonly Quotas[]): Answer<Answered | NoAnswer> => {
      turn.forSettings = false
      if (turn.isOver) return new NoAnswer(TOO_LATE, quotas[category]!)
      return this.#under(quotas[category]!, asked, terms, askedAt, turn)
    }
    if (known !== undefined) return under(known)
    turn.forSettings = true
    // In one step with what is asked under them: the revision goes with quotas until anything is awaited.
    const fetched = (settings: SettingsByLayer): Answer<Answered | NoAnswer> =>
      under(live.quotasOf(settings, plan, subject))
    return LATER.ask(
      () => live.fetch(subject, this.#parts.settings),
      fetched,
      (error) => this.#noSettings(error, asked),
    )
  }

  /** @param before there from the second turn on, and where the caller waits for more than the counters */
  #under(
    quotas: Quotas,
    asked: Asked,
    terms: ReservationTerms,
    askedAt: number,
    before: Turn | undefined,
  ): Answer<Answered | NoAnswer> {
    const { live, periods: all, counters, sync } = this.#parts
    const { subject, category } = asked
    const { id, hold } = terms
    // A hold has no slot where nothing that applies limits how many there are.
    const isSlotless = quotas.isSlotless === true && takesSlots(asked.costs)
    const costs = isSlotless ? asked.costs.with(-1, 0) : asked.costs
    const settingsVersion = live.compiled.settings.version
    const settingsRevision = live.revision
    const periods = all.of(quotas)
    let answer: Answer<TakeReply>
    try {
      answer = counters.take({ subject, category, quotas, costs, settingsRevision, id, periods, hold })
    } catch (error) {
      return new NoAnswer(error, quotas)
    }
    // No closures where nothing is waited for: this is every decision.
    if (sync) return this.#heard(answer as TakeReply, quotas, periods, settingsVersion, asked, terms, askedAt, before)
    return LATER.ask(
      () => answer,
      (reply) => this.#heard(reply, quotas, periods, settingsVersion, asked, terms, askedAt, before),
      (error) => new NoAnswer(error, quotas),
    )
  }

  #heard(
    reply: TakeReply,
    quotas: Quotas,
    periods: readonly number[] | undefined,
    settingsVersion: number,
    asked: Asked,
    terms: ReservationTerms,
    askedAt: number,
    before: Turn | undefined,
  ): Answer<Answered | NoAnswer> {
    if (reply.outcome === 'stale') return this.#again(reply, quotas, periods, before ?? turnOf(asked, terms, askedAt))
    this.#parts.periods.heard(reply.now)
    const { outcome, now, states, endsAt } = reply
    return { outcome, now, states, quotas, periods, settingsVersion, endsAt }
  }

  /** Once more, after what made the answer stale is known: the store's time, or settings. */
  #again(
    { now, settingsRevision }: TakeReply,
    quotas: Quotas,
    periods: readonly number[] | undefined,
    turn: Turn,
  ): Answer<Answered | NoAnswer> {
    const { live } = this.#parts
    const { asked, terms, askedAt } = turn
    if (settingsRevision === undefined && periods !== undefined) {
      turn.clocks++
      if (turn.clocks === MAX_TURNS)
        return new NoAnswer(faster("the store's clock was turned faster than its periods could be computed"), quotas)
      this.#parts.periods.stale(now)
      return this.#under(quotas, asked, terms, askedAt, turn)
    }
    turn.clocks = 0
    turn.catchUps++
    if (turn.catchUps > MAX_CATCH_UPS) {
      return new NoAnswer(
        faster('the settings changed faster than they could be read'),
        live.compiled.defaults[asked.category]!,
      )
    }
    turn.forSettings = true
    const caughtUp = (): Answer<Answered | NoAnswer> =>
      LATER.ask(
        () => live.catchUp(settingsRevision ?? '', this.#parts.settings),
        () => this.#knowing(live.known(asked.subject, asked.plan), turn),
        (error) => this.#noSettings(error, asked),
      )
    return turn.isTimed ? caughtUp() : this.#inTime(turn, caughtUp)
  }

  #noSettings(error: unknown, { category }: Asked): NoAnswer {
    return new NoAnswer(error, this.#parts.live.compiled.defaults[category]!, true)
  }
}

const itself = <T>(value: T): T => value

function turnOf(asked: Asked, terms: ReservationTerms, askedAt: number): Turn {
  return { asked, terms, askedAt, forSettings: false, isOver: false, isTimed: false, clocks: 0, catchUps: 0 }
}

function faster(message: string): QuotaError {
  return new QuotaError('store_error', message)
}
