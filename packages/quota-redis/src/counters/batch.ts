import { type Instant, PERIOD_NUMBERS, usedLayers } from '@scoregw/quota/internal'
import type { SubjectKeys, TakeRequest } from '@scoregw/quota/store'
import type { Reply } from '../connection/connection.ts'
import type { Keys } from '../keys/keys.ts'
import type { TakeBasis } from './charges.ts'
import type { ListBook, ListBooks } from './lists.ts'
import type { LoneCall, LoneCalls } from './lone-calls.ts'
import { BEGIN, BEHIND_GROUP, codeOf, IS_STALE, OWN, REVISION, RUN, SHARED, type StepName } from './numbers.ts'
import { type BatchReply, Replay } from './replay.ts'

const MAX_KEY_CHARACTERS = 32 * 1024
/** The most numbers in one call. Lua can unpack about 8,000. */
const MAX_NUMBERS = 4_000
/** The first argument that is a text. */
const FIRST_TEXT = 2

/** One operation of a batch. It receives the replies and its place among them, or fails. */
export interface Operation {
  /** Whether it may be sent again when its outcome is unknown. */
  readonly repeatable: boolean
  encode(batch: Batch): void
  answer(replay: Replay, place: number): void
  /** The call of a script for this operation without others; `undefined`: it needs a batch. */
  alone(calls: LoneCalls, until: number): LoneCall | undefined
  /** Receives the reply to that call. @param rows the indexes of its rows in the replay */
  answerAlone(replay: Replay, rows: readonly number[]): void
  fail(error: unknown): void
}

/** Takes of the batch that share quotas, settings and periods. */
interface TakeGroup extends Omit<TakeBasis, 'subject'> {
  /** Index among the group numbers. Their offset in the call is added once it is known. */
  readonly at: number
  /** The layers of its rows. */
  readonly layers: readonly number[]
  /** Indexes of {@link layers}, shared rows first. */
  readonly order: readonly number[]
  /** Indexes of the shared rows. */
  readonly shared: readonly number[]
}

/** The operations of one script call, as `lua/batch.lua` reads them. */
export class Batch {
  readonly keys: Keys
  readonly books: ListBooks
  readonly operations: Operation[] = []
  readonly #instant: Instant
  readonly #testNow: number | undefined
  readonly #units: number
  readonly #rows = new Map<string, number>()
  /** Of each row. */
  readonly #rowBooks: ListBook[] = []
  /** The lists of limits of those rows, with their indexes from 1. */
  readonly #lists = new Map<ListBook, number>()
  readonly #records = new Map<string, number>()
  readonly #indexes = new Map<string, number>()
  readonly #texts: (string | Buffer)[] = []
  readonly #tariffs = new Map<string, number>()
  readonly #tariffNumbers: number[] = []
  readonly #groups: TakeGroup[] = []
  readonly #groupNumbers: number[] = []
  /** The numbers of all operations. */
  readonly #numbers: number[] = []
  /** Which of those numbers are groups. */
  readonly #groupsAt: number[] = []
  /** The run at the end of the numbers: its group, and the index where it begins. */
  #run: { readonly group: TakeGroup; readonly at: number } | undefined
  #keyCharacters = 0

  constructor(keys: Keys, books: ListBooks, instant: Instant, testNow: number | undefined) {
    this.keys = keys
    this.books = books
    this.#instant = instant
    this.#testNow = testNow
    const hasSlots = keys.layout.cells.some(({ kind }) => kind === 'concurrency')
    this.#units = keys.schema.units.length + (hasSlots ? 1 : 0)
  }

  get isFull(): boolean {
    const numbers = this.#numbers.length + this.#tariffNumbers.length + this.#groupNumbers.length
    return this.#keyCharacters >= MAX_KEY_CHARACTERS || numbers >= MAX_NUMBERS
  }

  add(operation: Operation): void {
    operation.encode(this)
    this.operations.push(operation)
  }

  // Operations --------------------------------------------------------------------------------------------------------

  /** Adds an operation that is only a take. @returns the indexes of its rows in the replay, one per used layer */
  onlyTake(request: TakeRequest): readonly number[] {
    const group = this.#groupOf(request)
    const numbers = this.#numbers
    if (this.#run?.group !== group) {
      this.#run = { group, at: numbers.push(RUN) - 1 }
      this.#pushGroup(group)
      numbers.push(0)
      for (let u = 0; u < this.#units; u++) numbers.push(0)
    }
    const count = this.#run.at + 2
    numbers[count]!++
    for (let u = 0; u < this.#units; u++) numbers[count + 1 + u]! += request.costs[u] ?? 0
    return this.#pushTake(request, group, request.costs)
  }

  /** Adds an operation that consists of steps. */
  steps(write: () => void): void {
    this.#run = undefined
    const at = this.#numbers.push(0)
    write()
    this.#numbers[at - 1] = this.#numbers.length - at
  }

  /** Adds a step that takes. @returns the indexes of its rows in the replay, one per used layer */
  take(request: TakeBasis, costs: readonly number[], mode: 'take' | 'charge' | 'fit' = 'take'): readonly number[] {
    const group = this.#groupOf(request)
    // A take that costs nothing leaves rows unchanged.
    const isFree = costs.every((cost) => cost === 0)
    this.#numbers.push(codeOf(isFree ? 'charge' : mode))
    this.#pushGroup(group)
    return this.#pushTake(request, group, costs)
  }

  step(name: Exclude<StepName, 'take' | 'charge' | 'fit'>, ...numbers: readonly number[]): void {
    this.#numbers.push(codeOf(name), ...numbers)
  }

  // Names, by places from 1 -------------------------------------------------------------------------------------------

  row(layer: number, subject: SubjectKeys): number {
    return this.#rowAt(this.keys.row(layer, subject), layer)
  }

  rowNamed(name: string): number {
    return this.#rowAt(this.keys.named(name), this.keys.layerOf(name))
  }

  /** The list of a row's limits, by its place. */
  bookOf(row: number): ListBook {
    return this.#rowBooks[row - 1]!
  }

  /** The index of the list of a row's limits. */
  listOf(row: number): number {
    return this.#lists.get(this.bookOf(row))!
  }

  record(key: string): number {
    return this.#placeOf(this.#records, key)
  }

  index(key: string): number {
    return this.#placeOf(this.#indexes, key)
  }

  text(text: string | Buffer): number {
    return this.#texts.push(text) - 1 + FIRST_TEXT
  }

  // The call ----------------------------------------------------------------------------------------------------------

  /**
   * Number of keys, keys and arguments.
   *
   * @param until the server's time from which on it isn't carried out
   */
  args(until: number = Number.POSITIVE_INFINITY): (string | Buffer)[] {
    const { settings, lists } = this.keys
    const ofLists = [...this.#lists.keys()].flatMap((book) => this.#listNumbers(book))
    const tariffsFrom = BEGIN + ofLists.length + 1
    const groupsFrom = tariffsFrom + this.#tariffNumbers.length
    const group = this.#groupNumbers.slice()
    for (const { at, order } of this.#groups) {
      for (let r = 1; r <= order.length; r++) group[at + BEHIND_GROUP + r]! += tariffsFrom
    }
    const operations = this.#numbers.slice()
    for (const at of this.#groupsAt) operations[at]! += groupsFrom
    const numbers = Float64Array.from([
      ...[this.#testNow ?? -1, until, this.#units, this.#rows.size, this.#records.size, this.#indexes.size],
      ...[this.#lists.size, this.#tariffs.size, this.#groups.length, this.operations.length],
      ...ofLists,
      ...this.#tariffNumbers,
      ...group,
      ...operations,
    ])
    const keys = [settings, lists, ...this.#rows.keys(), ...this.#records.keys(), ...this.#indexes.keys()]
    return [String(keys.length), ...keys, Buffer.from(numbers.buffer), ...this.#texts]
  }

  /** The rows as the script found them, with its other replies. */
  replayOf(reply: Reply): Replay {
    const rows = [...this.#rows.keys()].map((key, at) => ({ key, book: this.#rowBooks[at]! }))
    return new Replay(reply as unknown as BatchReply, rows, this.books, this.keys.layout, this.#instant)
  }

  /** @returns the server's time */
  answer(reply: Reply): number {
    const replay = this.replayOf(reply)
    const { operations } = this
    for (let i = 0; i < operations.length; i++) operations[i]!.answer(replay, i)
    return replay.now
  }

  fail(error: unknown): void {
    for (const operation of this.operations) operation.fail(error)
  }

  #pushGroup({ at }: TakeGroup): void {
    this.#groupsAt.push(this.#numbers.push(at) - 1)
  }

  #pushTake({ subject }: TakeBasis, { layers, order, shared }: TakeGroup, costs: readonly number[]): number[] {
    const numbers = this.#numbers
    for (let u = 0; u < this.#units; u++) numbers.push(costs[u] ?? 0)
    const rows: number[] = new Array(order.length).fill(0)
    for (let r = 0; r < order.length; r++) {
      const slot = order[r]!
      const place = r < shared.length ? shared[r]! : this.row(layers[slot]!, subject)
      if (r >= shared.length) numbers.push(place)
      rows[slot] = place - 1
    }
    return rows
  }

  #groupOf(request: TakeBasis): TakeGroup {
    const { quotas, set, settingsRevision, periods, subject } = request
    const known = this.#groups.findLast(
      (group) =>
        group.quotas === quotas &&
        group.set === set &&
        group.settingsRevision === settingsRevision &&
        group.periods === periods,
    )
    if (known !== undefined) return known
    const layers = usedLayers(this.keys.layout, request)
    const order = this.keys.layersOf(request).map((layer) => layers.indexOf(layer))
    const shared = order.flatMap((slot) => {
      return this.keys.schema.layers[layers[slot]!]!.shared ? [this.row(layers[slot]!, subject)] : []
    })
    const at = this.#groupNumbers.length
    const numbers: number[] = []
    numbers[IS_STALE] = 0
    numbers[REVISION] = settingsRevision === undefined ? 0 : this.text(settingsRevision)
    numbers[SHARED] = shared.length
    numbers[OWN] = order.length - shared.length
    this.#groupNumbers.push(...numbers, ...order.map((slot) => this.#tariffOf(request, layers[slot]!)), ...shared)
    const group = { quotas, set, settingsRevision, periods, at, layers, order, shared }
    this.#groups.push(group)
    return group
  }

  /** Limits and periods that rows have in common are sent once. */
  #tariffOf({ set, quotas, periods }: TakeBasis, layer: number): number {
    const { layout } = this.keys
    const { cells, size, first } = layout.rows[layer]!
    const counted = layout.counted[set]![layer]!
    const numbers = [
      this.#listAt(this.books.of(layer)),
      ...cells.map(({ unit }, c) => (counted.includes(first + c) ? unit + 1 : 0)),
      ...quotas.limits.slice(first, first + size),
    ]
    for (let c = 0; c < size; c++) {
      const isCalendar = cells[c]!.kind === 'calendar'
      const from = layout.periodsAt(first + c)
      for (let i = 0; i < PERIOD_NUMBERS; i++) {
        numbers[1 + (i + 2) * size + c] = isCalendar ? (periods?.[from + i] ?? 0) : 0
      }
      if (cells[c]!.kind === 'bucket') numbers[1 + 3 * size + c] = quotas.rates?.[first + c] ?? 0
    }
    const name = numbers.join()
    const known = this.#tariffs.get(name)
    if (known !== undefined) return known
    this.#tariffs.set(name, this.#tariffNumbers.length)
    this.#tariffNumbers.push(...numbers)
    return this.#tariffNumbers.length - numbers.length
  }

  #listNumbers(book: ListBook): number[] {
    const { layout, lists } = book
    const cells = book.cellNumbers()
    const others = [...lists.values()].flatMap(({ head, cells: all, all: union }) => {
      return [head, union.head, this.text(union.text), all.length, ...all, union.cells.length, ...union.cells]
    })
    return [this.text(book.listText), layout.size, cells.length / 2, ...cells, lists.size, ...others]
  }

  #listAt(book: ListBook): number {
    const at = this.#lists.get(book) ?? this.#lists.size + 1
    this.#lists.set(book, at)
    return at
  }

  #rowAt(key: string, layer: number | undefined): number {
    const place = this.#placeOf(this.#rows, key)
    if (place > this.#rowBooks.length) {
      const book = this.books.of(layer)
      this.#rowBooks.push(book)
      this.#listAt(book)
    }
    return place
  }

  #placeOf(places: Map<string, number>, key: string): number {
    const known = places.get(key)
    if (known !== undefined) return known
    places.set(key, places.size + 1)
    this.#keyCharacters += key.length
    return places.size
  }
}
