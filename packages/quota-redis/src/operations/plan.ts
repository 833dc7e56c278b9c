import { layerKey, MAX_USED, type TakeRequest } from '@scoregw/quota/store'
import type { Keys } from '../store/keys.ts'
import { SpanNumbers } from './span-numbers.ts'
import { isOf, type TariffTerms } from './tariffs.ts'

/** A revision that scripts compare as it is: see `lua/revision.lua`. */
const PLAIN_REVISION = /^[\w-]*$/

/** What plain takes of one tariff have in common, as `lua/plan.lua` reads it. */
export interface Plan extends Omit<TariffTerms, 'subject'> {
  /** Numbers, as doubles. */
  readonly bytes: Buffer
  /** The keys of rows that everybody shares. */
  readonly shared: readonly string[]
  /** The layers whose rows are the subject's own, in the order of the request's layers. */
  readonly own: readonly number[]
}

/**
 * The plan of a take's tariff; `undefined` where it is none that the usual part of the script knows.
 *
 * @param now the instant that stands in for the server's clock
 */
export function planOf(request: TakeRequest, keys: Keys, now: number | undefined): Plan | undefined {
  const { category, quotas, cost, settingsRevision, periods, subject } = request
  const { layers, limits } = quotas
  if (cost === 0 || layers.length === 0) return undefined
  if (settingsRevision !== undefined && !PLAIN_REVISION.test(settingsRevision)) return undefined
  // It stands for `unlimited` there.
  if (limits.some((limit) => limit >= MAX_USED && limit !== Number.POSITIVE_INFINITY)) return undefined
  const { layout, schema } = keys
  const spans = new SpanNumbers(layout)
  const ofLayers = spans.of(periods, layers.length)
  const shared = layers.filter((layer) => schema.layers[layer]!.shared)
  const places = layers.map((layer) => shared.indexOf(layer) + 1)
  const numbers = [now ?? -1, layout.hash, ...layout.lengthsMs, ...spans.numbers, 1]
  numbers.push(settingsRevision === undefined ? 0 : 1, cost, layers.length, ...places)
  numbers.push(...limits.map((limit) => Math.min(limit, MAX_USED)))
  // One alone need not be named.
  if (spans.numbers[0] !== 1) numbers.push(...ofLayers)
  return {
    category,
    quotas,
    cost,
    settingsRevision,
    periods,
    bytes: Buffer.from(Float64Array.from(numbers).buffer),
    shared: shared.map((layer) => keys.row(layer, category, subject)),
    own: layers.filter((layer) => !schema.layers[layer]!.shared),
  }
}

/** The plans that batches of one policy had last. */
export class Plans {
  readonly #keys: Keys
  #last: Plan | undefined

  constructor(keys: Keys) {
    this.#keys = keys
  }

  /** As {@link planOf}. */
  of(request: TakeRequest, now: number | undefined): Plan | undefined {
    if (this.#last !== undefined && now === undefined && isOf(this.#last, request)) return this.#last
    const plan = planOf(request, this.#keys, now)
    if (now === undefined) this.#last = plan
    return plan
  }
}

/** Plain takes of one tariff, no two of which have a row in common but those that everybody shares. */
export class PlainTakes {
  readonly plan: Plan
  readonly #keys: Keys
  /** The keys of the takes' own rows, one take's behind the other's. */
  readonly #rows: string[] = []
  /** Subjects of each own layer. */
  readonly #subjects: readonly Set<string>[]
  #characters = 0

  constructor(plan: Plan, keys: Keys) {
    this.plan = plan
    this.#keys = keys
    this.#subjects = plan.own.map(() => new Set())
  }

  /** Keys of all rows, in characters. */
  get characters(): number {
    return this.#characters
  }

  get rows(): number {
    return this.plan.shared.length + this.#rows.length
  }

  /** Whether the take is one more of them. */
  add(request: TakeRequest): boolean {
    if (!isOf(this.plan, request)) return false
    const { own } = this.plan
    for (let i = 0; i < own.length; i++) {
      const subjects = this.#subjects[i]!
      const { size } = subjects
      subjects.add(layerKey(this.#keys.schema.layers[own[i]!]!, request.subject))
      if (subjects.size === size) return false
      const row = this.#keys.row(own[i]!, request.category, request.subject)
      this.#rows.push(row)
      this.#characters += row.length
    }
    return true
  }

  /** Keys and arguments behind the script's own keys. */
  keys(): string[] {
    return [...this.plan.shared, ...this.#rows]
  }

  /** The places of a take's rows in the order of its layers, from 0, written into `rows`. */
  placesOf(take: number, rows: number[]): void {
    const { quotas, own, shared } = this.plan
    let ownBefore = 0
    let sharedBefore = 0
    for (let l = 0; l < quotas.layers.length; l++) {
      const isOwn = quotas.layers[l] === own[ownBefore]
      rows[l] = isOwn ? shared.length + take * own.length + ownBefore++ : sharedBefore++
    }
  }
}
