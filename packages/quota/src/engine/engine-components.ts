import type { AdmittedDecision } from '../decision/decision.ts'
import { QuotaError, QuotaWarning } from '../errors/quota-error.ts'
import { memorySettings } from '../memory/memory-settings.ts'
import { memoryStore } from '../memory/memory-store.ts'
import { noSuchName } from '../options/faults.ts'
import { layerOf, ownLimits, placedLimits } from '../policy/cells.ts'
import type { LimitRule, Policy } from '../policy/policy.ts'
import { policyWarnings } from '../policy/settings-schema.ts'
import type { FactorStore } from '../store/factor-store.ts'
import type { AsyncStore, Counters, QuotaStore } from '../store/quota-store.ts'
import type { AsyncSettingsStore, SettingsStore } from '../store/settings-store.ts'
import type { Subject } from '../store/subjects.ts'
import { type Clock, systemClock, systemStopwatch } from '../time/clock.ts'
import type { Calendar } from '../windows/kinds/calendar.ts'
import { RequestCheck } from './decide/check.ts'
import { CounterCalls } from './decide/counter-calls.ts'
import { Decisions } from './decide/decisions.ts'
import { Fallback } from './decide/fallback.ts'
import { NearLimits, type Payer } from './decide/near-limits.ts'
import { Outages, Reports } from './decide/reports.ts'
import { CallDeadline, factorInTime, runAsync, settingsInTime, type Task, unsupported } from './decide/store-call.ts'
import { Demands, type TakeDemand, Takes } from './decide/takes.ts'
import { Events } from './events.ts'
import { noteOpen, watchCounters } from './open-engines.ts'
import type { ParsedQuotaOptions } from './options.ts'
import { HoldHandle } from './reservations/hold.ts'
import { identityOf, Reservations } from './reservations/reservations.ts'
import { LiveSettings } from './settings/live-settings.ts'
import { LivePeriods } from './settings/live-subjects.ts'

/** The deadline if neither the options nor the store set one. */
const DEADLINE_MS = 1_000

/** The parts of an engine, connected. */
export class EngineComponents {
  readonly policy: Policy
  readonly store: QuotaStore
  readonly counters: Counters
  readonly settingsStore: SettingsStore
  readonly factorStore: FactorStore | undefined
  readonly deadline: CallDeadline
  readonly clock: Clock
  readonly calendar: Calendar | undefined
  readonly events: Events
  readonly check: RequestCheck
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly reports: Reports
  readonly near: NearLimits
  readonly fallback: Fallback
  readonly demands: Demands
  readonly takes: Takes
  readonly calls: CounterCalls
  readonly decisions: Decisions
  readonly reservations: Reservations
  /** Whether counters and settings are both synchronous. */
  readonly sync: boolean
  /** Reports a refund. @param subject absent: the refund may concern any subject */
  readonly freed = (subject?: Subject): void => {
    if (this.events.hasListeners('freed')) this.events.emit('freed', { subject })
  }
  readonly #closed: readonly (() => void)[]

  constructor(options: ParsedQuotaOptions) {
    const { policy, adaptive, failurePolicy, stopwatch, thresholds } = options
    this.policy = policy
    this.events = new Events(options.logger)
    this.store = options.store ?? memoryStore()
    const clock = clockOf(options.clock, this.store)
    checkAbilities(policy, this.store, options.calendar)
    for (const { path, message } of policyWarnings(policy)) options.logger.warn(`createQuota(): ${path}: ${message}`)
    const { deadlineMs = (this.store.sync ? undefined : this.store.deadlineMs) ?? DEADLINE_MS } = options
    const settingsStore = options.settingsStore ?? memorySettings()
    this.deadline = new CallDeadline(deadlineMs, [this.store, settingsStore].filter(isAsync))
    this.settingsStore = settingsInTime(settingsStore, this.deadline)
    this.factorStore = adaptive && factorInTime(adaptive.factor, this.deadline)
    this.clock = clock
    this.calendar = options.calendar
    this.check = new RequestCheck(options, {
      can: this.store.can,
      unknownLimit: unknownLimits(policy, options.logger),
    })
    this.periods = new LivePeriods(policy, options.calendar, clock.now())
    this.live = new LiveSettings(this, options.logger)
    const { events, live, periods, deadline } = this
    const outages = new Outages({ policy, failurePolicy, clock, logger: options.logger })
    this.reports = new Reports({ events, stopwatch, outages })
    this.near = new NearLimits({
      policy,
      events,
      thresholds: () => live.compiled.settings.thresholds ?? thresholds,
      read: (of, costs) => this.#read(of, costs),
    })
    this.demands = new Demands(live, periods, this.check)
    this.counters = this.store.open(placedLimits(policy).schema, clock)
    const { sync } = this.store
    const settingsSync = this.settingsStore.sync
    this.sync = sync && settingsSync
    // A synchronous reply can't be late.
    const keepsTime = this.store.sync || this.store.deadlineMs !== undefined
    const common = { counters: this.counters, keepsTime, deadline, live, periods }
    this.calls = new CounterCalls({ ...common, sync, settingsSync, can: this.store.can })
    const { demands, reports } = this
    const late = (demand: TakeDemand, { states, endsAt }: { states: readonly number[]; endsAt?: number | undefined }) =>
      this.#refund(demand, states, endsAt)
    this.takes = new Takes({ ...common, sync, demands, late })
    this.fallback = new Fallback({
      policy,
      failurePolicy,
      clock,
      reports,
      read: (demand) => runAsync(this.calls.read(demand, systemStopwatch())),
      // Posted at most once, even if it gets lost.
      post: (posting) => void runAsync(this.calls.settle(posting)).catch(() => undefined),
    })
    this.decisions = new Decisions(this)
    this.reservations = new Reservations(this)
    this.#closed = [
      noteOpen(policy, this.store, (message) => options.logger.warn(`quota: ${message}`)),
      watchCounters(this.store, options.logger),
      () => this.fallback.close(),
    ]
  }

  async close(): Promise<void> {
    for (const closed of this.#closed) closed()
    this.live.close()
    this.events.emit('closed', undefined)
    this.events.clear()
    await this.store.close?.()
    await this.settingsStore.close?.()
    await this.factorStore?.close?.()
  }

  /** Reads a subject's limits, as after a charge. */
  *#read({ subject, set, operation, plan, numbers }: Payer, costs: readonly number[]): Task<AdmittedDecision> {
    const { calls, decisions } = this
    const startedAt = yield* calls.ready()
    const quotas = yield* calls.quotasOf(subject, { plan, numbers }, startedAt)
    return decisions.charged(
      { subject, set, operation, plan, numbers, costs },
      quotas,
      yield* calls.read({ subject, set, quotas }, startedAt),
    )
  }

  /**
   * Refunds an admission that arrived after its caller got another response. If that fails, the tokens stay charged.
   */
  #refund(demand: TakeDemand, states: readonly number[], endsAt: number | undefined): void {
    const { subject, set, costs, quotas, id, hold } = demand
    const refunds = costs.slice(0, -1)
    const cancel: Task<unknown> =
      hold === undefined
        ? this.calls.settle({ subject, set, layers: quotas.layers, states, refunds, id, as: 'cancelled' })
        : new HoldHandle(this, identityOf(demand), endsAt!).settle('cancelled', undefined)
    runAsync(cancel).then(
      () => this.freed(subject),
      () => undefined,
    )
  }
}

function isAsync(store: QuotaStore | SettingsStore): store is AsyncStore | AsyncSettingsStore {
  return !store.sync
}

/**
 * Returns one clock for the engine and for a store that reads the time in this process.
 *
 * @throws {QuotaError} `invalid_options` if the engine has its own clock and the store uses the machine's
 */
function clockOf(given: Clock | undefined, { clock: ofStore }: QuotaStore): Clock {
  if (given !== undefined && given !== systemClock && ofStore === systemClock) {
    const message = "clock: the store uses the machine's clock: pass the same clock to the store, or to neither"
    throw new QuotaError('invalid_options', `createQuota(): ${message}`)
  }
  return given ?? ofStore ?? systemClock
}

/** Warns once of a number in a request whose limit the policy doesn't have. App data may be newer than this process. */
function unknownLimits(policy: Policy, logger: ParsedQuotaOptions['logger']): (name: string) => void {
  let isWarned = false
  return (name) => {
    if (isWarned) return
    isWarned = true
    const own = ownLimits(policy).map((limit) => limit.name)
    const message = `a request has a number for ${noSuchName(name, own, 'limits of subjects are')}: it is ignored`
    logger.warn(new QuotaWarning('unknown_limit', message))
  }
}

/**
 * Checks that a store supports what a policy needs.
 *
 * @throws {QuotaError} `calendar_missing`, `store_unsupported`
 */
function checkAbilities(policy: Policy, { can = {} }: QuotaStore, calendar: Calendar | undefined): void {
  const { limits, operations } = policy
  const first = (is: (rule: LimitRule) => boolean): string | undefined => limits.find(is)?.name
  const ofCalendar = first(({ window }) => window?.every !== undefined)
  if (ofCalendar !== undefined && calendar === undefined) {
    const message = `"${ofCalendar}" is a calendar window: install luxon and pass calendar: luxonCalendar() from @scoregw/quota/calendar`
    throw new QuotaError('calendar_missing', message)
  }
  const lacks = (what: string): QuotaError => unsupported('store_unsupported', `this store cannot keep ${what}`, can)
  if (ofCalendar !== undefined && can.calendar !== true) throw lacks(`calendar windows, such as "${ofCalendar}"`)
  const withBurst = first(({ window }) => window?.burst !== undefined)
  if (withBurst !== undefined && can.bucket !== true) throw lacks(`token buckets, such as "${withBurst}"`)
  const [fitting] = Object.entries(operations).find(([, { overrun }]) => overrun === 'fit') ?? []
  if (fitting !== undefined && can.fit !== true) throw lacks(`overrun: 'fit', as of "${fitting}"`)
  const slots = first(({ window }) => window === undefined)
  if (slots === undefined) return
  if (can.concurrency === undefined || can.holds !== true) throw lacks(`concurrency ("${slots}")`)
  const shared = first((rule) => rule.window === undefined && layerOf(policy, rule).shared)
  if (shared !== undefined && can.concurrency !== 'all') throw lacks(`concurrency ("${shared}") in a shared layer`)
}
