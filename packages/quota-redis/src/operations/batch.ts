import { type Layout, MAX_USED, notDone, type Subject } from '@scoregw/quota/store'
import { damagedRow } from '../line/errors.ts'
import type { Script } from '../lua/script.ts'
import type { Keys } from '../store/keys.ts'
import { CODES } from './codes.ts'
import { type DecideReply, decideScript, holdScript, type UsualReply } from './decide.ts'
import type { Call, Operation, Replay } from './operation.ts'
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
  readonly #testNow: number | undefined
  /** Places from 1 by key, rows and records of ids. */
  readonly #places = new Map<string, number>()
  readonly #tariffs = new Tariffs()
  readonly #tariffNumbers: { readonly follows: string | undefined; readonly numbers: readonly number[] }[] = []
  readonly #spans: SpanNumbers
  /** What operations need besides their codes. */
  readonly #words: string[] = []
  #codes = ''
  #keyCharacters = 0
  #hasHolds = false
  /** Whether all of them are takes without an id. */
  #hasTakesAlone = true
  readonly operations: Operation[] = []

  /** @param testNow the instant that stands in for the server's clock, in tests */
  constructor(keys: Keys, testNow: number | undefined) {
    this.#keys = keys
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
    return this.#keyCharacters >= MAX_KEY_CHARACTERS || this.#tariffs.count === MAX_TARIFFS
  }

  add(operation: Operation): void {
    operation.encode(this)
    this.operations.push(operation)
  }

  code(code: number): void {
    if (code < CODES.FIRST_TARIFF) this.#hasTakesAlone = false
    if (code >= CODES.TAKE_HOLD && code < CODES.FIRST_TARIFF) this.#hasHolds = true
    this.#codes += String.fromCharCode(code)
  }

  /** Names a row or record in the codes. */
  place(place: number): void {
    this.#codes += PLACE_CODES[place]!
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
      const spans = this.#spans.of(periods, shared.length)
      const numbers = [cost, shared.length, ...shared, ...quotas.limits, ...spans]
      this.#tariffNumbers.push({ follows: settingsRevision, numbers })
    })
  }

  /** Number of keys, keys and arguments, as EVALSHA takes them behind the script. */
  args(): (string | Buffer)[] {
    const { layout, settings, lists } = this.#keys
    return [
      String(2 + this.#places.size),
      settings,
      lists,
      ...this.#places.keys(),
      ...(this.#planned() ?? [this.#json(), layout.list, this.#codes]),
      ...this.#words,
    ]
  }

  #json(): string {
    const { hash, lengthsMs } = this.layout
    const tariffs = this.#tariffNumbers.flatMap(({ follows, numbers }) => [
      follows === undefined ? 0 : JSON.stringify(follows),
      ...numbers.map(jsonLimit),
    ])
    const head = [this.#testNow ?? -1, hash, ...lengthsMs, ...this.#spans.numbers, this.#tariffs.count]
    return `[${[...head, ...tariffs].join()}]`
  }

  /** Arguments where all are plain takes of one tariff: see `lua/plan.lua`. */
  #planned(): (string | Buffer)[] | undefined {
    const [tariff, another] = this.#tariffNumbers
    if (!this.#hasTakesAlone || tariff === undefined || another !== undefined) return undefined
    const { hash, lengthsMs, list } = this.layout
    const { follows, numbers } = tariff
    const [cost, layers = 0] = numbers
    if (cost === 0 || layers === 0 || (follows !== undefined && !PLAIN_REVISION.test(follows))) return undefined
    if (numbers.some((number) => number >= MAX_USED && number !== Number.POSITIVE_INFINITY)) return undefined
    const head = [this.#testNow ?? -1, hash, ...lengthsMs, ...this.#spans.numbers, 1, follows === undefined ? 0 : 1]
    const hasOneSpan = this.#spans.numbers[0] === 1
    const told = hasOneSpan ? numbers.slice(0, -layers) : numbers
    const plan = Buffer.from(Float64Array.from([...head, ...told.map((number) => Math.min(number, MAX_USED))]).buffer)
    const own = numbers.slice(2, 2 + layers).filter((place) => place === 0).length
    const areInTurn = own > 0 && this.#places.size === layers - own + own * this.operations.length
    if (areInTurn && follows === undefined) return [plan, list]
    const codes = String.fromCharCode(CODES.PLAIN) + (areInTurn ? '' : this.#codes)
    return [plan, list, codes, ...(follows === undefined ? [] : [follows])]
  }

  answer(reply: DecideReply | UsualReply): void {
    if (isUsual(reply)) {
      const { cells, length } = unpackRowsTogether(reply, this.#places.size, this.layout)
      const now = reply.readDoubleLE(length)
      this.#tell(reply.subarray(length + NOW_BYTES), { now, cells, damaged: [] }, [], '')
    } else {
      const [now, letters, stored, before, revision] = reply
      const instant = Number(now)
      const rows = unpackRows(before, this.layout, instant)
      this.#tell(letters, { now: instant, ...rows }, stored, revision.toString('latin1'))
    }
  }

  #tell(
    letters: Buffer,
    rows: UnpackedRows & { readonly now: number },
    stored: readonly Buffer[],
    revision: string,
  ): void {
    const replay = this.#replay(rows, stored.values(), revision)
    for (const [index, operation] of this.operations.entries()) {
      operation.answer(replay, index < letters.length ? String.fromCharCode(letters[index]!) : 'a')
    }
  }

  fail(error: unknown): void {
    for (const operation of this.operations) operation.fail(error)
  }

  #replay(rows: UnpackedRows & { readonly now: number }, stored: Iterator<Buffer>, settingsRevision: string): Replay {
    const { layout } = this
    const damaged = new Set(rows.damaged.map((row) => layout.rowAt(row)))
    return {
      now: rows.now,
      layout,
      cells: rows.cells,
      stored,
      settingsRevision,
      mended: (row) => void damaged.delete(row),
      damage: (asked) => {
        const row = asked.find((at) => damaged.has(at))
        const key = row === undefined ? undefined : [...this.#places.keys()][row / layout.rowCells]
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

function isUsual(reply: DecideReply | UsualReply): reply is UsualReply {
  return Buffer.isBuffer(reply)
}

/** Bytes of the time in the reply of a usual batch. */
const NOW_BYTES = 8

/** A revision that scripts compare as it is: see `lua/revision.lua`. */
const PLAIN_REVISION = /^[\w-]*$/

/** A limit as the scripts read it. */
export function jsonLimit(limit: number): number | string {
  return limit === Number.POSITIVE_INFINITY ? '1e999' : limit
}

/** The high and the low 7 bits. */
const PLACE_CODES: readonly string[] = Array.from({ length: 128 * 128 }, (_, place) =>
  String.fromCharCode(place >> 7, place & 127),
)
