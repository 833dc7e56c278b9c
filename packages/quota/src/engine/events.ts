import type { AdmittedDecision, Decision, RefusedDecision } from '../decision/decision.ts'
import { type Fault, QuotaError } from '../errors/quota-error.ts'
import { kindOf } from '../errors/shown.ts'
import { noSuchName } from '../options/faults.ts'
import type { QuotaLogger } from '../options/logger.ts'
import { calling } from '../options/promise.ts'
import type { VersionedSettings } from '../policy/settings.ts'
import type { Counting } from '../policy/units.ts'
import type { Subject } from '../store/subjects.ts'
import type { HoldEnd, NearLimit, QuotaOverrun } from './requests.ts'

/** The payload of each event of an engine, by event name. */
export interface QuotaEvents<C extends Counting = Counting> {
  /** A request was admitted and charged. */
  admitted: AdmittedDecision<C>
  /** A request was refused. */
  refused: RefusedDecision<C>
  /**
   * Shadowed limits would have refused a request that was decided without them. Emitted after `admitted` or `refused`.
   * The decision's `shadowed` has these limits.
   */
  shadowed: Decision<C>
  /** A final charge took a limit across a threshold: a reservation counts at its commit. See `thresholds` in the options and the settings. */
  nearLimit: NearLimit<C>
  /** The effective settings changed. */
  settings: VersionedSettings<C>
  /** A stored document has members that the policy can't use. They stay stored, but have no effect. */
  settingsFault: {
    readonly of: 'settings' | { readonly layer: string; readonly key: string }
    readonly faults: readonly Fault[]
  }
  /** A request or a subject's settings name an unknown plan. Emitted once per version of the settings. */
  unknownPlan: UnknownPlan
  /** A hold expired. Only one process emits it, and polls every second while it has a listener. */
  holdEnded: HoldEnd<C>
  /** A commit was higher than its reservation. Emitted by the commit that settled the hold, never by a repeat. */
  overrun: QuotaOverrun<C>
  /** The store was unavailable, and the failure policy decided. Logged if there is no listener. */
  degraded: { readonly operation: string; readonly allowed: boolean; readonly error: unknown }
  /** Tokens or slots were refunded, so an earlier refused request may fit now. */
  freed: Freed<C>
  /** A request started waiting in a queue; see `@scoregw/quota/waiting`. */
  waiting: WaitBegin
  /** A request left a waiting queue, or was refused by it. */
  waited: WaitEnd
  /** The engine is closing. No other event follows. */
  closed: undefined
  /** A decision was made, with any outcome. Emitted before the event that describes the outcome. */
  decided: DecisionTime
}

/** An unknown plan, and where it was found. Its subjects follow the policy's numbers. */
export interface UnknownPlan {
  readonly plan: string
  readonly subject: Subject
  /** Whether the request or the subject's stored settings named it. */
  readonly of: 'request' | 'settings'
}

/** Which tokens or slots were refunded: by a settlement, a reset, a release, or a hold that expired. */
export interface Freed<C extends Counting = Counting> {
  /** Absent for a hold that expired or was released: its keys are unknown. */
  readonly subject?: C['names']['subject'] | undefined
}

/** A request in a waiting queue. */
export interface WaitBegin {
  readonly operation: string
  /** How many requests wait in this process's queue. */
  readonly size: number
}

/** How a request left a waiting queue. */
export interface WaitEnd extends WaitBegin {
  readonly outcome: WaitOutcome
  /** The time from request to response, in milliseconds with fractions. */
  readonly waitedMs: number
}

/**
 * Why a waiting queue refused a request.
 *
 * - `timeout`: `maxWaitMs` has passed.
 * - `too_late`: nothing will fit within `maxWaitMs`. Refused immediately.
 * - `too_large`: the cost is above a limit, so waiting won't help.
 * - `queue_full`: too many requests are already waiting.
 */
export type WaitRefusal = 'timeout' | 'too_late' | 'too_large' | 'queue_full'

/** `admitted`, a refusal, or: the caller aborted, the engine closed, or an error was thrown. */
export type WaitOutcome = 'admitted' | WaitRefusal | 'aborted' | 'closed' | 'failed'

/** How long a decision took. Only measured while there is a listener. */
export interface DecisionTime {
  readonly operation: string
  /** `degraded`: the failure policy decided. */
  readonly outcome: 'admitted' | 'refused' | 'degraded'
  /** Whether the request was admitted. */
  readonly allowed: boolean
  /**
   * The time from request to decision, in milliseconds with fractions. Includes reading settings, the store, and
   * waiting for both.
   */
  readonly durationMs: number
}

export type QuotaEvent = keyof QuotaEvents
export type QuotaListener<E extends QuotaEvent, C extends Counting = Counting> = (event: QuotaEvents<C>[E]) => void

/** Listeners by event. Without listeners, an event only costs a call of {@link hasListeners}. */
export class Events {
  readonly #logger: Pick<QuotaLogger, 'error'>
  readonly #listeners = new Map<QuotaEvent, Set<QuotaListener<never>>>()
  /** Whether any decision event has listeners. It is a field because every decision reads it. */
  hasDecisionListeners = false
  /** Whether `decided` has listeners. It is a field for the same reason. */
  hasTimeListeners = false

  /** @param logger receives what listeners throw or reject with */
  constructor(logger: Pick<QuotaLogger, 'error'>) {
    this.#logger = logger
  }

  hasListeners(event: QuotaEvent): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0
  }

  /** @throws {QuotaError} `invalid_options` for an unknown event, or a listener that isn't a function */
  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E>): () => void {
    checkListener(event, listener)
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners)
    listeners.add(listener)
    this.#count()
    return () => {
      listeners.delete(listener)
      this.#count()
    }
  }

  /** Calls all listeners. What one throws, or rejects with, is logged. The decision doesn't fail. */
  emit<E extends QuotaEvent>(event: E, payload: QuotaEvents[E]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      calling(
        () => (listener as QuotaListener<E>)(payload),
        (error) => this.#logger.error(error),
      )
    }
  }

  clear(): void {
    this.#listeners.clear()
    this.#count()
  }

  #count(): void {
    this.hasTimeListeners = this.hasListeners('decided')
    this.hasDecisionListeners = OF_DECISIONS.some((event) => this.hasListeners(event))
  }
}

/** The events that a decision can emit. */
const OF_DECISIONS: readonly QuotaEvent[] = ['decided', 'admitted', 'refused', 'shadowed', 'nearLimit']

/** Every name of {@link QuotaEvents}. */
const NAMES: Readonly<Record<QuotaEvent, true>> = {
  admitted: true,
  refused: true,
  nearLimit: true,
  shadowed: true,
  settings: true,
  settingsFault: true,
  unknownPlan: true,
  holdEnded: true,
  overrun: true,
  degraded: true,
  freed: true,
  waiting: true,
  waited: true,
  closed: true,
  decided: true,
}

function checkListener(event: unknown, listener: unknown): void {
  if (typeof event !== 'string' || !Object.hasOwn(NAMES, event)) {
    const message = `on(): no event ${noSuchName(event, Object.keys(NAMES), 'there are')}`
    throw new QuotaError('invalid_options', message)
  }
  if (typeof listener === 'function') return
  throw new QuotaError('invalid_options', `on("${event}", listener): expected a function, got ${kindOf(listener)}`)
}
