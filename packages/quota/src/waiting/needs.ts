import type { TakeDemand } from '../engine/decide/takes.ts'
import { counts, type PlacedLimits, placedLimits } from '../policy/cells.ts'
import type { Policy } from '../policy/policy.ts'
import { initialSettings } from '../policy/settings.ts'
import { priceOf } from '../policy/settings-schema.ts'
import { ownerOf, type Subject } from '../store/subjects.ts'

/** A limit of a key that a request needs. */
export interface Need {
  readonly lane: string
  readonly cost: number
  /** The number in force, as far as it is known before the subject's settings are read. Requests can have their own. */
  readonly limit: number
  /** The request fits if at most this much is used. */
  readonly spare: number
  readonly isSlots: boolean
}

/** A limit. */
interface Limited {
  readonly name: string
  readonly at: number
  readonly layer: number
  /** `undefined` if it is shared. */
  readonly own: string | undefined
  /** Its position among a request's costs. */
  readonly unit: number
  readonly isSlots: boolean
  /** How many operations it charges; 0 for slots, which have no price. */
  readonly users: number
}

/** Determines the limits that requests of a policy need. */
export class Needs {
  /** From the narrowest to the widest. */
  readonly #limits: readonly Limited[]
  readonly #placed: PlacedLimits

  constructor(policy: Policy) {
    this.#placed = placedLimits(policy)
    this.#limits = limitsOf(policy)
  }

  /**
   * Layers that aren't shared come first. In a layer, slots come first, then limits that few operations use, then
   * limits that many use. So a request that waits for a narrow limit keeps no place in a wide one.
   */
  of({ set, subject, costs, quotas, hasSubjectSettings }: TakeDemand): readonly Need[] {
    const counted = this.#placed.schema.sets[set]!
    return this.#limits.flatMap((limit): Need[] => {
      const cost = costs[limit.unit]!
      const isLimited = quotas.limits[limit.at] !== Number.POSITIVE_INFINITY
      if (cost === 0 || !counted.includes(limit.at) || (!isLimited && hasSubjectSettings)) return []
      const lane = laneOf(limit, subject)
      const number = Math.min(quotas.limits[limit.at]!, Number.MAX_SAFE_INTEGER)
      return lane === undefined ? [] : [{ lane, cost, limit: number, spare: number - cost, isSlots: limit.isSlots }]
    })
  }

  /** Returns the lane of a limit in a decision. */
  lane(name: string, subject: Subject): string | undefined {
    const limit = this.#limits.find((each) => each.name === name)
    return limit && laneOf(limit, subject)
  }

  /** Returns all lanes of a subject's keys. */
  lanesOf(subject: Subject): readonly string[] {
    return this.#limits.flatMap((limit) => laneOf(limit, subject) ?? [])
  }

  /** Returns the key of a subject's ids. */
  key(subject: Subject): string {
    const { by, key } = ownerOf(this.#placed.schema, subject)
    return `${by} ${key}`
  }
}

/** @returns `undefined`: the subject has no key there */
function laneOf({ name, own }: Limited, subject: Subject): string | undefined {
  if (own === undefined) return name
  const key = typeof subject === 'string' ? subject : subject[own]
  return key === null ? undefined : `${name} ${key}`
}

function limitsOf(policy: Policy): readonly Limited[] {
  const prices = Object.keys(policy.operations).map(
    (name) => [name, priceOf(policy, initialSettings(policy), name)] as const,
  )
  const limits = placedLimits(policy).limits.map(({ rule, ofLayer, at, layer, unit }): Limited => {
    const users = prices.filter(([each, price]) => counts(rule, each) && (price[unit] ?? 0) > 0)
    const own = ofLayer.shared ? undefined : ofLayer.name
    return { name: rule.name, at, layer, own, unit, isSlots: rule.window === undefined, users: users.length }
  })
  const isShared = ({ own }: Limited): number => Number(own === undefined)
  return limits.sort((a, b) => isShared(a) - isShared(b) || a.layer - b.layer || a.users - b.users)
}
