import type { Demand } from '../../decision/decide.ts'
import type { Decision, RefusedDecision } from '../../decision/decision.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import { errorText, plain } from '../../errors/shown.ts'
import type { QuotaLogger } from '../../options/logger.ts'
import type { Policy } from '../../policy/policy.ts'
import { ownOf } from '../../policy/values.ts'
import type { Clock, Stopwatch } from '../../time/clock.ts'
import type { DecisionTime, Events } from '../events.ts'
import type { FailurePolicy } from '../options.ts'
import type { QuotaOverrun } from '../requests.ts'
import type { TakeDemand } from './takes.ts'

interface ReportsDeps {
  readonly events: Events
  readonly stopwatch: Stopwatch
  readonly outages: Outages
}

/** Reports the outcome of requests to listeners. */
export class Reports {
  readonly events: Events
  readonly #stopwatch: Stopwatch
  readonly #outages: Outages

  constructor({ events, stopwatch, outages }: ReportsDeps) {
    this.events = events
    this.#stopwatch = stopwatch
    this.#outages = outages
  }

  /** Reads the stopwatch when a request starts; `undefined` while no listener measures decisions. */
  start(): number | undefined {
    return this.events.hasTimeListeners ? this.#stopwatch() : undefined
  }

  decided(decision: Decision, demand: Pick<Demand, 'operation'>, startedAtMs: number | undefined): void {
    if (this.#outages.isOpen) this.#outages.answered()
    if (!this.events.hasDecisionListeners) return
    const { allowed } = decision
    this.#time(demand.operation, startedAtMs, { outcome: allowed ? 'admitted' : 'refused', allowed })
    if (decision.allowed) this.events.emit('admitted', decision)
    else this.events.emit('refused', decision)
    if (this.events.hasListeners('shadowed') && decision.shadowed.length > 0) this.events.emit('shadowed', decision)
  }

  /** Reports a refusal without a store. */
  refused(decision: RefusedDecision, startedAtMs: number | undefined): void {
    if (!this.events.hasDecisionListeners) return
    this.#time(decision.operation, startedAtMs, { outcome: 'refused', allowed: false })
    this.events.emit('refused', decision)
  }

  overrun(overrun: QuotaOverrun): void {
    this.events.emit('overrun', overrun)
  }

  degraded({ operation, startedAtMs }: TakeDemand, allowed: boolean, error: unknown): void {
    this.#time(operation, startedAtMs, { outcome: 'degraded', allowed })
    if (!this.events.hasListeners('degraded')) this.#outages.failed(error, allowed)
    else this.events.emit('degraded', { operation, allowed, error })
  }

  #time(operation: string, startedAtMs: number | undefined, result: Pick<DecisionTime, 'outcome' | 'allowed'>): void {
    // A listener that was added during the request isn't called.
    if (!this.events.hasTimeListeners || startedAtMs === undefined) return
    const durationMs = this.#stopwatch() - startedAtMs
    this.events.emit('decided', { operation, outcome: result.outcome, allowed: result.allowed, durationMs })
  }
}

/** Each cause is logged at most once in this time, in milliseconds. */
const AGAIN_AFTER_MS = 60_000
/** The most causes logged in that time. */
const MOST_CAUSES = 10
/** The longest reason in a log line, in characters. */
const MAX_REASON = 600
/** How deep causes of an error are read. */
const MAX_DEPTH = 10
/** Errors that concern a single row, or only new subjects. Success of another request doesn't end them. */
const NEVER_OVER: readonly string[] = ['damaged_row', 'other_version', 'store_full']

/** When the store became unavailable, and what was logged. */
interface Outage {
  /** By the engine's clock, epoch milliseconds; `undefined`: the clock was broken. */
  readonly since: number | undefined
  refused: number
  admitted: number
  /** Whether a line about it was logged. */
  isLogged: boolean
}

interface OutagesDeps {
  readonly policy: Policy
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  readonly clock: Clock
  readonly logger: QuotaLogger
}

/** Logs why the store is unavailable, what callers get, and when it is back. Used if there is no listener. */
export class Outages {
  /** Whether the last call to the store failed. It is a field because every decision reads it. */
  isOpen = false
  readonly #clock: Clock
  readonly #logger: QuotaLogger
  readonly #consequence: string
  /** When a line about each cause was last logged. */
  readonly #loggedAt = new Map<string, number>()
  #outage: Outage | undefined
  /** The last valid time, for a clock that is broken. */
  #latest = 0

  constructor({ policy, failurePolicy, clock, logger }: OutagesDeps) {
    this.#clock = clock
    this.#logger = logger
    this.#consequence = consequenceOf(policy, failurePolicy)
  }

  /** Call after a failed call. @param allowed whether the request was admitted anyway */
  failed(error: unknown, allowed: boolean): void {
    const { code, reason, docs } = causeOf(error)
    const now = this.#now()
    const outage = this.#outage ?? { since: now, refused: 0, admitted: 0, isLogged: false }
    const soFar = outage.refused + outage.admitted === 0 ? '' : ` So far: ${countsOf(outage, now)}.`
    if (this.#isDue(reason)) {
      this.#logger.error(`quota: ${code}: ${reason} ${this.#consequence}${soFar} ${docs}`)
      outage.isLogged = true
    }
    if (NEVER_OVER.includes(code)) return
    outage[allowed ? 'admitted' : 'refused']++
    this.#outage = outage
    this.isOpen = true
  }

  /** Call after a successful call. */
  answered(): void {
    const outage = this.#outage
    this.isOpen = false
    this.#outage = undefined
    if (outage?.isLogged === true) this.#logger.warn(`quota: recovered after ${countsOf(outage, this.#now())}.`)
  }

  /** Reads the clock; `undefined`: it is broken, which may be the outage's cause. */
  #now(): number | undefined {
    const now = this.#clock.now()
    if (!Number.isSafeInteger(now)) return undefined
    this.#latest = now
    return now
  }

  #isDue(cause: string): boolean {
    const now = this.#latest
    for (const [logged, at] of this.#loggedAt) {
      // If the clock was set back, causes must not stay silent for longer.
      if (now - at >= AGAIN_AFTER_MS || now < at) this.#loggedAt.delete(logged)
    }
    if (this.#loggedAt.has(cause) || this.#loggedAt.size >= MOST_CAUSES) return false
    this.#loggedAt.set(cause, now)
    return true
  }
}

/** Returns the innermost error of this library, with the driver's reason. */
function causeOf(error: unknown): { readonly code: string; readonly reason: string; readonly docs: string } {
  let known = new QuotaError('quota_unavailable', 'The store failed')
  let inner = error
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    if (inner instanceof QuotaError) known = inner
    const { cause } = Object(inner) as { readonly cause?: unknown }
    if (cause === undefined || cause === null) break
    inner = cause
  }
  const [text, why] = [errorText(known), errorText(inner)]
  const whole = text.includes(why) ? text : `${text}: ${why}`
  return { code: known.code, reason: plain(whole.replace(/\.?$/, '.'), MAX_REASON), docs: known.docs }
}

function countsOf({ since, refused, admitted }: Outage, now: number | undefined): string {
  const lasted = since === undefined || now === undefined ? [] : [Math.max(0, Math.round((now - since) / 1_000))]
  const counts = [
    ...(refused > 0 ? [`${requests(refused)} answered 503`] : []),
    ...(admitted > 0 ? [`${requests(admitted)} admitted without the store`] : []),
  ]
  return [...lasted.map((seconds) => `${seconds} s`), ...counts].join(', ')
}

function requests(count: number): string {
  return count === 1 ? '1 request' : `${count} requests`
}

/** Returns what callers get while the store is unavailable. */
function consequenceOf({ operations }: Policy, failurePolicy: OutagesDeps['failurePolicy']): string {
  const names = Object.keys(operations)
  const got = names.map((name) => CONSEQUENCES[kindOf(failurePolicyOf(operations, failurePolicy, name))])
  const isSame = got.every((each) => each === got[0])
  if (isSame) return `Requests ${got[0]} until it answers.`
  return `Until it answers, requests of ${names.map((name, at) => `"${name}" ${got[at]}`).join(', of ')}.`
}

/** Returns the failure policy of an operation: its own, or its category's. */
export function failurePolicyOf(
  operations: Policy['operations'],
  failurePolicy: OutagesDeps['failurePolicy'],
  name: string,
): FailurePolicy | undefined {
  return ownOf(failurePolicy, name) ?? ownOf(failurePolicy, operations[name]!.category ?? '')
}

const CONSEQUENCES = {
  closed: 'get 503',
  open: 'are admitted without being counted',
  local: "are admitted up to this process's share, then get 503",
} as const

function kindOf(what: FailurePolicy | undefined): keyof typeof CONSEQUENCES {
  return typeof what === 'object' ? 'local' : (what ?? 'closed')
}
