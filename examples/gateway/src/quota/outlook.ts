import type { Decision, Quota } from '@scoregw/quota'
import { sharedLayers } from './layer-members.ts'
import type { OperationName } from './policy.ts'

/** Most users by category that are remembered. */
const MAX_REMEMBERED = 10_000

/**
 * How many tokens the last decision about each user left. It's a guess, which decides nothing: other processes charge too,
 * and settings change. It only says where a refusal is likely, and so is better decided before a transaction begins.
 */
export class Outlook {
  readonly #quota: Quota<OperationName>
  readonly #shared: ReadonlySet<string>
  /** By user and category; of shared layers only by category. */
  readonly #left = new Map<string, number>()

  constructor(quota: Quota<OperationName>) {
    this.#quota = quota
    this.#shared = new Set(sharedLayers(quota.policy))
  }

  /** Whether a charge may well be refused; so it is for a user of whom nothing is known. */
  isTight(userId: string, operation: OperationName): boolean {
    const { category, cost } = this.#quota.policy.operations[operation]
    const price = Number(this.#quota.inForce().settings.prices[operation] ?? cost)
    const own = this.#left.get(`${userId} ${category}`) ?? 0
    return Math.min(own, this.#left.get(category) ?? own) < price
  }

  /** @param decision absent: the counters gave no answer */
  saw(userId: string, operation: OperationName, decision: Decision | undefined): void {
    const { category } = this.#quota.policy.operations[operation]
    const key = `${userId} ${category}`
    this.#left.delete(key)
    if (decision === undefined) return
    const left = (isShared: boolean): number =>
      decision.windows.reduce((least, { layer, enforced, remaining }) => {
        const counts = enforced && typeof remaining === 'number' && this.#shared.has(layer) === isShared
        return counts ? Math.min(least, remaining) : least
      }, Number.POSITIVE_INFINITY)
    this.#left.set(key, left(false))
    if (decision.windows.some(({ layer }) => this.#shared.has(layer))) this.#left.set(category, left(true))
    const [oldest = key] = this.#left.keys()
    if (this.#left.size > MAX_REMEMBERED) this.#left.delete(oldest)
  }
}
