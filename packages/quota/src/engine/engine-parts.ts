import type { DecisionFrame } from '../decision/decide.ts'
import { memorySettings } from '../memory/memory-settings.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Policy } from '../policy/policy.ts'
import type { FactorStore } from '../store/factor-store.ts'
import type { QuotaStore } from '../store/quota-store.ts'
import type { SettingsStore } from '../store/settings-store.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { RequestCheck } from './check.ts'
import { decisionFrames } from './compiled-settings.ts'
import { Decider, type DeciderParts } from './decider.ts'
import { Events } from './events.ts'
import { Fallback } from './fallback.ts'
import { LiveSettings } from './live-settings.ts'
import type { ParsedOptions } from './options.ts'
import { factorInTime, settingsInTime } from './stores-in-time.ts'
import { Telling } from './telling.ts'

/** Answered within this time, where neither the options nor the store say another. */
const DEADLINE_MS = 1_000

/** What an engine is put together from. */
export class EngineParts {
  readonly policy: Policy
  readonly store: QuotaStore
  readonly settingsStore: SettingsStore
  readonly factorStore: FactorStore | undefined
  readonly deadlineMs: number
  readonly events: Events = new Events()
  readonly check: RequestCheck
  readonly live: LiveSettings
  readonly telling: Telling
  readonly #clock: Clock
  readonly #frames: readonly DecisionFrame[]
  readonly #fallback: Fallback

  constructor(options: ParsedOptions) {
    const { policy, adaptive, clock = systemClock, failurePolicy, stopwatch, deadlineMs } = options
    const { events } = this
    this.policy = policy
    this.store = options.store ?? memoryStore({ clock })
    this.deadlineMs = deadlineMs ?? (this.store.sync ? undefined : this.store.deadlineMs) ?? DEADLINE_MS
    this.settingsStore = settingsInTime(options.settingsStore ?? memorySettings(), this.deadlineMs)
    this.factorStore = adaptive && factorInTime(adaptive.factor, this.deadlineMs)
    this.#clock = clock
    this.#frames = decisionFrames(policy)
    this.check = new RequestCheck(policy, options.idTtlMs, options.createNonce)
    this.live = new LiveSettings(
      policy,
      this.settingsStore,
      {
        changed: (settings) => events.tell('settings', settings),
        faulty: (faults, of) => events.tell('settingsFault', { of, faults }),
      },
      this.factorStore,
    )
    this.telling = new Telling(policy, events, stopwatch)
    const { live, telling } = this
    this.#fallback = new Fallback({ policy, frames: this.#frames, failurePolicy, clock, live, telling })
  }

  /** @param post posts to the store what was spent while it did not answer */
  decider(post: DeciderParts['post']): Decider {
    const { check, live, telling } = this
    return new Decider({
      check,
      live,
      telling,
      post,
      clock: this.#clock,
      frames: this.#frames,
      fallback: this.#fallback,
    })
  }

  async close(): Promise<void> {
    this.live.close()
    this.events.clear()
    await this.store.close?.()
    await this.settingsStore.close?.()
    await this.factorStore?.close?.()
  }
}
