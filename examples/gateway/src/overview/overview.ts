import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import { ADAPTIVE_DEFAULTS, type CallOutcome, type OutcomeRecorder, type OutcomeStore } from '@scoregw/quota/adaptive'
import { type TopSubjects, topSubjects } from '@scoregw/quota/top'
import { instantText } from '../http/schemas.ts'
import { CATEGORIES, limitsIn, pathOf } from '../quota/names.ts'
import type { GatewayQuota } from '../quota/policy.ts'
import { type BucketRange, bucketRange, bucketsOf } from '../usage/failure-rate.ts'
import type { OverviewDocument, RequestHistory } from './documents.ts'
import { inTime } from './live-overview.ts'
import { SlidingCounts } from './sliding-counts.ts'

const MINUTE_MS = 60_000
const MINUTES = 60
/** How many whole seconds are reported, and how many of them the rate averages. */
const SECONDS = 60
const RATE_SECONDS = 10
/** The decisions of this many minutes are counted, including the current one. */
const DECISION_MINUTES = 10
/** The length of each list. */
const TOP = 10
/** The most faults listed. */
const MAX_FAULTS = 20

/** How requests end: `refused` by a limit, with 429. */
const ENDINGS = ['succeeded', 'refused', 'clientError', 'serverError'] as const
type Ending = (typeof ENDINGS)[number]
type Endings = Record<Ending, number>

/** A subject that isn't a valid user id. Its own windows are empty, so it reads the shared ones. */
const NOBODY = ' '

export interface OverviewDeps {
  readonly quota: GatewayQuota
  readonly clock: Clock
  readonly outcomes: OutcomeStore
  readonly recorder: OutcomeRecorder
}

/** Makes the overview from counts of this process since its start, and from the stores. */
export class Overview {
  readonly #deps: OverviewDeps
  readonly #id = randomUUID().slice(0, 8)
  readonly #startedAt: number
  readonly #endings: SlidingCounts<Ending>
  readonly #refusals: SlidingCounts<string>
  readonly #degraded: SlidingCounts<string>
  readonly #top: TopSubjects
  readonly #stops: readonly (() => void)[]
  #underWay: Promise<OverviewDocument> | undefined

  constructor(deps: OverviewDeps) {
    const { quota, clock } = deps
    this.#deps = deps
    const now = clock.now()
    this.#startedAt = now
    // One more, since the current second is not reported.
    this.#endings = new SlidingCounts({ steps: SECONDS + 1, stepMs: 1_000, now })
    const decisions = { steps: DECISION_MINUTES, stepMs: MINUTE_MS, now }
    this.#refusals = new SlidingCounts(decisions)
    this.#degraded = new SlidingCounts(decisions)
    this.#top = topSubjects({ quota, clock, periodMs: DECISION_MINUTES * MINUTE_MS })
    this.#stops = [
      quota.on('refused', ({ refusedBy }) => this.#refusals.add(refusedBy.name, clock.now())),
      quota.on('degraded', ({ operation }) => this.#degraded.add(operation, clock.now())),
      () => this.#top.stop(),
    ]
  }

  /** Counts a call of this process. */
  record(outcome: CallOutcome): void {
    this.#endings.add(endingOf(outcome), this.#deps.clock.now())
  }

  /** Returns the overview. Calls while it is being computed get the same document. */
  read(): Promise<OverviewDocument> {
    this.#underWay ??= this.#read().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  /** If one store is unavailable, the other figures are still computed. */
  async #read(): Promise<OverviewDocument> {
    const { clock, quota } = this.#deps
    const now = clock.now()
    const [minutes, shared, faults] = await Promise.all([
      inTime(this.#minutes(now)),
      inTime(this.#shared()),
      inTime(quota.settings.faults()),
    ])
    const { settings, adaptiveFactor: factor } = quota.settings.current()
    const { minHundredths, maxHundredths } = ADAPTIVE_DEFAULTS
    const seconds = this.#seconds(now)
    return {
      at: instantText(now),
      process: { id: this.#id, since: instantText(this.#startedAt) },
      requests: { perSecond: rateOf(seconds), seconds, minutes },
      refusals: {
        since: instantText(this.#refusals.sinceAt(now)),
        limits: this.#refusals.sums(now),
        degraded: this.#degraded.sums(now).reduce((sum, { count }) => sum + count, 0),
      },
      shared,
      disabled: !settings.shared.site.enabled ? ['site'] : [],
      adaptive: {
        mode: settings.mode,
        isActive: settings.mode === 'adaptive',
        factor,
        min: minHundredths / 100,
        max: maxHundredths / 100,
      },
      top: this.#topUsers(),
      settings: {
        version: settings.version,
        faults: faults?.slice(0, MAX_FAULTS).map(({ path, message }) => ({ path: pathOf(path), msg: message })) ?? null,
      },
    }
  }

  /** Returns the outcomes of requests over the last days in steps, from all processes. */
  async history(days: number, bucketMinutes: number): Promise<RequestHistory> {
    const range = bucketRange(this.#deps.clock.now(), days, bucketMinutes)
    return { until: instantText(range.toMinute * MINUTE_MS), series: await this.#series(range) }
  }

  #minutes(now: number): Promise<RequestHistory['series']> {
    const toMinute = Math.floor(now / MINUTE_MS) + 1
    return this.#series({ bucketMinutes: 1, fromMinute: toMinute - MINUTES, toMinute })
  }

  /** Returns the outcomes of requests in the steps of a range. This process writes its own counts first. */
  async #series(range: BucketRange): Promise<RequestHistory['series']> {
    const { outcomes, recorder } = this.#deps
    await recorder.flush()
    const { bucketMinutes, fromMinute } = range
    const stored = await outcomes.read(fromMinute, range.toMinute)
    const refusals = new Map<number, number>()
    for (const each of stored) {
      const step = Math.floor((each.minute - fromMinute) / bucketMinutes)
      refusals.set(step, (refusals.get(step) ?? 0) + each.refused)
    }
    return bucketsOf(range, stored).map(({ ts, calls, clientError: other, serverError, businessFail }, step) => {
      const refused = refusals.get(step) ?? 0
      const succeeded = calls - other - serverError - businessFail
      return { ts, calls, succeeded, refused, clientError: other - refused + businessFail, serverError }
    })
  }

  /** Returns the outcomes of this process's requests in the last whole seconds, the oldest first. */
  #seconds(now: number): Endings[] {
    const counts = ENDINGS.map((ending) => this.#endings.before(ending, now))
    return Array.from({ length: SECONDS }, (_, second) => {
      const [succeeded = 0, refused = 0, clientError = 0, serverError = 0] = counts.map((of) => of[second] ?? 0)
      return { succeeded, refused, clientError, serverError }
    })
  }

  async #shared(): Promise<NonNullable<OverviewDocument['shared']>> {
    const { quota } = this.#deps
    const { limits } = await quota.status(NOBODY)
    return limitsIn('site').flatMap((name) => {
      const status = limits[name]
      if (status === undefined) return []
      const { limit, used, remaining, resetAt } = status
      return [{ name, limit, used, remaining, resetAt: resetAt === null ? null : instantText(resetAt) }]
    })
  }

  #topUsers(): OverviewDocument['top'] {
    const top = this.#top
    const byCategory = (of: 'spent' | 'refused'): OverviewDocument['top']['spent'] =>
      Object.fromEntries(
        CATEGORIES.map((category) => [
          category,
          top[of](category, TOP).map(({ subject, ...rest }) => ({ userId: subject, ...rest })),
        ]),
      )
    return { since: instantText(top.sinceAt()), spent: byCategory('spent'), refused: byCategory('refused') }
  }
}

/** Requests per second over the last ten seconds. */
function rateOf(seconds: readonly Endings[]): number {
  const recent = seconds.slice(-RATE_SECONDS).flatMap((each) => Object.values(each))
  return recent.reduce((sum, count) => sum + count, 0) / RATE_SECONDS
}

function endingOf({ httpStatus, businessFail }: CallOutcome): Ending {
  if (httpStatus === 429) return 'refused'
  if (httpStatus === 0 || httpStatus >= 500) return 'serverError'
  return httpStatus >= 400 || businessFail === true ? 'clientError' : 'succeeded'
}
