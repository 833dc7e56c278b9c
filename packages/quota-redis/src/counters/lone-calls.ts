import { PERIOD_NUMBERS, usedLayers } from '@scoregw/quota/internal'
import type { ReadRequest, TakeRequest } from '@scoregw/quota/store'
import type { Word } from '../connection/connection.ts'
import type { Keys, RecordPlace } from '../keys/keys.ts'
import type { Script } from '../lua/script.ts'
import type { Refund } from './charges.ts'
import { headOf, type ListBook, type ListBooks } from './lists.ts'
import type { ReplayedRow } from './replay.ts'
import { READ_SCRIPT, SETTLE_SCRIPT, TAKE_SCRIPT } from './script.ts'

/** A call of a script that carries out one operation. */
export interface LoneCall {
  readonly script: Script
  /** Number of keys, keys and arguments. */
  readonly args: readonly Word[]
  /** One per layer of the request, in the order of the reply. */
  readonly rows: readonly ReplayedRow[]
  /** The index of each layer's row. */
  readonly places: readonly number[]
  /** Whether it only reads. Its script leaves it to the process to check the cells. */
  readonly isRead: boolean
}

/** The record that a take under a new id writes. */
export interface LoneRecord {
  readonly place: RecordPlace
  readonly text: string
}

/** The end of a reservation, as `lua/settle.lua` carries it out. */
export interface LoneSettlement {
  readonly place: RecordPlace
  /** Of the record that is expected. */
  readonly mark: string
  /** The record after it. */
  readonly text: string
  /** How long that is kept, in milliseconds. */
  readonly keepMs: number
  /** It applies if the store's clock is less than this, in epoch milliseconds. */
  readonly until: number
  readonly refunds: readonly Refund[]
  /** Whether indexes of open holds contain it. */
  readonly isOpenHold: boolean
}

// Where bytes and numbers stand: `lua/take.lua` reads them by the same names, from 1.
const [ALL_NUMBERS, HAS_REVISION, HAS_ID, IS_HOLD] = [5, 6, 7, 8]
const [NOW, UNTIL, NUMBERS] = [0, 1, 2]
/** How many numbers an id has. They are last. */
const OF_ID = 2
/** The most that a byte can count, and the most that two can. */
const MOST_BYTES = 255
const MOST_TEXT = 65_535

/** What takes with the same layers and set have in common. */
interface Plan {
  /** Layers, shared ones first, as in a batch. */
  readonly order: readonly number[]
  /** The index in {@link order} of each layer of the request. */
  readonly places: readonly number[]
  readonly books: readonly ListBook[]
  /** The first argument without the numbers of a call; the other is that of a take under an id. */
  readonly input: Uint8Array<ArrayBuffer>
  readonly inputOfId: Uint8Array<ArrayBuffer>
  /** How many bytes come before the numbers. */
  readonly bytes: number
  /** The position of each limit that counts, and where it is among the numbers. */
  readonly limits: readonly (readonly [position: number, at: number])[]
  /** The same for calendar windows and their starts. */
  readonly calendars: readonly (readonly [position: number, at: number])[]
}

/** Writes operations that go out alone. A batch can carry out all of them, and much else; these scripts cost less. */
export class LoneCalls {
  readonly #keys: Keys
  readonly #books: ListBooks
  /** How many amounts a cost has, slots included. */
  readonly #units: number
  readonly #testNow: () => number | undefined
  /** By set, then by layers. `undefined`: takes that these scripts cannot carry out. */
  readonly #plans: Map<string, Plan | undefined>[] = []

  constructor(keys: Keys, books: ListBooks, testNow: () => number | undefined) {
    this.#keys = keys
    this.#books = books
    const hasSlots = keys.layout.cells.some(({ kind }) => kind === 'concurrency')
    this.#units = keys.schema.units.length + (hasSlots ? 1 : 0)
    this.#testNow = testNow
  }

  /**
   * @param until the server's time from which on it isn't carried out
   * @param record what its id's record contains before the facts
   * @returns `undefined` for a take that `lua/take.lua` cannot carry out: of buckets or slots, or free
   */
  take(request: TakeRequest, until: number, record?: LoneRecord): LoneCall | undefined {
    const { subject, settingsRevision, costs, periods, id, hold } = request
    const takesSlot = (costs[this.#keys.schema.units.length] ?? 0) > 0
    const isFree = costs.every((cost) => cost === 0)
    const plan = takesSlot || isFree ? undefined : this.#planOf(request)
    if (plan === undefined) return undefined
    const input = (record === undefined ? plan.input : plan.inputOfId).slice()
    const numbers = new Float64Array(input.buffer, plan.bytes, input[ALL_NUMBERS])
    numbers[NOW] = this.#testNow() ?? -1
    numbers[UNTIL] = until
    for (let unit = 0; unit < this.#units; unit++) numbers[NUMBERS + unit] = costs[unit] ?? 0
    for (const [position, at] of plan.limits) {
      numbers[at] = Math.min(request.quotas.limits[position]!, Number.MAX_SAFE_INTEGER)
    }
    this.#writePeriods(numbers, plan, periods)
    const rows = plan.order.map((layer, at) => ({ key: this.#keys.row(layer, subject), book: plan.books[at]! }))
    const keys = [...rows.map(({ key }) => key), this.#keys.lists]
    const texts: Word[] = []
    if (settingsRevision !== undefined) {
      input[HAS_REVISION] = 1
      keys.push(this.#keys.settings)
      texts.push(settingsRevision)
    }
    if (record !== undefined) {
      input[HAS_ID] = 1
      numbers[numbers.length - 2] = hold?.ttlMs ?? id!.ttlMs
      keys.push(record.place.key)
      texts.push(record.text)
    }
    if (record !== undefined && hold !== undefined) {
      input[IS_HOLD] = 1
      numbers[numbers.length - 1] = hold.maxHolds
      keys.push(this.#keys.holds, record.place.ownerIndex)
      texts.push(this.#keys.nameOf(record.place.key))
    }
    const args = [String(keys.length), ...keys, Buffer.from(input.buffer), ...texts]
    return { script: TAKE_SCRIPT, args, rows, places: plan.places, isRead: false }
  }

  read(request: ReadRequest): LoneCall {
    const layers = usedLayers(this.#keys.layout, request)
    const rows = layers.map((layer) => ({
      key: this.#keys.row(layer, request.subject),
      book: this.#books.of(layer),
    }))
    const expected = rows.map(({ book }) => book.sizeAndHead)
    const args = [
      String(rows.length),
      ...rows.map(({ key }) => key),
      String(this.#testNow() ?? -1),
      Buffer.concat(expected),
    ]
    return { script: READ_SCRIPT, args, rows, places: [...rows.keys()], isRead: true }
  }

  /** @returns `undefined` if `lua/settle.lua` cannot carry it out: it refunds limits that the policy lacks */
  settle({ place, refunds, ...settlement }: LoneSettlement, until: number): LoneCall | undefined {
    const names = [...new Set(refunds.map(({ row }) => row))]
    const bytes = [0, names.length]
    const { until: applies, keepMs, isOpenHold } = settlement
    const numbers = [this.#testNow() ?? -1, until, applies, keepMs]
    const rows: ReplayedRow[] = []
    for (const name of names) {
      const layer = this.#keys.layerOf(name)
      if (layer === undefined) return undefined
      const { size, list, identities } = this.#keys.layout.rows[layer]!
      const ofRow = refunds.filter(({ row }) => row === name)
      bytes.push(size, ofRow.length)
      numbers.push(headOf(list))
      for (const { identity, startedAt, amount, closes } of ofRow) {
        const cell = identities.indexOf(identity) + 1
        if (cell === 0) return undefined
        bytes.push(cell, closes ? 1 : 0)
        numbers.push(startedAt, amount)
      }
      rows.push({ key: this.#keys.named(name), book: this.#books.of(layer) })
    }
    bytes[0] = bytes.length
    if (bytes.some((byte) => byte > MOST_BYTES)) return undefined
    const keys = [...rows.map(({ key }) => key), place.key]
    if (isOpenHold) keys.push(this.#keys.holds, place.ownerIndex)
    const input = Buffer.concat([Buffer.from(bytes), Buffer.from(Float64Array.from(numbers).buffer)])
    const texts = [Buffer.from(settlement.mark, 'latin1'), settlement.text]
    if (isOpenHold) texts.push(this.#keys.nameOf(place.key))
    const args = [String(keys.length), ...keys, input, ...texts]
    return { script: SETTLE_SCRIPT, args, rows, places: [...rows.keys()], isRead: false }
  }

  /** The starts of calendar windows, and the time in which all of them are right. */
  #writePeriods(numbers: Float64Array, { calendars }: Plan, periods: TakeRequest['periods']): void {
    if (calendars.length === 0) return
    let [from, until] = [0, Number.POSITIVE_INFINITY]
    for (const [position, at] of calendars) {
      const periodAt = this.#keys.layout.periodsAt(position)
      const [startsAt = 0, endsAt = 0] = periods?.slice(periodAt, periodAt + PERIOD_NUMBERS) ?? []
      numbers[at] = startsAt
      from = Math.max(from, startsAt)
      until = Math.min(until, endsAt)
    }
    const last = calendars.at(-1)![1]
    numbers[last + 1] = from
    numbers[last + 2] = until
  }

  #planOf(request: TakeRequest): Plan | undefined {
    const { quotas, set } = request
    this.#plans[set] ??= new Map()
    const plans = this.#plans[set]
    const name = quotas.layers.join()
    const known = plans.get(name)
    if (known !== undefined || plans.has(name)) return known
    const plan = this.#newPlan(request)
    plans.set(name, plan)
    return plan
  }

  #newPlan(request: TakeRequest): Plan | undefined {
    const { layout } = this.#keys
    const counted = (layer: number): readonly number[] => layout.counted[request.set]![layer]!
    const layers = usedLayers(layout, request)
    const order = this.#keys.layersOf(request)
    if (order.flatMap(counted).some((at) => layout.cells[at]!.kind === 'bucket')) return undefined
    const books = order.map((layer) => this.#books.of(layer))
    const lists = [...new Set(books)]
    const calendars = order.flatMap(counted).filter((at) => layout.cells[at]!.kind === 'calendar')
    const bytes = [0, order.length, this.#units, lists.length, calendars.length, 0, 0, 0, 0]
    const numbers = new Array<number>(NUMBERS + this.#units).fill(0)
    const limits: (readonly [number, number])[] = []
    for (const [index, layer] of order.entries()) {
      const { size, first, list } = layout.rows[layer]!
      bytes.push(lists.indexOf(books[index]!) + 1, size, counted(layer).length)
      numbers.push(headOf(list))
      for (const at of counted(layer)) {
        const { unit, lengthMs } = layout.cells[at]!
        bytes.push(at - first + 1, unit + 1, calendars.indexOf(at) + 1)
        limits.push([at, numbers.push(0, lengthMs) - 2])
      }
    }
    // Numbers are read in place, so they begin at a multiple of 8.
    while (bytes.length % 8 > 0) bytes.push(0)
    bytes[0] = bytes.length
    const starts = calendars.map((at, index) => [at, numbers.length + index] as const)
    if (calendars.length > 0) numbers.push(...calendars.map(() => 0), 0, 0)
    const isTooLong = lists.some(({ listText }) => listText.length > MOST_TEXT)
    if (isTooLong || [...bytes, numbers.length + OF_ID].some((byte) => byte > MOST_BYTES)) return undefined
    const texts = lists.flatMap(({ listText }) => [listText.length & 255, listText.length >> 8, ...listText])
    const inputOf = (ofId: readonly number[]): Uint8Array<ArrayBuffer> => {
      const all = [...numbers, ...ofId]
      return Uint8Array.from([
        ...bytes.with(ALL_NUMBERS, all.length),
        ...new Uint8Array(Float64Array.from(all).buffer),
        ...texts,
      ])
    }
    return {
      ...{ order, books, bytes: bytes.length, limits, calendars: starts },
      places: layers.map((layer) => order.indexOf(layer)),
      ...{ input: inputOf([]), inputOfId: inputOf(new Array<number>(OF_ID).fill(0)) },
    }
  }
}
