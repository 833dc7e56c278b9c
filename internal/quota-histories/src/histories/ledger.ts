import assert from 'node:assert/strict'
import type { AdmittedDecision, Policy, Subject, UncountedWindow, WindowStatus } from '@scoregw/quota'

/** Adds up the admissions of each window instance, using only the decisions. */
export class Ledger {
  readonly #sharedLayers: ReadonlySet<string>
  readonly #admitted = new Map<string, number>()

  constructor(policy: Policy) {
    this.#sharedLayers = new Set(policy.layers.filter(({ shared }) => shared).map(({ name }) => name))
  }

  /** Adds an admission. No window may exceed its limit, or show another amount than was admitted. */
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

  /** Adds a refund to the windows of its admission. */
  gaveBack(decision: AdmittedDecision, tokens: number): void {
    for (const window of decision.windows) {
      if (!isCounted(window)) continue
      const name = this.#instance(decision.subject, window)
      this.#admitted.set(name, (this.#admitted.get(name) ?? 0) - tokens)
    }
  }

  /** A window's name and start, which distinguish it from earlier and later ones. */
  #instance(subject: Subject, { layer, category, window, startedAt }: WindowStatus): string {
    assert.notEqual(startedAt, null, `${layer} ${category} ${window}: a window that was charged is open`)
    const key = this.#sharedLayers.has(layer) ? 'everybody' : keyOf(subject, layer)
    return JSON.stringify([layer, key, category, window, startedAt])
  }
}

function keyOf(subject: Subject, layer: string): string {
  return typeof subject === 'string' ? subject : (subject[layer] ?? '')
}

/** Free operations read no counter, slots are not tokens, and a bucket refills while it is open. */
function isCounted(window: WindowStatus | UncountedWindow): window is WindowStatus {
  return window.used !== null && window.kind !== 'concurrency' && window.kind !== 'bucket'
}
