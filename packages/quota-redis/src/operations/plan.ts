import { layerKey, MAX_USED, type ReservationId } from '@scoregw/quota/store'
import type { TakeRequest } from '../one-unit.ts'
import type { Keys } from '../store/keys.ts'
import { CODES, placeCode } from './codes.ts'
import { SpanNumbers } from './span-numbers.ts'
import { isOf, type TariffTerms } from './tariffs.ts'

/** A revision that scripts compare as it is: see `lua/revision.lua`. */
const PLAIN_REVISION = /^[\w-]*$/

/** Nonces that stand one behind the other: a byte a character. */
const PLAIN_NONCE = /^[!-~]+$/

/** What plain takes of one tariff have in common, as `lua/plan.lua` reads it. */
export interface Plan extends Omit<TariffTerms, 'subject'> {
  /** Numbers, as doubles. */
  readonly bytes: Buffer
  /** The keys of rows that everybody shares. */
  readonly shared: readonly string[]
  /** The layers whose rows are the subject's own, in the order of the request's layers. */
  readonly own: readonly number[]
  /** What takes under ids have in common besides. */
  readonly record: PlannedRecord | undefined
}

interface PlannedRecord extends Pick<ReservationId, 'fingerprint' | 'ttlMs'> {
  /** The tables of a take's rows, in the order of its layers. */
  readonly tables: string
  readonly nonceLength: number
}

/**
 * The plan of a take's tariff; `undefined` where it is none that the usual part of the script knows.
 *
 * @param now the instant that stands in for the server's clock
 */
function planOf(request: TakeRequest, keys: Keys, now: number | undefined): Plan | undefined {
  const { category, quotas, cost, settingsRevision, periods, subject, id } = request
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
    record: id && {
      fingerprint: id.fingerprint,
      ttlMs: id.ttlMs,
      tables: layers.map((layer) => keys.table(layer, category)).join(''),
      nonceLength: id.nonce.length,
    },
  }
}

/** Whether a take goes by a plan. */
function follows(plan: Plan, request: TakeRequest): boolean {
  const { record } = plan
  const { id } = request
  if ((record === undefined) !== (id === undefined) || !isOf(plan, request)) return false
  if (record === undefined || id === undefined) return true
  const { fingerprint, ttlMs, nonceLength } = record
  return id.fingerprint === fingerprint && id.ttlMs === ttlMs && id.nonce.length === nonceLength
}

/** The plans that batches of one policy had last. */
export class Plans {
  readonly #keys: Keys
  #last: Plan | undefined
  #lastUnderIds: Plan | undefined

  constructor(keys: Keys) {
    this.#keys = keys
  }

  /** As {@link planOf}. */
  of(request: TakeRequest, now: number | undefined): Plan | undefined {
    if (now !== undefined) return planOf(request, this.#keys, now)
    const isUnderId = request.id !== undefined
    const last = isUnderId ? this.#lastUnderIds : this.#last
    if (last !== undefined && follows(last, request)) return last
    const plan = planOf(request, this.#keys, now)
    if (isUnderId) this.#lastUnderIds = plan
    else this.#last = plan
    return plan
  }
}

/** Plain takes of one tariff. */
export class PlainTakes {
  readonly plan: Plan
  readonly #keys: Keys
  /** The keys of the takes' own rows, each once. */
  readonly #rows: string[] = []
  /** The places of the takes' own rows, one take's behind the other's. */
  readonly #places: number[] = []
  readonly #owners: readonly Owners[]
  /** The keys of their records, each once. */
  readonly #records = new Set<string>()
  #nonces = ''
  #count = 0
  #characters = 0

  constructor(plan: Plan, keys: Keys) {
    this.plan = plan
    this.#keys = keys
    this.#owners = plan.own.map(() => ({ seen: new Set(), names: [], places: [] }))
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
    if (!follows(this.plan, request) || !this.#addRecord(request)) return false
    const { own } = this.plan
    for (let i = 0; i < own.length; i++) this.#places.push(this.#placeOf(this.#owners[i]!, own[i]!, request))
    this.#count++
    return true
  }

  /** Whether that is no record that another of the takes has. */
  #addRecord({ category, subject, id }: TakeRequest): boolean {
    if (id === undefined) return true
    if (!PLAIN_NONCE.test(id.nonce)) return false
    const { size } = this.#records
    const record = this.#keys.record(category, subject, id.id)
    this.#records.add(record)
    if (this.#records.size === size) return false
    this.#characters += record.length
    this.#nonces += id.nonce
    return true
  }

  /** The place of a row of the subject's own. Few are looked at twice in a batch: to know those costs one look a row. */
  #placeOf({ seen, names, places }: Owners, layer: number, { subject, category }: TakeRequest): number {
    const name = layerKey(this.#keys.schema.layers[layer]!, subject)
    const { size } = seen
    seen.add(name)
    if (seen.size === size) return places[names.indexOf(name)]!
    const row = this.#keys.row(layer, category, subject)
    this.#rows.push(row)
    this.#characters += row.length
    names.push(name)
    places.push(this.rows)
    return this.rows
  }

  /** The keys of all rows, and of records behind them. */
  keys(): string[] {
    return [...this.plan.shared, ...this.#rows, ...this.#records]
  }

  /** What the script is told, as `lua/plan.lua` has it: arguments. */
  told(list: string): (string | Buffer)[] {
    const { bytes, settingsRevision, record } = this.plan
    const codes = this.#codes()
    if (codes === '' && settingsRevision === undefined && record === undefined) return [bytes, list]
    const told = [bytes, list, String.fromCharCode(CODES.PLAIN) + codes]
    if (record !== undefined) {
      const { fingerprint, ttlMs, tables } = record
      return [...told, settingsRevision ?? '', fingerprint, String(ttlMs), tables, this.#nonces]
    }
    return settingsRevision === undefined ? told : [...told, settingsRevision]
  }

  /** The codes of the takes; none where each has rows of its own, in turn. */
  #codes(): string {
    const own = this.plan.own.length
    if (own > 0 && this.#rows.length === this.#places.length) return ''
    let codes = ''
    for (let take = 0; take < this.#count; take++) {
      codes += String.fromCharCode(CODES.FIRST_TARIFF)
      for (let row = take * own; row < (take + 1) * own; row++) codes += placeCode(this.#places[row]!)
    }
    return codes
  }

  /** The places of a take's rows in the order of its layers, written into `places`. */
  placesOf(take: number, places: number[]): void {
    const { layers } = this.plan.quotas
    const { own } = this.plan
    let ownBefore = 0
    let sharedBefore = 0
    for (let l = 0; l < layers.length; l++) {
      if (layers[l] === own[ownBefore]) places[l] = this.#places[take * own.length + ownBefore++]!
      else places[l] = ++sharedBefore
    }
  }
}

/** Whose rows of one layer are in a batch. */
interface Owners {
  readonly seen: Set<string>
  readonly names: string[]
  /** Of their rows. */
  readonly places: number[]
}
