import type { Subject } from '../../store/schema.ts'

/** A plan that there is not, and where it was met; whoever has it follows the base limits. */
export interface UnknownPlan {
  readonly plan: string
  readonly subject: Subject
  /** Whether the request named it, or the subject's stored settings. */
  readonly of: 'request' | 'settings'
}

/** Most that are told under one version of the settings: requests can name any. */
const MAX_TOLD = 100

/** Tells of each plan that there is not, once under one version of the settings. */
export class UnknownPlans {
  readonly #tell: (unknown: UnknownPlan) => void
  readonly #told = new Set<string>()

  constructor(tell: (unknown: UnknownPlan) => void) {
    this.#tell = tell
  }

  met(unknown: UnknownPlan): void {
    if (this.#told.size >= MAX_TOLD || this.#told.has(unknown.plan)) return
    this.#told.add(unknown.plan)
    this.#tell(unknown)
  }

  /** Other settings are in force. */
  forget(): void {
    this.#told.clear()
  }
}
