import { type Layout, notDone, type Subject } from '@scoregw/quota/store'
import { damagedRow } from '../line/errors.ts'
import type { Script } from '../lua/script.ts'
import type { Keys } from '../store/keys.ts'
import { CODES, placeCode } from './codes.ts'
import { type DecideReply, decideScript, holdScript, type UsualReply } from './decide.ts'
import type { Call, Operation, Replay } from './operation.ts'
import { PlainTakes, Plans } from './plan.ts'
import { type UnpackedRows, unpackRows, unpackRowsTogether } from './row-bytes.ts'
import { SpanNumbers } from './span-numbers.ts'
import { Tariffs, type TariffTerms } from './tariffs.ts'

/** Keys of one script call, in characters at the most: far below the 8,000 keys that Lua can take in at once. */
const MAX_KEY_CHARACTERS = 32 * 1024
/** Codes are below 128. */
const MAX_TARIFFS = CODES.PLAIN - CODES.FIRST_TARIFF

/**
 * The operations of one script call. The script answers with the rows as they were and a letter for each operation; the
 * states that belong to each answer come from replaying the operations here, in order, by the functions every store
 * shares. That leaves the server to decide and to write, and nothing else.
 */
export class Batch implements Call {
  readonly #keys: Keys
  readonly #plans: Plans
  readonly #testNow: number | undefined
  /** While all operations are plain takes of one tariff. Then nothing below is of use. */
  #plain: PlainTakes | undefined
  /** Places from 1 by key, rows and records of ids. */
  readonly #places = new Map<string, number>()
  readonly #tariffs = new Tariffs()
  readonly #tariffNumbers: (number | string)[] = []
  readonly #spans: SpanNumbers
  /** What operations need besides their codes. */
  readonly #words: string[] = []
  #codes = ''
  #keyCharacters = 0
  #hasHolds = false
  readonly operations: Operation[] = []

  /**
   * @param testNow the instant that stands in for the server's clock, in tests
   * @param plans what batches of the same keys have in common
   */
  constructor(keys: Keys, testNow: number | undefined, plans: Plans = new Plans(keys)) {
    this.#keys = keys
    this.#plans = plans
    this.#testNow = testNow
    this.#spans = new SpanNumbers(keys.layout)
  }

  get layout(): Layout {
    return this.#keys.layout
  }

  get layers(): readonly number[] {
    return [...this.#keys.schema.layers.keys()]
  }

  /** The script that carries it out: the one that knows of holds only where there are some. */
  get script(): Script {
    return this.#hasHolds ? holdScript(this.layout) : decideScript(this.layout)
  }

  /** Whether the script call can hold no more. */
  get isFull(): boolean {
    const characters = this.#plain?.characters ?? this.#keyCharacters
    return characters >= MAX_KEY_CHARACTERS || this.#tariffs.count === MAX_TARIFFS
  }

  add(operation: Operation): void {
    if (!this.#isPlain(operation)) {
      if (this.#plain !== undefined) this.#encodeAll()
      operation.encode(this)
    }
    this.operations.push(operation)
  }

  #isPlain({ plainTake }: Operation): boolean {
    if (plainTake === undefined) return false
    if (this.operations.length === 0) {
      const plan = this.#plans.of(plainTake, this.#testNow)
      if (plan !== undefined) this.#plain = new PlainTakes(plan, this.#keys)
    }
    return this.#plain?.add(plainTake) ?? false
  }

  #encodeAll(): void {
    this.#plain = undefined
    for (const operation of this.operations) operation.encode(this)
  }

  code(code: number): void {
    if (code >= CODES.TAKE_HOLD && code < CODES.FIRST_TARIFF) this.#hasHolds = true
    this.#codes += String.fromCharCode(code)
  }

  /** Names a row or record in the codes. */
  place(place: number): void {
    this.#codes += placeCode(place)
  }

  words(...words: readonly (string | number)[]): void {
    for (const word of words) this.#words.push(String(word))
  }

  row(layer: number, category: number, subject: Subject): number {
    return this.#placeOf(this.#keys.row(layer, category, subject))
  }

  record(category: number, subject: Subject, id: string): number {
    return this.#placeOf(this.#keys.record(category, subject, id))
  }

  holds(): number {
    return this.#placeOf(this.#keys.holds)
  }

  holdsOf(subject: Subject): number {
    return this.#placeOf(this.#keys.holdsOf(subject))
  }

  named(name: string): number {
    return this.#placeOf(this.#keys.named(name))
  }

  /** Names the rows of categories and layers in the codes; where they are in the replay, the layers of each category in turn. */
  rows(layers: readonly number[], categories: readonly number[], subject: Subject): number[] {
    const places = categories.flatMap((category) => layers.map((layer) => this.row(layer, category, subject)))
    this.place(places.length)
    for (const place of places) this.place(place)
    return places.map((place) => this.cellsAt(place))
  }

  /** Where a row begins in the cells that the reply is unpacked into. */
  cellsAt(place: number): number {
    return this.layout.rowAt(place - 1)
  }

  isShared(layer: number): boolean {
    return this.#keys.schema.layers[layer]!.shared
  }

  /** Limits, cost and the rows that everybody shares: said once for all decisions that have them in common. */
  tariff(request: TariffTerms): number {
    return this.#tariffs.numberOf(request, ({ quotas, cost, category, subject, settingsRevision, periods }) => {
      const shared = quotas.layers.map((layer) => (this.isShared(layer) ? this.row(layer, category, subject) : 0))
      const follows = settingsRevision === undefined ? 0 : JSON.stringify(settingsRevision)
      this.#tariffNumbers.push(follows, cost, shared.length, ...shared, ...quotas.limits.map(jsonLimit))
      this.#tariffNumbers.push(...this.#spans.of(periods, shared.length))
    })
  }

  /** Number of keys, keys and arguments, as EVALSHA takes them behind the script. */
  args(): (string | Buffer)[] {
    const { settings, lists } = this.#keys
    const rows = this.#rowKeys()
    return [String(2 + rows.length), settings, lists, ...rows, ...this.#told(), ...this.#words]
  }

  #rowKeys(): string[] {
    return this.#plain?.keys() ?? [...this.#places.keys()]
  }

  #told(): (string | Buffer)[] {
    const { list } = this.layout
    if (this.#plain === undefined) return [this.#json(), list, this.#codes]
    return this.#plain.told(list)
  }

  #json(): string {
    const { hash, lengthsMs } = this.layout
    const head = [this.#testNow ?? -1, hash, ...lengthsMs, ...this.#spans.numbers, this.#tariffs.count]
    return `[${[...head, ...this.#tariffNumbers].join()}]`
  }

  answer(reply: DecideReply | UsualReply): void {
    if (isUsual(reply)) {
      const { cells, length } = unpackRowsTogether(reply, this.#plain!.rows, this.layout)
      const now = reply.readDoubleLE(length)
      const letters = reply.toString('latin1', length + NOW_BYTES)
      this.#tell(letters, { now, areOpen: true, cells, damaged: [] }, [], '')
    } else {
      const [now, letters, stored, before, revision] = reply
      const instant = Number(now)
      const rows = unpackRows(before, this.layout, instant)
      this.#tell(
        letters.toString('latin1'),
        { now: instant, areOpen: false, ...rows },
        stored,
        revision.toString('latin1'),
      )
    }
  }

  #tell(letters: string, rows: ReplyRows, stored: readonly Buffer[], revision: string): void {
    const replay = this.#replay(rows, stored.values(), revision)
    const { operations } = this
    const at: number[] = []
    for (let index = 0; index < operations.length; index++) {
      const operation = operations[index]!
      if (this.#plain !== undefined) {
        this.#plain.placesOf(index, at)
        for (let l = 0; l < at.length; l++) at[l] = this.cellsAt(at[l]!)
        operation.standAt?.(at)
      }
      operation.answer(replay, letters[index] ?? 'a')
    }
  }

  fail(error: unknown): void {
    for (const operation of this.operations) operation.fail(error)
  }

  #replay(rows: ReplyRows, stored: Iterator<Buffer>, settingsRevision: string): Replay {
    const { layout } = this
    const damaged = new Set(rows.damaged.map((row) => layout.rowAt(row)))
    return {
      now: rows.now,
      layout,
      areOpen: rows.areOpen,
      cells: rows.cells,
      stored,
      settingsRevision,
      mended: (row) => void damaged.delete(row),
      damage: (asked) => {
        const row = asked.find((at) => damaged.has(at))
        const key = row === undefined ? undefined : this.#rowKeys()[row / layout.rowCells]
        return notDone(damagedRow(key))
      },
    }
  }

  #placeOf(key: string): number {
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const place = this.#places.size + 1
    this.#places.set(key, place)
    this.#keyCharacters += key.length
    return place
  }
}

/** The rows of a reply, at an instant. */
interface ReplyRows extends UnpackedRows {
  readonly now: number
  readonly areOpen: boolean
}

function isUsual(reply: DecideReply | UsualReply): reply is UsualReply {
  return Buffer.isBuffer(reply)
}

/** Bytes of the time in the reply of a usual batch. */
const NOW_BYTES = 8

/** A limit as the scripts read it. */
export function jsonLimit(limit: number): number | string {
  return limit === Number.POSITIVE_INFINITY ? '1e999' : limit
}
