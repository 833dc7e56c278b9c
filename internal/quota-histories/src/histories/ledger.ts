import assert from 'node:assert/strict'
import type { AdmittedDecision, Policy, Subject, UncountedWindow, WindowStatus } from '@scoregw/quota'

/** Adds up what was admitted in each window instance, from nothing but the decisions. */
export class Ledger {
  readonly #sharedLayers: ReadonlySet<string>
  readonly #admitted = new Map<string, number>()

  constructor(policy: Policy) {
    this.#sharedLayers = new Set(policy.layers.filter(({ shared }) => shared).map(({ name }) => name))
  }

  /** Enters an admission: no window may hold more than its limit, nor other than what was admitted in it. */
  admitted(decision: AdmittedDecision): void {
    for (const window of decision.windows) {
      if (!isCounted(window)) continue
      const name = this.#instance(decision.subject, window)
      const sum = (this.#admitted.get(name) ?? 0) + decision.cost
      this.#admitted.set(name, sum)
      if (window.limit !== 'unlimited') assert.ok(sum <= window.limit, `${name}: ${sum} of ${window.limit} admitted`)
      assert.equal(window.used, sum, `${name}: tokens used, and admitted in this window`)
    }
  }

  /** Enters what went back, into the windows that it came from. */
  gaveBack(decision: AdmittedDecision, tokens: number): void {
    for (const window of decision.windows) {
      if (!isCounted(window)) continue
      const name = this.#instance(decision.subject, window)
      this.#admitted.set(name, (this.#admitted.get(name) ?? 0) - tokens)
    }
  }

  /** A window's name with its start, by which it differs from those before and after. */
  #instance(subject: Subject, { layer, category, window, startedAt }: WindowStatus): string {
    assert.notEqual(startedAt, null, `${layer} ${category} ${window}: a window that was charged is open`)
    const key = this.#sharedLayers.has(layer) ? 'everybody' : keyOf(subject, layer)
    return JSON.stringify([layer, key, category, window, startedAt])
  }
}

function keyOf(subject: Subject, layer: string): string {
  return typeof subject === 'string' ? subject : (subject[layer] ?? '')
}

/** Free operations read no counter; slots are not tokens; tokens of a bucket come back while it is open. */
function isCounted(window: WindowStatus | UncountedWindow): window is WindowStatus {
  return window.used !== null && window.kind !== 'concurrency' && window.kind !== 'bucket'
}
