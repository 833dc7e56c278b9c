import { PERIOD_NUMBERS } from '@scoregw/quota/internal'
import type { SubjectKeys, TakeRequest } from '@scoregw/quota/store'
import type { Keys } from '../keys/keys.ts'
import { BEGIN, BEHIND_GROUP, codeOf, IS_STALE, OWN, REVISION, RUN, SHARED, type StepName } from './numbers.ts'
import { type BatchReply, type CallBasis, Replay } from './replay.ts'
import type { ListBook, ListBooks, Row } from './rows.ts'

const MAX_KEY_CHARACTERS = 32 * 1024
/** The most numbers in one call. Lua can unpack about 8,000. */
const MAX_NUMBERS = 4_000
/** The first argument that is a text. */
const FIRST_TEXT = 2

/** The members of a request that decide a take, apart from its costs. */
export type TakeBasis = Pick<TakeRequest, 'quotas' | 'set' | 'settingsRevision' | 'periods' | 'subject'>

/** Takes of the batch that share quotas, settings and periods. */
interface TakeGroup extends Omit<TakeBasis, 'subject'> {
  /** Index among the group numbers. Their offset in the call is added once it is known. */
  readonly at: number
  /** Where the tariffs of its rows are among all, without their offset in the call. */
  readonly tariffs: readonly number[]
  readonly shared: readonly Row[]
  /** The layers of its other rows. */
  readonly own: readonly number[]
}

/** Takes of one group that follow each other. */
interface Run {
  readonly group: TakeGroup
  /** Where it has the count of takes among the numbers. The costs follow. */
  readonly at: number
  count: number
  /** The sum of all takes, by unit. */
  readonly costs: number[]
}

/** The operations of one script call, as `lua/batch.lua` reads them. */
export class Batch {
  readonly keys: Keys
  readonly books: ListBooks
  readonly #basis: CallBasis
  readonly #units: number
  readonly #rows = new Map<string, Row>()
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
  readonly #groupsAt: { readonly at: number; readonly group: TakeGroup }[] = []
  /** The run at the end of the numbers. */
  #run: Run | undefined
  /** How many numbers the cells of all rows have. */
  #cellNumbers = 0
  #keyCharacters = 0
  #operations = 0

  constructor(basis: CallBasis) {
    const { keys, books } = basis
    this.keys = keys
    this.books = books
    this.#basis = basis
    const hasSlots = keys.layout.cells.some(({ kind }) => kind === 'concurrency')
    this.#units = keys.schema.units.length + (hasSlots ? 1 : 0)
  }

  get isFull(): boolean {
    const numbers = this.#numbers.length + this.#tariffNumbers.length + this.#groupNumbers.length
    return this.#keyCharacters >= MAX_KEY_CHARACTERS || numbers >= MAX_NUMBERS
  }

  // Operations --------------------------------------------------------------------------------------------------------

  /** Adds an operation that is only a take. @returns its rows, one per used layer */
  onlyTake(request: TakeRequest): readonly Row[] {
    this.#operations++
    const group = this.#groupOf(request)
    const numbers = this.#numbers
    const run = this.#run?.group === group ? this.#run : this.#newRun(group)
    numbers[run.at] = ++run.count
    for (let u = 0; u < this.#units; u++) {
      const sum = (run.costs[u] ?? 0) + (request.costs[u] ?? 0)
      run.costs[u] = sum
      numbers[run.at + 1 + u] = sum
    }
    return this.#pushTake(request, group, request.costs)
  }

  /** Adds an operation that consists of steps. */
  steps(write: () => void): void {
    this.#operations++
    this.#run = undefined
    const at = this.#numbers.push(0)
    write()
    this.#numbers[at - 1] = this.#numbers.length - at
  }

  /** Adds a step that takes. @returns its rows, one per used layer */
  take(request: TakeBasis, costs: readonly number[], mode: 'take' | 'charge' | 'fit' = 'take'): readonly Row[] {
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

  /** Adds steps that fail if a row cannot be read. */
  readable(rows: readonly Row[]): void {
    for (const row of rows) this.step('readable', row.place, this.listOf(row))
  }

  /** Adds a step that keeps a row. @param until an instant; below 0, in that many milliseconds */
  keep(row: Row, until: number): void {
    this.step('keep', row.place, this.listOf(row), until)
  }

  /** Adds a step that fails if a record has changed. */
  expect(key: string, mark: string): void {
    this.step('expect', this.record(key), this.text(Buffer.from(mark, 'latin1')))
  }

  // Rows, and names by places from 1 ----------------------------------------------------------------------------------

  row(layer: number, subject: SubjectKeys): Row {
    return this.#rowAt(this.keys.row(layer, subject), layer)
  }

  rowNamed(name: string): Row {
    return this.#rowAt(this.keys.named(name), this.keys.layerOf(name))
  }

  /** The index of the list of a row's limits. */
  listOf({ book }: Row): number {
    return this.#listAt(book)
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
    const groups = this.#groupNumbers.slice()
    for (const { at, tariffs } of this.#groups) {
      for (const [r, tariff] of tariffs.entries()) groups[at + BEHIND_GROUP + 1 + r] = tariffsFrom + tariff
    }
    const operations = this.#numbers.slice()
    for (const { at, group } of this.#groupsAt) operations[at] = groupsFrom + group.at
    const numbers = Float64Array.from([
      ...[this.#basis.testNow() ?? -1, until, this.#units, this.#rows.size, this.#records.size, this.#indexes.size],
      ...[this.#lists.size, this.#tariffs.size, this.#groups.length, this.#operations],
      ...ofLists,
      ...this.#tariffNumbers,
      ...groups,
      ...operations,
    ])
    const keys = [settings, lists, ...this.#rows.keys(), ...this.#records.keys(), ...this.#indexes.keys()]
    return [String(keys.length), ...keys, Buffer.from(numbers.buffer), ...this.#texts]
  }

  /** The rows as the script found them, with its other replies. */
  replayOf(reply: BatchReply): Replay {
    return new Replay(reply, [...this.#rows.values()], this.#basis)
  }

  #newRun(group: TakeGroup): Run {
    const numbers = this.#numbers
    numbers.push(RUN)
    this.#pushGroup(group)
    const run = { group, at: numbers.push(0) - 1, count: 0, costs: [] }
    for (let u = 0; u < this.#units; u++) numbers.push(0)
    this.#run = run
    return run
  }

  #pushGroup(group: TakeGroup): void {
    this.#groupsAt.push({ at: this.#numbers.push(0) - 1, group })
  }

  #pushTake({ subject }: TakeBasis, { own, shared }: TakeGroup, costs: readonly number[]): Row[] {
    const numbers = this.#numbers
    for (let u = 0; u < this.#units; u++) numbers.push(costs[u] ?? 0)
    const rows = shared.slice()
    for (const layer of own) {
      const row = this.row(layer, subject)
      numbers.push(row.place)
      rows.push(row)
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
    const layers = this.keys.layersOf(request)
    const own = layers.filter((layer) => !this.keys.isShared(layer))
    const shared = layers.slice(0, layers.length - own.length).map((layer) => this.row(layer, subject))
    const tariffs = layers.map((layer) => this.#tariffOf(request, layer))
    const at = this.#groupNumbers.length
    const numbers: number[] = []
    numbers[IS_STALE] = 0
    numbers[REVISION] = settingsRevision === undefined ? 0 : this.text(settingsRevision)
    numbers[SHARED] = shared.length
    numbers[OWN] = own.length
    this.#groupNumbers.push(...numbers, ...tariffs, ...shared.map(({ place }) => place))
    const group = { quotas, set, settingsRevision, periods, at, tariffs, shared, own }
    this.#groups.push(group)
    return group
  }

  /** Limits and periods that rows have in common are sent once. */
  #tariffOf({ set, quotas, periods }: TakeBasis, layer: number): number {
    const { layout } = this.keys
    const { cells, size, first } = layout.rowAt(layer)
    const counted = layout.countedIn(set, layer)
    const numbers = [
      this.#listAt(this.books.of(layer).book),
      ...cells.map(({ unit }, c) => (counted.includes(first + c) ? unit + 1 : 0)),
      ...quotas.limits.slice(first, first + size),
    ]
    for (const [c, { kind }] of cells.entries()) {
      const isCalendar = kind === 'calendar'
      const from = layout.periodsAt(first + c)
      for (let i = 0; i < PERIOD_NUMBERS; i++) {
        numbers[1 + (i + 2) * size + c] = isCalendar ? (periods?.[from + i] ?? 0) : 0
      }
      if (kind === 'bucket') numbers[1 + 3 * size + c] = quotas.rates?.[first + c] ?? 0
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

  #rowAt(key: string, layer: number): Row {
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    const { book, first } = this.books.of(layer)
    const row = { key, place: this.#rows.size + 1, start: this.#cellNumbers, book, layer, first }
    this.#cellNumbers += 2 * book.layout.size
    this.#rows.set(key, row)
    this.#keyCharacters += key.length
    this.#listAt(book)
    return row
  }

  #placeOf(places: Map<string, number>, key: string): number {
    const known = places.get(key)
    if (known !== undefined) return known
    places.set(key, places.size + 1)
    this.#keyCharacters += key.length
    return places.size
  }
}
