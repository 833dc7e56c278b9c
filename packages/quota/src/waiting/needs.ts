import type { TakeDemand } from '../engine/decide/demands.ts'
import { type PlacedLimits, placedLimits } from '../policy/cells.ts'
import type { Policy } from '../policy/policy.ts'
import { initialSettings } from '../policy/settings.ts'
import { priceOf } from '../policy/warnings.ts'
import { ownerOf, type Subject } from '../store/schema.ts'

/** A limit of a key that a request needs. */
export interface Need {
  readonly lane: string
  readonly cost: number
  readonly isSlots: boolean
}

/** A limit. */
interface Limited {
  readonly name: string
  readonly at: number
  /** `undefined` if it is shared. */
  readonly own: string | undefined
  /** Its position among a request's costs. */
  readonly unit: number
  readonly isSlots: boolean
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
   * Layers that aren't shared come first. In a layer, slots come first, then units that few operations use, then units
   * that many use.
   */
  of({ set, subject, costs, quotas, hasSubjectSettings }: TakeDemand): readonly Need[] {
    const counted = this.#placed.schema.sets[set]!
    return this.#limits.flatMap((limit): Need[] => {
      const cost = costs[limit.unit]!
      const isLimited = quotas.limits[limit.at] !== Number.POSITIVE_INFINITY
      if (cost === 0 || !counted.includes(limit.at) || (!isLimited && hasSubjectSettings)) return []
      const lane = laneOf(limit, subject)
      return lane === undefined ? [] : [{ lane, cost, isSlots: limit.isSlots }]
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
  const { rules, layout } = placedLimits(policy)
  const costs = Object.keys(policy.operations).map((name) => priceOf(policy, initialSettings(policy), name))
  /** How many operations have a cost in a unit; 0 for slots, so that they come first. */
  const usersOf = (unit: number): number => costs.filter((cost) => (cost[unit] ?? 0) > 0).length
  return rules
    .map(({ name, layer, window }, at): Limited => {
      const { shared, name: ofLayer } = policy.layers[layer]!
      return { name, at, own: shared ? undefined : ofLayer, unit: layout.units[at]!, isSlots: window === undefined }
    })
    .sort((a, b) => Number(a.own === undefined) - Number(b.own === undefined) || usersOf(a.unit) - usersOf(b.unit))
}
