import type { AdmittedDecision, RefusedDecision } from '../decision/decision.ts'
import type { VersionedSettings } from '../policy/settings.ts'
import type { NearLimit } from './requests.ts'

/** What an engine tells, by event name. */
export interface QuotaEvents {
  /** A request was admitted and charged. */
  admitted: AdmittedDecision
  /** A request was refused. */
  refused: RefusedDecision
  /** A window crossed 80 % of its limit. */
  nearLimit: NearLimit
  /** Other settings are in force. */
  settings: VersionedSettings
  /** The store did not answer, and the failure policy decided. */
  degraded: { readonly category: string; readonly allowed: boolean; readonly error: unknown }
}

export type QuotaEvent = keyof QuotaEvents
export type QuotaListener<E extends QuotaEvent> = (event: QuotaEvents[E]) => void

/** Listeners by event; a look at {@link hears} is all that an unheard event costs. */
export class Events {
  readonly #listeners = new Map<QuotaEvent, Set<QuotaListener<never>>>()
  /** Whether anybody listens to decisions; kept as a field, since every decision asks. */
  hearsDecisions = false

  hears(event: QuotaEvent): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0
  }

  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E>): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners)
    listeners.add(listener)
    this.#count()
    return () => {
      listeners.delete(listener)
      this.#count()
    }
  }

  /** Tells all listeners. One that throws is an uncaught error of its own, never a failed decision. */
  tell<E extends QuotaEvent>(event: E, payload: QuotaEvents[E]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        ;(listener as QuotaListener<E>)(payload)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  clear(): void {
    this.#listeners.clear()
    this.#count()
  }

  #count(): void {
    this.hearsDecisions = this.hears('admitted') || this.hears('refused') || this.hears('nearLimit')
  }
}
