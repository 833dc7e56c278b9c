import type { Instant, Layout, ReservationId, Subject, TakeRequest } from '@scoregw/quota/store'
import type { Keys } from '../../store/keys.ts'
import { CODES } from '../lua/batch-script.ts'
import { ROW_VERSION } from '../lua/script.ts'
import { type LeaseBatchReply, LeaseReplay } from './replay.ts'
import { HEAD_NUMBERS, type LeaseTermsRequest, type Terms, TermsTable } from './terms.ts'

/** Keys of one script call, in characters at the most: far below the 8,000 keys that Lua can take in at once. */
const MAX_KEY_CHARACTERS = 32 * 1024
/** Numbers of one script call, at the most: Lua can take in 8,000. */
const MAX_NUMBERS = 4_000
/** Which of the arguments texts begin with: numbers, the list and the names of units stand before. */
const FIRST_TEXT = 4

/** One operation of a batch. It is answered with its letter (see `lua/operations.lua`), or fails. */
export interface LeaseOperation {
  /** Whether it may be sent again when its outcome is unknown. */
  readonly repeatable: boolean
  /** Writes it into a batch. */
  encode(batch: LeaseBatch): void
  answer(replay: LeaseReplay, letter: string): void
  fail(error: unknown): void
}

/** The operations of one script call, as `lua/begin.lua` reads them. */
export class LeaseBatch {
  readonly keys: Keys
  readonly operations: LeaseOperation[] = []
  readonly #testNow: number | undefined
  readonly #instant: Instant
  readonly #terms: TermsTable
  /** Places from 1 by key. */
  readonly #rows = new Map<string, number>()
  readonly #records = new Map<string, number>()
  readonly #others = new Map<string, number>()
  readonly #numbers: number[] = []
  readonly #texts: (string | Buffer)[] = []
  #keyCharacters = 0
  /** The run of takes that the last one belongs to: where its length stands among the numbers. */
  #run = { terms: 0, isUnderId: false, countAt: 0, end: -1 }

  /**
   * @param instant to replay with, of the same layout
   * @param testNow the instant that stands in for the server's clock, in tests
   */
  constructor(keys: Keys, instant: Instant, testNow: number | undefined) {
    this.keys = keys
    this.#instant = instant
    this.#testNow = testNow
    this.#terms = new TermsTable(keys)
  }

  get layout(): Layout {
    return this.keys.layout
  }

  /** Whether the script call can hold no more. */
  get isFull(): boolean {
    const numbers = this.#numbers.length + this.#terms.kindNumbers.length + this.#terms.termNumbers.length
    return this.#keyCharacters >= MAX_KEY_CHARACTERS || numbers >= MAX_NUMBERS
  }

  add(operation: LeaseOperation): void {
    operation.encode(this)
    this.operations.push(operation)
  }

  // What operations write ---------------------------------------------------------------------------------------------

  code(code: keyof typeof CODES): void {
    this.#numbers.push(-CODES[code])
  }

  number(number: number): void {
    this.#numbers.push(number)
  }

  numbers(numbers: readonly number[]): void {
    for (const number of numbers) this.#numbers.push(number)
  }

  /** Amounts of every unit; with slots behind them where `size` says so. */
  amounts(amounts: readonly number[], size: number = this.keys.schema.units.length): void {
    for (let unit = 0; unit < size; unit++) this.#numbers.push(amounts[unit] ?? 0)
  }

  text(...texts: readonly (string | Buffer)[]): void {
    for (const text of texts) this.#texts.push(text)
  }

  row(layer: number, category: number, subject: Subject): number {
    return this.#placeOf(this.#rows, this.keys.row(layer, category, subject))
  }

  named(name: string): number {
    return this.#placeOf(this.#rows, this.keys.named(name))
  }

  /** @param key of the record of an id */
  record(key: string): number {
    return this.#placeOf(this.#records, key)
  }

  other(key: string): number {
    return this.#placeOf(this.#others, key)
  }

  /** Names rows; where they are in the replay. */
  rows(places: readonly number[]): number[] {
    this.number(places.length)
    this.numbers(places)
    return places.map((place) => place - 1)
  }

  terms(request: LeaseTermsRequest): Terms {
    const { category, subject } = request
    return this.#terms.of(request, FIRST_TEXT, (layer) => this.row(layer, category, subject))
  }

  /**
   * Writes a take of more than nothing; where its rows are in the replay, one a layer. Takes of the same terms that follow each
   * other are one run.
   */
  take(request: TakeRequest, terms: Terms): number[] {
    const { subject, category, costs, id } = request
    const numbers = this.#numbers
    const isUnderId = id !== undefined
    const run = this.#run
    if (run.end === numbers.length && run.terms === terms.number && run.isUnderId === isUnderId) {
      numbers[run.countAt]!++
    } else {
      if (isUnderId) this.code('UNDER_ID')
      const countAt = numbers.push(terms.number, 1) - 1
      this.#run = { terms: terms.number, isUnderId, countAt, end: 0 }
    }
    if (isUnderId) numbers.push(this.record(this.keys.oldRecord(category, subject, id.id)), id.ttlMs)
    this.amounts(costs)
    const rows = this.ownRows(terms, category, subject)
    this.#run.end = numbers.length
    if (isUnderId) this.text(this.recordText(id, terms))
    return rows
  }

  /** Names the own rows of a take; where all its rows are in the replay, one a layer. */
  ownRows({ own, order, shared, quotas }: Terms, category: number, subject: Subject): number[] {
    const rows: number[] = new Array(order.length).fill(0)
    for (let s = 0; s < shared.length; s++) rows[order[s]!] = shared[s]! - 1
    for (const slot of own) {
      const place = this.row(quotas.layers[slot]!, category, subject)
      this.#numbers.push(place)
      rows[slot] = place - 1
    }
    return rows
  }

  /** How the record of an id begins that a take makes, behind its state and end. */
  recordText({ nonce, fingerprint }: ReservationId, { order, quotas, category }: Terms): Buffer {
    const { layout } = this
    const tables = order.map((slot) => this.keys.table(quotas.layers[slot]!, category)).join('')
    const texts = [nonce, fingerprint, tables].map((text) => Buffer.from(text))
    const bytes = Buffer.alloc(4 + texts.reduce((sum, { length }) => sum + 2 + length, 0) + 4)
    let at = bytes.writeUInt32LE(layout.hash)
    for (const text of texts) {
      at = bytes.writeUInt16LE(text.length, at)
      at += text.copy(bytes, at)
    }
    bytes.writeUInt32LE(13 * layout.size * order.length, at)
    return bytes
  }

  // The call ----------------------------------------------------------------------------------------------------------

  /** Number of keys, keys and arguments, as EVALSHA takes them behind the script. */
  args(): (string | Buffer)[] {
    const { settings, lists, schema } = this.keys
    const { hash, lengthsMs, list } = this.layout
    const { kindNumbers, termNumbers, revisions } = this.#terms
    const terms = HEAD_NUMBERS + lengthsMs.length + kindNumbers.length
    const places = [terms, terms + termNumbers.length, FIRST_TEXT + revisions.length]
    const head = [this.#testNow ?? -1, ROW_VERSION + 256 * hash, this.#rows.size, this.#records.size, ...places]
    const numbers = Float64Array.from([...head, ...lengthsMs, ...kindNumbers, ...termNumbers, ...this.#numbers])
    const keys = [settings, lists, ...this.#rows.keys(), ...this.#records.keys(), ...this.#others.keys()]
    return [
      String(keys.length),
      ...keys,
      Buffer.from(numbers.buffer),
      list,
      schema.units.join(' '),
      ...revisions,
      ...this.#texts,
    ]
  }

  answer(reply: LeaseBatchReply): void {
    const replay = new LeaseReplay(reply, () => [...this.#rows.keys()], this.#rows.size, this.layout, this.#instant)
    const { operations } = this
    for (let i = 0; i < operations.length; i++) operations[i]!.answer(replay, replay.letters[i] ?? 'a')
  }

  fail(error: unknown): void {
    for (const operation of this.operations) operation.fail(error)
  }

  #placeOf(places: Map<string, number>, key: string): number {
    const known = places.get(key)
    if (known !== undefined) return known
    const place = places.size + 1
    places.set(key, place)
    this.#keyCharacters += key.length
    return place
  }
}
