import type { DecisionFrame } from '../decision/decide.ts'
import type { Asked } from '../decision/outcome.ts'
import { memorySettings } from '../memory/memory-settings.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Policy } from '../policy/policy.ts'
import { policyWarnings } from '../policy/warnings.ts'
import type { FactorStore } from '../store/factor-store.ts'
import type { QuotaStore } from '../store/quota-store.ts'
import type { ReservationId } from '../store/reservation-id.ts'
import type { SettingsStore } from '../store/settings-store.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import type { Calendar } from '../windows/calendar.ts'
import { RequestCheck } from './decide/check.ts'
import { Decider, type DeciderParts } from './decide/decider.ts'
import { Fallback } from './decide/fallback.ts'
import { decisionFrames } from './decide/frames.ts'
import { Telling } from './decide/reports.ts'
import { checkAbilities } from './decide/store-abilities.ts'
import { Events } from './events.ts'
import type { ParsedOptions } from './options.ts'
import { holdRequired } from './reservations/handle.ts'
import { HeldTokens } from './reservations/hold.ts'
import { noncesBy } from './reservations/nonces.ts'
import { LivePeriods } from './settings/live-periods.ts'
import { LiveSettings } from './settings/live-settings.ts'
import { factorInTime, settingsInTime } from './settings/stores-in-time.ts'

/** Answered within this time, where neither the options nor the store say another. */
const DEADLINE_MS = 1_000

/** What an engine is put together from. */
export class EngineParts {
  readonly policy: Policy
  readonly store: QuotaStore
  readonly settingsStore: SettingsStore
  readonly factorStore: FactorStore | undefined
  readonly deadlineMs: number
  readonly clock: Clock
  readonly calendar: Calendar | undefined
  readonly events: Events = new Events()
  readonly check: RequestCheck
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly telling: Telling
  readonly #holdTtlMs: number
  readonly #frames: readonly DecisionFrame[]
  readonly #fallback: Fallback

  constructor(options: ParsedOptions) {
    const { policy, adaptive, clock = systemClock, failurePolicy, stopwatch, deadlineMs } = options
    const { events } = this
    this.policy = policy
    this.store = options.store ?? memoryStore({ clock })
    checkAbilities(policy, this.store, options.calendar)
    for (const { path, message } of policyWarnings(policy)) options.logger.warn(`createQuota(): ${path}: ${message}`)
    this.deadlineMs = deadlineMs ?? (this.store.sync ? undefined : this.store.deadlineMs) ?? DEADLINE_MS
    this.settingsStore = settingsInTime(options.settingsStore ?? memorySettings(), this.deadlineMs)
    this.factorStore = adaptive && factorInTime(adaptive.factor, this.deadlineMs)
    this.clock = clock
    this.calendar = options.calendar
    const { idTtlMs, createNonce, holdTtlMs, maxTtlMs, maxHolds } = options
    const nonces = noncesBy(createNonce)
    const canHold = this.store.can?.holds === true
    this.check = new RequestCheck(policy, { idTtlMs, nonces, holdTtlMs, maxTtlMs, maxHolds, canHold })
    this.periods = new LivePeriods(policy, options.calendar, clock.now())
    this.#frames = decisionFrames(policy, this.periods)
    this.#holdTtlMs = holdTtlMs
    this.live = new LiveSettings(
      policy,
      this.settingsStore,
      {
        changed: (settings) => events.tell('settings', settings),
        faulty: (faults, of) => events.tell('settingsFault', { of, faults }),
        unknownPlan: (unknown) => events.tell('unknownPlan', unknown),
      },
      clock,
      this.factorStore,
    )
    const { live, periods } = this
    const telling = new Telling({ policy, events, stopwatch, live, thresholds: options.thresholds })
    this.telling = telling
    this.#fallback = new Fallback({ policy, frames: this.#frames, failurePolicy, clock, live, periods, telling })
  }

  /** @param post posts to the store what was spent while it did not answer */
  decider(post: DeciderParts['post']): Decider {
    const { check, live, periods, telling } = this
    return new Decider({
      held: (asked, id, ttlMs, endsAt) => this.held(asked, id, ttlMs, endsAt),
      check,
      live,
      periods,
      telling,
      post,
      clock: this.clock,
      frames: this.#frames,
      fallback: this.#fallback,
    })
  }

  /** A hold of this engine's, to be worked with. */
  held(asked: Asked, id: ReservationId, ttlMs: number, endsAt: number): HeldTokens {
    const { check, live, periods, telling } = this
    return new HeldTokens({ check, live, periods, frames: this.#frames, telling }, asked, id, ttlMs, endsAt)
  }

  /**
   * When a hold would end that the failure policy admitted without the store.
   *
   * @throws {QuotaError} `hold_required` for what was to be none; `invalid_ttl`
   */
  endWithoutStore(isUnrecorded: boolean, ttlMs: number = this.#holdTtlMs): number {
    this.requireHold(isUnrecorded, 'extend')
    return this.clock.now() + this.check.ttl(ttlMs)
  }

  requireHold(isUnrecorded: boolean, call: 'extend' | 'add' = 'add'): void {
    if (!isUnrecorded) throw holdRequired(call)
  }

  async close(): Promise<void> {
    this.live.close()
    this.events.clear()
    await this.store.close?.()
    await this.settingsStore.close?.()
    await this.factorStore?.close?.()
  }
}
