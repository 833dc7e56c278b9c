import { nth, usedLayers } from '@scoregw/quota/internal'
import type { ReadRequest, SubjectKeys, TakeRequest } from '@scoregw/quota/store'
import type { Word } from '../connection/connection.ts'
import type { Keys, RecordPlace } from '../keys/keys.ts'
import type { Script } from '../lua/script.ts'
import type { Refund } from './charges.ts'
import { MARK_BYTES } from './record.ts'
import type { CallBasis } from './replay.ts'
import { AMOUNT_BYTES, COUNT_BYTES, headOf, type ListBooks, type Row, writeAmount } from './rows.ts'
import { READ_SCRIPT, SETTLE_SCRIPT, TAKE_SCRIPT } from './script.ts'

/** A call of a script that carries out one operation. */
export interface LoneCall {
  readonly script: Script
  /** Number of keys, keys and arguments. */
  readonly args: readonly Word[]
  /** One per layer of the request, in the order of the reply. */
  readonly rows: readonly Row[]
  /** Whether it only reads. Its script leaves it to the process to check the cells. */
  readonly isRead: boolean
}

/** The record that a take under a new id writes. */
export interface LoneRecord {
  readonly place: RecordPlace
  readonly text: string
  /** How long it is kept unless it belongs to a hold, in milliseconds. */
  readonly ttlMs: number
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

// Where parts of a take are: see `lua/take.lua`.
const [HAS, NOW, UNTIL] = [2, 3, 11]
const [REVISION, ID, HOLD] = [1, 2, 4]
/** How many bytes an id adds: two numbers and the mark. */
const OF_ID = 16 + MARK_BYTES
/** Added to where a calendar window is. */
const CALENDAR = 128
/** The most cells of a row. */
const MOST_CELLS = CALENDAR - 2
/** The most that a byte can count, and the most that two can. */
const MOST_BYTES = 255
const MOST_TEXT = 65_535

/** A cell that counts: its position, its unit, and where its numbers are. */
type CellPlace = readonly [position: number, unit: number, at: number]

/** What takes with the same layers and set have in common. */
interface Plan {
  /** Layers, shared ones first, as in a batch. */
  readonly order: readonly number[]
  /** The first argument, without the numbers of a call. */
  readonly input: Buffer
  /** Where the cost of each limit that counts is in it, followed by the limit. */
  readonly limits: readonly CellPlace[]
  /** Where the start of each calendar window that counts is in it, followed by the end. */
  readonly calendars: readonly CellPlace[]
  /** The charges that a record's facts begin with, without the costs, which are at {@link charged}: see `lua/steps.lua`. */
  readonly charges: Buffer
  readonly charged: readonly CellPlace[]
}

/** Writes operations that go out alone. A batch can carry out all of them, and much else; these scripts cost less. */
export class LoneCalls {
  readonly #keys: Keys
  readonly #books: ListBooks
  readonly #testNow: () => number | undefined
  /** By set, then by layers. `undefined`: takes that these scripts cannot carry out. */
  readonly #plans: Map<string, Plan | undefined>[] = []

  constructor({ keys, books, testNow }: CallBasis) {
    this.#keys = keys
    this.#books = books
    this.#testNow = testNow
  }

  /**
   * @param until the server's time from which on it isn't carried out
   * @param record what its id's record contains before the facts
   * @returns `undefined` for a take that `lua/take.lua` cannot carry out: of buckets or slots, or free
   */
  take(request: TakeRequest, until: number, record?: LoneRecord): LoneCall | undefined {
    const { subject, settingsRevision, costs, hold } = request
    const takesSlot = (costs[this.#keys.schema.units.length] ?? 0) > 0
    const isFree = costs.every((cost) => cost === 0)
    const plan = takesSlot || isFree ? undefined : this.#planOf(request)
    if (plan === undefined) return undefined
    const rows = this.#rows(plan.order, subject)
    const keys = [...rows.map(({ key }) => key), this.#keys.lists]
    const input = this.#inputOf(plan, request, record)
    input.writeDoubleLE(until, UNTIL)
    const words: Word[] = [input]
    if (settingsRevision !== undefined) {
      keys.push(this.#keys.settings)
      words.push(settingsRevision)
    }
    if (record !== undefined) {
      keys.push(record.place.key)
      words.push(Buffer.concat([Buffer.from(record.text.slice(MARK_BYTES)), chargesOf(plan, costs)]))
      if (hold !== undefined) {
        keys.push(this.#keys.holds, record.place.ownerIndex)
        words.push(this.#keys.nameOf(record.place.key))
      }
    }
    const args = [String(keys.length), ...keys, ...words]
    return { script: TAKE_SCRIPT, args, rows, isRead: false }
  }

  read(request: ReadRequest): LoneCall {
    const rows = this.#rows(usedLayers(this.#keys.layout, request), request.subject)
    const expected = rows.map(({ book }) => book.sizeAndHead)
    const args = [
      String(rows.length),
      ...rows.map(({ key }) => key),
      String(this.#testNow() ?? -1),
      Buffer.concat(expected),
    ]
    return { script: READ_SCRIPT, args, rows, isRead: true }
  }

  /** @returns `undefined` if `lua/settle.lua` cannot carry it out: it refunds limits that the policy lacks */
  settle({ place, refunds, ...settlement }: LoneSettlement, until: number): LoneCall | undefined {
    const names = [...new Set(refunds.map(({ row }) => row))]
    const bytes = [0, names.length]
    const { until: applies, keepMs, isOpenHold } = settlement
    const numbers = [this.#testNow() ?? -1, until, applies, keepMs]
    const rows: Row[] = []
    for (const name of names) {
      const layer = this.#keys.layerOf(name)
      if (layer === -1) return undefined
      const { size, list, identities } = this.#keys.layout.rowAt(layer)
      const ofRow = refunds.filter(({ row }) => row === name)
      bytes.push(size, ofRow.length)
      numbers.push(headOf(list))
      for (const { identity, startedAt, amount, closes } of ofRow) {
        const cell = identities.indexOf(identity) + 1
        if (cell === 0) return undefined
        bytes.push(cell, closes ? 1 : 0)
        numbers.push(startedAt, amount)
      }
      rows.push(this.#row(this.#keys.named(name), layer, rows.at(-1)))
    }
    bytes[0] = bytes.length
    if (bytes.some((byte) => byte > MOST_BYTES)) return undefined
    const keys = [...rows.map(({ key }) => key), place.key]
    if (isOpenHold) keys.push(this.#keys.holds, place.ownerIndex)
    const input = Buffer.concat([Buffer.from(bytes), Buffer.from(Float64Array.from(numbers).buffer)])
    const texts = [Buffer.from(settlement.mark, 'latin1'), settlement.text]
    if (isOpenHold) texts.push(this.#keys.nameOf(place.key))
    const args = [String(keys.length), ...keys, input, ...texts]
    return { script: SETTLE_SCRIPT, args, rows, isRead: false }
  }

  #rows(layers: readonly number[], subject: SubjectKeys): readonly Row[] {
    const rows: Row[] = []
    for (const layer of layers) rows.push(this.#row(this.#keys.row(layer, subject), layer, rows.at(-1)))
    return rows
  }

  #row(key: string, layer: number, before: Row | undefined): Row {
    const { book, first } = this.#books.of(layer)
    const place = before === undefined ? 1 : before.place + 1
    const start = before === undefined ? 0 : before.start + 2 * before.book.layout.size
    return { key, place, start, book, layer, first }
  }

  #inputOf(plan: Plan, request: TakeRequest, record: LoneRecord | undefined): Buffer {
    const { settingsRevision, costs, quotas, periods, hold } = request
    const ofPlan = plan.input.length
    const input = Buffer.concat([plan.input], ofPlan + (record === undefined ? 0 : OF_ID))
    input.writeDoubleLE(this.#testNow() ?? -1, NOW)
    for (const [position, unit, at] of plan.limits) {
      input.writeDoubleLE(costs[unit] ?? 0, at)
      input.writeDoubleLE(Math.min(nth(quotas.limits, position), Number.MAX_SAFE_INTEGER), at + 8)
    }
    for (const [position, , at] of plan.calendars) {
      const period = this.#keys.layout.periodsAt(position)
      input.writeDoubleLE(periods?.[period] ?? 0, at)
      input.writeDoubleLE(periods?.[period + 1] ?? 0, at + 8)
    }
    input[HAS] = settingsRevision === undefined ? 0 : REVISION
    if (record === undefined) return input
    input[HAS] += hold === undefined ? ID : HOLD
    input.writeDoubleLE(hold?.ttlMs ?? record.ttlMs, ofPlan)
    input.writeDoubleLE(hold?.maxHolds ?? 0, ofPlan + 8)
    input.write(record.text.slice(0, MARK_BYTES), ofPlan + 16)
    return input
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
    const counted = (layer: number): readonly number[] => layout.countedIn(request.set, layer)
    const order = this.#keys.layersOf(request)
    if (order.flatMap(counted).some((at) => layout.cellAt(at).kind === 'bucket')) return undefined
    const lists = [...new Set(order.map((layer) => this.#books.of(layer).book))]
    const sizes = order.map((layer) => layout.rowAt(layer).size)
    const tooMany = order.length > MOST_BYTES || sizes.some((size) => size > MOST_CELLS)
    if (tooMany || order.length === 0 || lists.some(({ listText }) => listText.length > MOST_TEXT)) return undefined
    const cells = sizes.reduce((sum, size) => sum + size, 0)
    const charges = Buffer.alloc(COUNT_BYTES + AMOUNT_BYTES * cells, 0xff)
    charges.writeUInt16LE(cells)
    const bytes = [order.length, lists.length, 0, ...double(0), ...double(0)]
    const [limits, calendars, charged]: [CellPlace[], CellPlace[], CellPlace[]] = [[], [], []]
    let chargesAt = COUNT_BYTES
    for (const layer of order) {
      const { size, first, list } = layout.rowAt(layer)
      bytes.push(...double(headOf(list)), size, counted(layer).length, ...Buffer.from(`${rowFormat(size)}\0`))
      for (const at of counted(layer)) {
        const { unit, lengthMs, kind } = layout.cellAt(at)
        const isCalendar = kind === 'calendar'
        // Cells follow the head.
        bytes.push(at - first + 2 + (isCalendar ? CALENDAR : 0))
        charged.push([at, unit, chargesAt + AMOUNT_BYTES * (at - first)])
        limits.push([at, unit, bytes.length])
        bytes.push(...double(0), ...double(0), ...double(lengthMs))
        if (!isCalendar) continue
        calendars.push([at, unit, bytes.length])
        bytes.push(...double(0), ...double(0))
      }
      chargesAt += AMOUNT_BYTES * size
    }
    for (const { listText } of lists) bytes.push(listText.length & 255, listText.length >> 8, ...listText)
    return { order, input: Buffer.from(bytes), limits, calendars, charges, charged }
  }
}

/** The charges of a take, as a record's facts begin. */
function chargesOf({ charges, charged }: Plan, costs: readonly number[]): Buffer {
  const bytes = Buffer.from(charges)
  for (const [, unit, at] of charged) writeAmount(bytes, costs[unit] ?? 0, at)
  return bytes
}

function rowFormat(size: number): string {
  return `<I5${'i7'.repeat(size)}${'I6'.repeat(size)}`
}

function double(value: number): Uint8Array {
  return new Uint8Array(Float64Array.of(value).buffer)
}
