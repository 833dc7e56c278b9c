import type { TakeDemand } from '../engine/decide/demands.ts'
import { categoryOf, hasLimit, layerAt, placedLimits } from '../policy/cells.ts'
import type { Policy } from '../policy/policy.ts'
import { noneOf, unitNames, vectorOf } from '../policy/units.ts'
import type { Subject } from '../store/schema.ts'

/** A limit of a key that a request needs. */
export interface Need {
  readonly lane: string
  readonly cost: number
  readonly isSlots: boolean
}

/** A limit of a category. */
interface Limited {
  readonly layer: string
  /** Its position. */
  readonly at: number
  readonly isShared: boolean
  readonly label: string
  /** Its position among a request's costs. */
  readonly unit: number
  readonly isSlots: boolean
}

/** Determines the limits that requests of a policy need. */
export class Needs {
  /** By category, from the narrowest to the widest limit. */
  readonly #limits: readonly (readonly Limited[])[]
  readonly #categories: readonly string[]
  readonly #firstOwn: string
  readonly #layerOf: readonly number[]

  constructor(policy: Policy) {
    this.#layerOf = placedLimits(policy).layout.layerOf
    this.#categories = policy.categories
    this.#limits = policy.categories.map((_, category) => limitsOf(policy, category))
    this.#firstOwn = policy.layers.find(({ shared }) => !shared)!.name
  }

  /**
   * Layers that aren't shared come first. In a layer, slots come first, then units that few operations use, then units
   * that many use.
   */
  of({ set, subject, costs, quotas, hasSubjectSettings }: TakeDemand): readonly Need[] {
    const needs: Need[] = []
    const category = categoryOf(set)
    for (const limit of this.#limits[category]!) {
      const { at, unit, isSlots } = limit
      const cost = costs[unit]!
      const isLimited = quotas.layers.includes(this.#layerOf[at]!) && quotas.limits[at] !== Number.POSITIVE_INFINITY
      if (cost > 0 && (isLimited || !hasSubjectSettings)) {
        needs.push({ lane: laneOf(category, limit, subject), cost, isSlots })
      }
    }
    return needs
  }

  /** Returns the category of a request. */
  category({ set }: Pick<TakeDemand, 'set'>): string {
    return this.#categories[categoryOf(set)]!
  }

  /** Returns the lane of a limit in a decision. */
  lane(category: string, layer: string, label: string, subject: Subject): string | undefined {
    const at = this.#categories.indexOf(category)
    const limit = this.#limits[at]!.find((each) => each.layer === layer && each.label === label)
    return limit && laneOf(at, limit, subject)
  }

  /** Returns all lanes of a subject's keys. */
  lanesOf(category: string, subject: Subject): readonly string[] {
    const at = this.#categories.indexOf(category)
    return this.#limits[at]!.map((limit) => laneOf(at, limit, subject))
  }

  /** Whether a lane belongs to a category. */
  isOf(lane: string, category: string): boolean {
    return lane.startsWith(`${this.#categories.indexOf(category)} `)
  }

  /** Returns the subject's key in the first layer that isn't shared. */
  key(subject: Subject): string {
    return keyOf(subject, this.#firstOwn)
  }
}

function laneOf(category: number, { layer, label, isShared }: Limited, subject: Subject): string {
  const name = `${category} ${layer} ${label}`
  return isShared ? name : `${name} ${keyOf(subject, layer)}`
}

function keyOf(subject: Subject, layer: string): string {
  return typeof subject === 'string' ? subject : subject[layer]!
}

/** From the narrowest to the widest. */
function limitsOf(policy: Policy, category: number): readonly Limited[] {
  const { categories, layers, operations } = policy
  const name = categories[category]!
  const units = unitNames(policy)
  const costs = Object.values(operations)
    .filter((operation) => operation.category === name)
    .map(({ cost }) => vectorOf(units, cost, noneOf(units)))
  /** How many operations have a cost in a unit; 0 for slots, so that they come first. */
  const usersOf = (unit: number): number => costs.filter((cost) => (cost[unit] ?? 0) > 0).length
  const { rowCells, layout } = placedLimits(policy)
  const cells = rowCells
    .map(({ label, unit, kind }, cell) => ({ label, unit, cell, isSlots: kind === 'concurrency' }))
    .sort((a, b) => usersOf(a.unit) - usersOf(b.unit))
  const narrowFirst = layers
    .map(({ name: layer, shared = false }, index) => ({ layer, index, isShared: shared }))
    .sort((a, b) => Number(a.isShared) - Number(b.isShared))
  return narrowFirst.flatMap(({ layer, index, isShared }) =>
    cells
      .filter(({ label }) => hasLimit(policy, layer, name, label))
      .map(({ cell, ...of }) => ({
        ...of,
        layer,
        isShared,
        at: layout.rows[layerAt(policy, index, category)]!.first + cell,
      })),
  )
}
