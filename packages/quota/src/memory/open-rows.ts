import type { Quotas } from '../policy/limits.ts'
import type { OpenReply } from '../store/quota-store.ts'
import { layerKey, type StoreSchema, type Subject } from '../store/schema.ts'
import type { Layout } from '../windows/layout.ts'
import { CLOSED, MAX_AHEAD_MS, MAX_USED, NOT_OPEN } from '../windows/window.ts'
import { type KeptRow, PAIRS, type Row } from './row-table.ts'
import type { TableView } from './table-view.ts'
import { YoungRow } from './young-row.ts'

/** Rows that a reply keeps: most policies have a personal and a shared layer. */
const MOST_LAYERS = 2

/** What a row has to say to a cost. `VACANT`: it is not there yet, and would have room. */
const NO_ROOM = 0
const ROOM = 1
const VACANT = 2
const UNUSUAL = 3

/** `undefined`: there is none; `null`: it has other policies' cells too. */
type Kept = KeptRow | null | undefined

/**
 * The usual decision, by itself: rolling windows, every one of them open, one row or two. It is what nearly every request
 * asks for, so it looks at each number once and makes nothing but the answer; it writes nothing before it knows that
 * everything is usual. So is the first request of somebody, admitted or refused. Whatever is not is left to `RowDecisions`,
 * which decides alike.
 */
export class OpenRows {
  readonly #schema: StoreSchema
  readonly #views: readonly TableView[]
  readonly #lengthsMs: readonly number[]
  readonly #shortestMs: number
  /** Whether the policy has nothing but rolling windows. */
  readonly #isRolling: boolean
  readonly #maxSubjects: number

  /** @param views one for each (layer, category), at `layer * categories + category` */
  constructor(schema: StoreSchema, layout: Layout, views: readonly TableView[], maxSubjects: number) {
    this.#schema = schema
    this.#views = views
    this.#maxSubjects = maxSubjects
    this.#lengthsMs = layout.lengthsMs
    this.#shortestMs = Math.min(...layout.lengthsMs)
    this.#isRolling = layout.calendars.length === 0 && !layout.hasSlots
  }

  /** Charges every row, or says that one has no room; `undefined`: it is not usual, and nothing was done. */
  take(
    subject: Subject,
    category: number,
    quotas: Quotas,
    cost: number,
    settingsVersion: number,
    now: number,
  ): OpenReply | undefined {
    const { layers, limits } = quotas
    const { length } = layers
    // What costs nothing is admitted also where more is used than a limit that was lowered since.
    if (!this.#isRolling || length > MOST_LAYERS || length === 0 || cost === 0) return undefined
    const first = this.#rowOf(layers[0]!, category, subject)
    let room = this.#roomIn(first, limits, 0, cost, now)
    if (room === UNUSUAL) return undefined
    let second: Kept
    if (length === MOST_LAYERS) {
      second = this.#rowOf(layers[1]!, category, subject)
      const more = this.#roomIn(second, limits, this.#lengthsMs.length, cost, now)
      if (more === UNUSUAL) return undefined
      if (more === NO_ROOM || room === ROOM) room = more
    }
    // Who has no room in one row opens no other.
    if (room === NO_ROOM) return new Reply(false, now, quotas, settingsVersion, first, second)
    if (room === VACANT) return this.#open(subject, category, quotas, cost, settingsVersion, now, first, second)
    charge(first!, cost)
    if (length === MOST_LAYERS) charge(second!, cost)
    return new Reply(true, now, quotas, settingsVersion, first, second)
  }

  #rowOf(layer: number, category: number, subject: Subject): Kept {
    return this.#viewOf(layer, category).kept(layerKey(this.#schema.layers[layer]!, subject))
  }

  #viewOf(layer: number, category: number): TableView {
    return this.#views[layer * this.#schema.categories.length + category]!
  }

  /** Whether each of the tables has room for one more row. */
  #hasRoomFor(layers: readonly number[], category: number): boolean {
    for (const layer of layers) if (this.#viewOf(layer, category).table.size >= this.#maxSubjects) return false
    return true
  }

  /** Charges every row, and opens those that are not there; `undefined` where there is no room for them, or for the cost. */
  #open(
    subject: Subject,
    category: number,
    quotas: Quotas,
    cost: number,
    settingsVersion: number,
    now: number,
    first: Kept,
    second: Kept,
  ): OpenReply | undefined {
    if (cost > YoungRow.MOST || now < 0 || !this.#hasRoomFor(quotas.layers, category)) return undefined
    const [own, other] = quotas.layers
    const charged = this.#charged(first, own!, category, subject, cost, now)
    const more = other === undefined ? undefined : this.#charged(second, other, category, subject, cost, now)
    return new Reply(true, now, quotas, settingsVersion, charged, more)
  }

  #charged(kept: Kept, layer: number, category: number, subject: Subject, cost: number, now: number): KeptRow {
    if (kept) {
      charge(kept, cost)
      return kept
    }
    const row = new YoungRow(now, cost)
    this.#viewOf(layer, category).keep(layerKey(this.#schema.layers[layer]!, subject), row)
    return row
  }

  #roomIn(row: Kept, limits: readonly number[], from: number, cost: number, now: number): number {
    if (row === undefined) return this.#roomInNothing(limits, from, cost)
    if (row === null) return UNUSUAL
    return row instanceof YoungRow
      ? this.#roomInYoung(row, limits, from, cost, now)
      : this.#roomInPairs(row, limits, from, cost, now)
  }

  #roomInPairs(row: Row, limits: readonly number[], from: number, cost: number, now: number): number {
    const lengthsMs = this.#lengthsMs
    const added = row[0]! + cost
    let room = ROOM
    for (let w = 0; w < lengthsMs.length; w++) {
      const startedAt = row[PAIRS + 2 * w]!
      const used = row[PAIRS + 2 * w + 1]!
      // Closed, over, or opened by a clock that was fast: such a window is to be written.
      if (used === CLOSED || now >= startedAt + lengthsMs[w]! || startedAt - now > MAX_AHEAD_MS) return UNUSUAL
      if (used + added > limits[from + w]!) room = NO_ROOM
      else if (used + added > MAX_USED) return UNUSUAL
    }
    return room
  }

  #roomInYoung(row: YoungRow, limits: readonly number[], from: number, cost: number, now: number): number {
    const ageMs = now - row.startedAt
    const used = row.used + cost
    // A window is over, or was opened by a clock that was fast, or it is too much for such a row: it is to be written.
    if (ageMs >= this.#shortestMs || -ageMs > MAX_AHEAD_MS || used > YoungRow.MOST) return UNUSUAL
    for (let w = 0; w < this.#lengthsMs.length; w++) if (used > limits[from + w]!) return NO_ROOM
    return ROOM
  }

  #roomInNothing(limits: readonly number[], from: number, cost: number): number {
    for (let w = 0; w < this.#lengthsMs.length; w++) if (cost > limits[from + w]!) return NO_ROOM
    return VACANT
  }
}

function charge(row: KeptRow, cost: number): void {
  if (row instanceof YoungRow) row.used += cost
  else row[0]! += cost
}

/** What was added to a row, or used of it, by now. */
function countOf(row: Kept): number {
  if (row instanceof YoungRow) return row.used
  return row ? row[0]! : 0
}

/** An answer that has its states of the rows as they were: see {@link Row}. */
class Reply implements OpenReply {
  readonly outcome: 'admitted' | 'refused'
  readonly now: number
  readonly quotas: Quotas
  readonly settingsVersion: number
  readonly #first: Kept
  readonly #second: Kept
  readonly #firstCount: number
  readonly #secondCount: number

  constructor(isAdmitted: boolean, now: number, quotas: Quotas, settingsVersion: number, first: Kept, second: Kept) {
    this.outcome = isAdmitted ? 'admitted' : 'refused'
    this.now = now
    this.quotas = quotas
    this.settingsVersion = settingsVersion
    this.#first = first
    this.#second = second
    this.#firstCount = countOf(first)
    this.#secondCount = countOf(second)
  }

  get periods(): undefined {
    return undefined
  }

  get states(): number[] {
    const { layers, limits } = this.quotas
    const width = limits.length / layers.length
    const states = doubles(2 * limits.length)
    addStates(states, 0, this.#first, this.#firstCount, width)
    if (layers.length > 1) addStates(states, 2 * width, this.#second, this.#secondCount, width)
    return states
  }
}

const BLANKS: number[][] = []

/** An array of doubles from the beginning, see `copyOf` of rows; a copy of one costs a third of filling it. */
function doubles(length: number): number[] {
  BLANKS[length] ??= new Array<number>(length).fill(0.5)
  return BLANKS[length].slice()
}

/** @param count of the row when the answer was made, see {@link countOf} */
function addStates(states: number[], at: number, row: Kept, count: number, width: number): void {
  for (let i = 0; i < 2 * width; i += 2) {
    if (row instanceof YoungRow) {
      states[at + i] = row.startedAt
      states[at + i + 1] = count
    } else {
      states[at + i] = row ? row[PAIRS + i]! : NOT_OPEN
      states[at + i + 1] = row ? row[PAIRS + i + 1]! + count : 0
    }
  }
}
