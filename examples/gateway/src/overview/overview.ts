import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import { ADAPTIVE_DEFAULTS, type CallOutcome, type OutcomeRecorder, type OutcomeStore } from '@scoregw/quota/adaptive'
import type * as z from 'zod'
import { instantText } from '../http/schemas.ts'
import { CATEGORIES, limitsIn, pathOf } from '../quota/names.ts'
import type { GatewayQuota } from '../quota/policy.ts'
import { bucketRange } from '../usage/failure-rate.ts'
import { DecisionCounts } from './decision-counts.ts'
import type { OverviewDocument, requestHistoryDocument } from './documents.ts'
import { inTime } from './live-overview.ts'
import { RequestRates, type RequestStep, rateOf, requestSeries } from './request-rates.ts'

const MINUTE_MS = 60_000
const MINUTES = 60
/** The length of each list. */
const TOP = 10
/** The most faults listed. */
const MAX_FAULTS = 20

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
  readonly #rates: RequestRates
  readonly #decisions: DecisionCounts
  #underWay: Promise<OverviewDocument> | undefined

  constructor(deps: OverviewDeps) {
    const { quota, clock } = deps
    this.#deps = deps
    this.#startedAt = clock.now()
    this.#rates = new RequestRates(clock.now())
    this.#decisions = new DecisionCounts(quota, clock)
  }

  /** Counts a call of this process. */
  record(outcome: CallOutcome): void {
    this.#rates.record(outcome, this.#deps.clock.now())
  }

  /** Returns the overview. Calls while it is being computed get the same document. */
  read(): Promise<OverviewDocument> {
    this.#underWay ??= this.#read().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  close(): void {
    this.#decisions.close()
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
    const seconds = this.#rates.seconds(now)
    const decisions = this.#decisions
    return {
      at: instantText(now),
      process: { id: this.#id, since: instantText(this.#startedAt) },
      requests: { perSecond: rateOf(seconds), seconds, minutes },
      refusals: {
        since: instantText(decisions.sinceAt()),
        limits: decisions.refusals(),
        degraded: decisions.degraded(),
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
      top: this.#top(),
      settings: {
        version: settings.version,
        faults: faults?.slice(0, MAX_FAULTS).map(({ path, message }) => ({ path: pathOf(path), msg: message })) ?? null,
      },
    }
  }

  /** Returns the outcomes of requests over the last days in steps, from all processes. */
  async history(days: number, bucketMinutes: number): Promise<z.output<typeof requestHistoryDocument>> {
    const range = bucketRange(this.#deps.clock.now(), days, bucketMinutes)
    return { until: instantText(range.toMinute * MINUTE_MS), series: await requestSeries(this.#deps, range) }
  }

  #minutes(now: number): Promise<RequestStep[]> {
    const toMinute = Math.floor(now / MINUTE_MS) + 1
    return requestSeries(this.#deps, { bucketMinutes: 1, fromMinute: toMinute - MINUTES, toMinute })
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

  #top(): OverviewDocument['top'] {
    const decisions = this.#decisions
    const byCategory = (of: 'spent' | 'refused'): OverviewDocument['top']['spent'] =>
      Object.fromEntries(
        CATEGORIES.map((category) => [
          category,
          decisions.top(of, category, TOP).map(({ subject, ...rest }) => ({ userId: subject, ...rest })),
        ]),
      )
    return { since: instantText(decisions.topSinceAt()), spent: byCategory('spent'), refused: byCategory('refused') }
  }
}
