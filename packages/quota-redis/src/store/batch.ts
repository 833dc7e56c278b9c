import type { Quotas, ReservationId, StoreSchema, Subject, TakeRequest } from '@scoregw/quota'
import type { Keys } from './keys.ts'
import { cellsOfRows } from './packing.ts'
import type { ReadStep, Replay, ResetStep, SettleStep, Step, TakeStep, UndoStep } from './steps.ts'

/** What a script call answers: see `script/decide.lua`. */
export type ScriptReply = readonly [
  now: Buffer,
  letters: Buffer,
  stored: readonly Buffer[],
  before: readonly (Buffer | null)[],
]

/** What decisions have in common; said once for all of them. */
interface Plan extends Pick<TakeRequest, 'quotas' | 'cost' | 'category' | 'settingsVersion'> {
  /** From 1. */
  readonly number: number
}

function isOf(plan: Plan, { quotas, cost, category, settingsVersion }: TakeRequest): boolean {
  return (
    plan.quotas === quotas &&
    plan.cost === cost &&
    plan.category === category &&
    plan.settingsVersion === settingsVersion
  )
}

/** Keys of one script call, in characters at the most: far below the 8,000 keys that Lua can take in at once. */
const MAX_KEY_CHARACTERS = 32 * 1024

/**
 * How long rows are kept after their last window ended, so that a clock stepping back a little finds them again. In
 * milliseconds.
 */
const GRACE_MS = 60_000

/**
 * The operations of one script call. The script answers with the rows as they were and a letter for each operation; the
 * states that belong to each answer come from replaying the operations here, in order, by the functions every store
 * shares. That leaves the server to decide and to write, and nothing else.
 */
export class Batch {
  readonly #schema: StoreSchema
  readonly #keys: Keys
  readonly #lengthsMs: readonly number[]
  readonly #testNow: number | undefined
  /** Index into KEYS by key; KEYS[1] is the version of the settings. */
  readonly #index = new Map<string, number>()
  readonly #plans = new Map<Quotas, Plan[]>()
  /** The plan asked for last, which is likely to be asked for again. */
  #lastPlan: Plan | undefined
  readonly #planArgs: (number | string)[] = []
  /** What operations need besides their codes. */
  readonly #extraArgs: string[] = []
  #codes = ''
  readonly steps: Step[] = []
  #planCount = 0
  #keyCharacters = 0

  /** @param testNow the instant that stands in for the server's clock, in tests */
  constructor(schema: StoreSchema, keys: Keys, testNow: number | undefined) {
    this.#schema = schema
    this.#keys = keys
    this.#lengthsMs = schema.windows.map(({ lengthMs }) => lengthMs)
    this.#testNow = testNow
    this.#key(keys.settingsVersion)
  }

  /** Whether the script call can hold no more. */
  get isFull(): boolean {
    return this.#keyCharacters >= MAX_KEY_CHARACTERS || this.#planCount === MAX_PLANS
  }

  take(step: TakeStep): void {
    const { subject, category, quotas, id } = step.request
    const plan = this.#plan(step)
    if (id !== undefined) this.#codes += TAKE_ONCE
    this.#codes += String.fromCharCode(plan + FIRST_PLAN)
    const rows: number[] = []
    for (const layer of quotas.layers) {
      const row = this.#key(this.#keys.row(layer, category, subject))
      rows.push(this.#offset(row))
      if (!this.#schema.layers[layer]!.shared) this.#codes += indexCode(row)
    }
    if (id !== undefined) this.#pushRecord(category, subject, id)
    step.rows = rows
    this.steps.push(step)
  }

  read(step: ReadStep): void {
    const { subject, categories, layers } = step.request
    step.rows = categories.map((category) =>
      layers.map((layer) => this.#offset(this.#key(this.#keys.row(layer, category, subject)))),
    )
    this.steps.push(step)
  }

  settle(step: SettleStep): void {
    const { subject, category, layers, giveBack, as, id } = step.request
    const rows = layers.map((layer) => this.#key(this.#keys.row(layer, category, subject)))
    this.#codes += (id === undefined ? SETTLE : SETTLE_ONCE) + listCode(rows)
    if (id !== undefined) {
      this.#extraArgs.push(as === 'committed' ? 'C' : 'X')
      this.#pushRecord(category, subject, id)
    }
    this.#extraArgs.push(...step.startedAts(this.#lengthsMs.length).map(String), String(giveBack))
    step.rows = rows.map((row) => this.#offset(row))
    this.steps.push(step)
  }

  undo(step: UndoStep): void {
    const { subject, category, layers, giveBack, states, id } = step.request
    const rows = layers.map((layer) => this.#key(this.#keys.row(layer, category, subject)))
    this.#codes += (id === undefined ? UNDO : UNDO_ONCE) + listCode(rows)
    if (id !== undefined) {
      this.#codes += indexCode(this.#key(this.#keys.record(category, subject, id.id)))
      this.#extraArgs.push(id.nonce)
    }
    for (let index = 0; index < states.length; index += 2) this.#extraArgs.push(String(states[index]))
    this.#extraArgs.push(String(giveBack), String(step.openedAt))
    step.rows = rows.map((row) => this.#offset(row))
    this.steps.push(step)
  }

  reset(step: ResetStep): void {
    const { subject, categories, layers } = step.request
    const rows = categories.flatMap((category) =>
      layers.map((layer) => this.#key(this.#keys.row(layer, category, subject))),
    )
    this.#codes += RESET + listCode(rows)
    step.rows = rows.map((row) => this.#offset(row))
    this.steps.push(step)
  }

  /** Number of keys, keys and arguments, as EVALSHA takes them behind the script. */
  args(): string[] {
    const lengths = this.#lengthsMs
    const clock = this.#testNow === undefined ? '-1,0' : `${this.#testNow},1`
    const plans = this.#planArgs.length === 0 ? '' : `,${this.#planArgs.join()}`
    return [
      String(this.#index.size),
      ...this.#index.keys(),
      `[${clock},${GRACE_MS},${lengths.length},${lengths.join()},${this.#planCount}${plans}]`,
      this.#codes,
      ...this.#extraArgs,
    ]
  }

  answer([now, letters, stored, before]: ScriptReply): void {
    const cells = cellsOfRows(before, this.#lengthsMs.length)
    const replay: Replay = { now: Number(now), lengthsMs: this.#lengthsMs, cells, stored: stored.values() }
    let next = 0
    for (const step of this.steps) step.answer(replay, step.lettered ? String.fromCharCode(letters[next++]!) : '')
  }

  fail(error: unknown): void {
    for (const step of this.steps) step.fail(error)
  }

  #key(key: string): number {
    const known = this.#index.get(key)
    if (known !== undefined) return known
    const index = this.#index.size + 1
    this.#index.set(key, index)
    this.#keyCharacters += key.length
    return index
  }

  /** Where a row begins in the cells that the reply is unpacked into. */
  #offset(row: number): number {
    return (row - 1) * 2 * this.#lengthsMs.length
  }

  /** Limits, cost and the rows that everybody shares: said once for all decisions that have them in common. */
  #plan({ request }: TakeStep): number {
    const { quotas, cost, category, settingsVersion } = request
    if (this.#lastPlan !== undefined && isOf(this.#lastPlan, request)) return this.#lastPlan.number
    const plans = this.#plans.get(quotas) ?? []
    this.#plans.set(quotas, plans)
    this.#lastPlan = plans.find((plan) => isOf(plan, request))
    if (this.#lastPlan !== undefined) return this.#lastPlan.number
    this.#planCount++
    this.#lastPlan = { quotas, cost, category, settingsVersion, number: this.#planCount }
    plans.push(this.#lastPlan)
    const shared = quotas.layers.map((layer) =>
      this.#schema.layers[layer]!.shared ? this.#key(this.#keys.row(layer, category, request.subject)) : 0,
    )
    this.#planArgs.push(settingsVersion, cost, shared.length, ...shared)
    for (const limit of quotas.limits) this.#planArgs.push(limit === Number.POSITIVE_INFINITY ? '1e999' : limit)
    return this.#planCount
  }

  #pushRecord(category: number, subject: Subject, { id, nonce, fingerprint, ttlMs }: ReservationId): void {
    this.#codes += indexCode(this.#key(this.#keys.record(category, subject, id)))
    this.#extraArgs.push(nonce, fingerprint, String(ttlMs))
  }
}

/** Operations of the script by their codes; higher ones are plans. */
const TAKE_ONCE = '\0'
const SETTLE = '\x01'
const SETTLE_ONCE = '\x02'
const RESET = '\x03'
const UNDO = '\x04'
const UNDO_ONCE = '\x05'
const FIRST_PLAN = 6
/** Codes are characters below 128, which are one byte on the wire. */
const MAX_PLANS = 127 - FIRST_PLAN

const INDEX_CODES: readonly string[] = Array.from({ length: 128 * 128 }, (_, index) =>
  String.fromCharCode(index >> 7, index & 127),
)

function indexCode(index: number): string {
  return INDEX_CODES[index]!
}

function listCode(indices: readonly number[]): string {
  return indexCode(indices.length) + indices.map(indexCode).join('')
}
