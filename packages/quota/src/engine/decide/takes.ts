import { QuotaError } from '../../errors/quota-error.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { Answer, Counters, TakeReply } from '../../store/quota-store.ts'
import type { SettingsReader } from '../../store/settings-store.ts'
import { systemStopwatch } from '../../time/clock.ts'
import type { LivePeriods } from '../settings/live-periods.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { Demands, TakeDemand } from './demands.ts'
import { LATER, MAX_CATCH_UPS, MAX_STALE } from './driver.ts'

/** No answer: the store threw, was silent, or had no room. */
export class NoAnswer {
  readonly error: unknown
  /** Whether it was the settings that could not be read. */
  readonly ofSettings: boolean

  constructor(error: unknown, ofSettings = false) {
    this.error = error
    this.ofSettings = ofSettings
  }
}

/** Goes on with what the store said to a demand, which may have been put under newer settings. */
type Next<B> = (demand: TakeDemand, reply: TakeReply | NoAnswer) => B

interface Reply {
  readonly demand: TakeDemand
  readonly reply: TakeReply | NoAnswer
}

const TOO_LATE = 'too late'

/** A take that the counters did not decide at once. */
interface Turn {
  /** Since when its caller waits, by the machine's stopwatch. */
  readonly askedAt: number
  /** The demand as it stands. */
  demand: TakeDemand
  /** What it waits for, so that this can be named when it takes too long. */
  forSettings: boolean
  /** The caller got no answer in time: no more calls are made. */
  isOver: boolean
  isTimed: boolean
  clocks: number
  catchUps: number
}

export interface TakesParts {
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly demands: Demands
  readonly counters: Counters
  /** Whether the counters answer at once. */
  readonly sync: boolean
  /** Whether the counters answer in time by themselves. */
  readonly keepsTime: boolean
  readonly deadlineMs: number
  /** Reads the settings as a part of the transaction that the counters are in. */
  readonly settings?: SettingsReader | undefined
  /** Called with an admission whose caller was answered before, for want of an answer. */
  readonly late: (demand: TakeDemand, reply: TakeReply) => void
}

/** Takes under the settings in force, within a deadline where there is anything to wait for. */
export class Takes {
  readonly #parts: TakesParts

  constructor(parts: TakesParts) {
    this.#parts = parts
  }

  /** @param askedAt since when the caller waited for the very first read of the settings, by the machine's stopwatch */
  take<B>(demand: TakeDemand, next: Next<Answer<B>>, askedAt?: number): Answer<B> {
    if (demand.unreadable !== undefined) return next(demand, new NoAnswer(demand.unreadable, true))
    if (demand.isRead && this.#parts.keepsTime && askedAt === undefined) return this.#send(demand, next, undefined)
    const turn = turnOf(demand, askedAt ?? systemStopwatch())
    return this.#inTime(turn, () => this.#read(turn), next)
  }

  #inTime<B>(turn: Turn, call: () => Answer<Reply>, next: Next<Answer<B>>): Answer<B> {
    const { deadlineMs, late } = this.#parts
    turn.isTimed = true
    const leftMs = Math.max(0, deadlineMs - (systemStopwatch() - turn.askedAt))
    const onLateReply = ({ demand, reply }: Reply): void => {
      if (!(reply instanceof NoAnswer) && reply.outcome === 'admitted') late(demand, reply)
    }
    return LATER.guard(
      () => LATER.inTime(call, leftMs, onLateReply),
      ({ demand, reply }) => next(demand, reply),
      (error) => {
        turn.isOver = true
        return next(turn.demand, new NoAnswer(error, turn.forSettings))
      },
    )
  }

  /** Sends the demand of a turn once the subject's settings are read. */
  #read(turn: Turn): Answer<Reply> {
    const { live, settings, demands } = this.#parts
    const { subject, plan, category, isRead } = turn.demand
    const under = (quotas: readonly Quotas[]): Answer<Reply> => {
      turn.forSettings = false
      turn.demand = demands.under(turn.demand, quotas[category]!)
      return turn.isOver ? replyOf(turn.demand, new NoAnswer(TOO_LATE)) : this.#send(turn.demand, replyOf, turn)
    }
    if (isRead) return this.#send(turn.demand, replyOf, turn)
    const known = live.known(subject, plan)
    if (known !== undefined) return under(known)
    turn.forSettings = true
    return LATER.guard(
      () => live.fetch(subject, settings),
      // In one step with the take under them: the revision goes with quotas until anything is awaited.
      (bySettingsLayer) => under(live.quotasOf(bySettingsLayer, plan, subject)),
      (error) => replyOf(turn.demand, new NoAnswer(error, true)),
    )
  }

  #send<B>(demand: TakeDemand, next: Next<Answer<B>>, turn: Turn | undefined): Answer<B> {
    const { counters, sync } = this.#parts
    let answer: Answer<TakeReply>
    try {
      answer = counters.take(demand)
    } catch (error) {
      return next(demand, new NoAnswer(error))
    }
    // Without closures where nothing is waited for: every decision in memory passes here.
    if (sync) return this.#heard(demand, answer as TakeReply, next, turn)
    return LATER.guard(
      () => answer,
      (reply) => this.#heard(demand, reply, next, turn),
      (error) => next(demand, new NoAnswer(error)),
    )
  }

  #heard<B>(demand: TakeDemand, reply: TakeReply, next: Next<Answer<B>>, turn: Turn | undefined): Answer<B> {
    if (reply.outcome === 'stale') return this.#again(demand, reply, next, turn ?? turnOf(demand, systemStopwatch()))
    this.#parts.periods.heard(reply.now)
    return next(demand, reply)
  }

  /** Once more, after what made the answer stale was read: the store's time, or settings. */
  #again<B>(demand: TakeDemand, { now, settingsRevision }: TakeReply, next: Next<Answer<B>>, turn: Turn): Answer<B> {
    const { live, settings, periods, demands } = this.#parts
    if (settingsRevision === undefined && demand.periods !== undefined) {
      turn.clocks++
      if (turn.clocks === MAX_STALE) return next(demand, tooFast("the store's clock was turned", 'its periods'))
      periods.stale(now)
      turn.demand = demands.under(demand, demand.quotas)
      return this.#send(turn.demand, next, turn)
    }
    turn.clocks = 0
    turn.catchUps++
    if (turn.catchUps > MAX_CATCH_UPS) return next(demand, tooFast('the settings changed', 'they'))
    turn.forSettings = true
    turn.demand = { ...demand, isRead: false }
    const caughtUp = (): Answer<Reply> =>
      LATER.guard(
        () => live.catchUp(settingsRevision ?? '', settings),
        () => this.#read(turn),
        (error) => replyOf(turn.demand, new NoAnswer(error, true)),
      )
    if (!turn.isTimed) return this.#inTime(turn, caughtUp, next)
    return LATER.chain(caughtUp(), (answer) => next(answer.demand, answer.reply))
  }
}

const replyOf = (demand: TakeDemand, reply: TakeReply | NoAnswer): Reply => ({ demand, reply })

function turnOf(demand: TakeDemand, askedAt: number): Turn {
  return { askedAt, demand, forSettings: false, isOver: false, isTimed: false, clocks: 0, catchUps: 0 }
}

function tooFast(what: string, which: string): NoAnswer {
  const done = which === 'they' ? 'read' : 'computed'
  return new NoAnswer(new QuotaError('store_error', `${what} faster than ${which} could be ${done}`))
}
