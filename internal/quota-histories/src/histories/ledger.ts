import assert from 'node:assert/strict'
import type { AdmittedDecision, LimitStatus, Subject, UncountedLimit } from '@scoregw/quota'
import { ofUnit } from '@scoregw/quota/internal'

/** Adds up the admissions of each window instance, using only the decisions. */
export class Ledger {
  readonly #admitted = new Map<string, number>()

  /** Adds an admission. No window may exceed its limit, or show another amount than was admitted. */
  admitted({ subject, cost, limits }: AdmittedDecision): void {
    for (const limit of Object.values(limits)) {
      if (!isCounted(limit) || ofUnit(cost, limit.unit) === 0) continue
      const name = instanceOf(subject, limit)
      const sum = (this.#admitted.get(name) ?? 0) + ofUnit(cost, limit.unit)
      this.#admitted.set(name, sum)
      if (limit.limit !== 'unlimited') assert.ok(sum <= limit.limit, `${name}: ${sum} of ${limit.limit} admitted`)
      assert.equal(limit.used, sum, `${name}: used, and admitted in this window`)
    }
  }

  /** Adds a refund to the windows of its admission. @param amountOf the part of a unit that was refunded */
  gaveBack({ subject, cost, limits }: AdmittedDecision, amountOf: (unit: string) => number): void {
    for (const limit of Object.values(limits)) {
      if (!isCounted(limit) || ofUnit(cost, limit.unit) === 0) continue
      const name = instanceOf(subject, limit)
      this.#admitted.set(name, (this.#admitted.get(name) ?? 0) - amountOf(limit.unit))
    }
  }
}

/** A window's name and start, which distinguish it from earlier and later ones. */
function instanceOf(subject: Subject, { name, by, startedAt }: LimitStatus): string {
  assert.notEqual(startedAt, null, `${name}: a window that was charged is open`)
  const own = typeof subject === 'string' ? subject : subject[by ?? '']
  return JSON.stringify([name, by === undefined ? 'everybody' : own, startedAt])
}

/** Free operations read no counter, slots are not amounts, and a bucket refills while it is open. */
function isCounted(limit: LimitStatus | UncountedLimit | undefined): limit is LimitStatus {
  return limit !== undefined && limit.used !== null && limit.kind !== 'concurrency' && limit.kind !== 'bucket'
}
