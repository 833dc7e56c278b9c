import type { Clock } from '@scoregw/quota'
import type { StoreSchema, SyncCounters, TakeReply, TakeRequest } from '@scoregw/quota/store'
import { ModelCounters, type ModelState, modelStore } from '@scoregw/quota-testkit/model'

/** A row as it is stored: cells by identity, in the order of its list; or bytes that are none. */
export interface StoredRow {
  cells: { readonly identity: string; start: number; used: number }[]
  damaged?: Buffer | 'hash'
}

/** What a take came to. */
export type Verdict = { readonly outcome: string; readonly states: readonly number[] } | 'damaged_row'

const CLOSED = -1
const GRACE_MS = 60_000

/** What an identity says of a cell: the words of it, read here by no function of the library. */
interface Cell {
  readonly kind: 'rolling' | 'calendar' | 'bucket' | 'concurrency' | 'unknown'
  readonly label: string
  readonly lengthMs: number
}

function cellOf(identity: string): Cell {
  const [kind, label = '', length] = identity.replace(/ unit:[\w-]+$/, '').split(' ')
  if (kind === 'rolling' || kind === 'calendar') return { kind, label, lengthMs: Number(length) }
  if (kind === 'bucket') return { kind, label, lengthMs: 2 * Number(length) }
  if (kind === 'concurrency') return { kind, label, lengthMs: Number.POSITIVE_INFINITY }
  return { kind: 'unknown', label: identity, lengthMs: Number.POSITIVE_INFINITY }
}

/** A cell of a stored row. */
type StoredCell = StoredRow['cells'][number]

/**
 * Takes decided by the testkit's model, and what a store has to write for them: which rows, with which bytes. It shares no
 * function with the library.
 */
export class TakeModel {
  readonly #schema: StoreSchema
  readonly #clock: Clock
  readonly #state: ModelState = { windows: {}, slots: {}, records: {} }
  readonly #counters: SyncCounters
  /** When slots were first taken, by the names of their cells. The model doesn't say that. */
  readonly #slotStarts = new Map<string, number>()
  /** What ids were answered, by owner and id. */
  readonly #answers = new Map<string, readonly number[]>()
  readonly rows: Map<string, StoredRow> = new Map<string, StoredRow>()
  /** Keys of rows that were written. */
  readonly written: Set<string> = new Set()
  /** Where a hold has a slot, until when the row is kept at least. */
  readonly keptUntil: Map<string, number> = new Map()

  constructor(schema: StoreSchema, clock: Clock) {
    this.#schema = schema
    this.#clock = clock
    const state = this.#state
    class Seeded extends ModelCounters {
      constructor(clock: Clock) {
        super(clock, state)
      }
    }
    this.#counters = modelStore(clock, undefined, Seeded).open(schema)
  }

  /** Makes a row what is stored before the first take. */
  seed(key: string, layer: number, subject: TakeRequest['subject'], row: StoredRow): void {
    this.rows.set(key, row)
    for (const { identity, start, used } of row.cells) {
      const name = this.#name(layer, subject, identity)
      if (cellOf(identity).kind === 'concurrency') {
        this.#slotStarts.set(name, start)
        this.#state.slots[name] = Array.from({ length: Math.max(0, used) }, () => 'of another')
      } else {
        const span = { lengthMs: 0 }
        this.#state.windows[name] = { startedAt: start, used: Math.max(0, used), closed: used === CLOSED, span }
      }
    }
  }

  take(request: TakeRequest, revision: string, keyOf: (layer: number) => string): Verdict {
    const { subject, quotas, id } = request
    const owner = this.#schema.layers.find(({ shared }) => !shared)!.name
    const name = id && JSON.stringify([(subject as Record<string, string>)[owner], id.id])
    const answer = name === undefined ? undefined : this.#answers.get(name)
    if (answer !== undefined) {
      // What an id was used for is answered regardless of the settings.
      const { outcome } = this.#counters.take(request)
      return { outcome, states: outcome === 'admitted' ? answer : [] }
    }
    if (request.settingsRevision !== undefined && request.settingsRevision !== revision)
      return { outcome: 'stale', states: [] }
    const rows = quotas.layers.map((layer) => ({ key: keyOf(layer), layer, before: this.#cells(layer, subject) }))
    const isDamaged = rows.some(({ key }) => this.rows.get(key)?.damaged !== undefined)
    const { outcome, states } = isDamaged ? this.#refused(request) : this.#counters.take(request)
    if (outcome === 'stale') return { outcome, states }
    const hasSlot = outcome === 'admitted' && request.costs.at(-1) === 1
    for (const { key, layer, before } of rows) {
      if (hasSlot) this.#takeSlot(key, layer, request)
      const after = this.#cells(layer, subject)
      const hasChanged = after.some(({ start, used }, at) => start !== before[at]!.start || used !== before[at]!.used)
      if (hasChanged) this.#write(key, after)
    }
    if (isDamaged) return 'damaged_row'
    const shown = this.#withSlotStarts(request, states)
    if (name !== undefined && outcome === 'admitted') this.#answers.set(name, shown)
    return { outcome, states: shown }
  }

  /** The earliest instant at which a row may go. */
  endOf(key: string): number {
    const ends = this.rows.get(key)!.cells.map(({ identity, start }) => {
      const { kind, lengthMs } = cellOf(identity)
      return kind === 'concurrency' || kind === 'unknown' ? 0 : start + lengthMs
    })
    return Math.max(...ends, this.keptUntil.get(key) ?? 0) + GRACE_MS
  }

  /** A take that finds no room, and leaves no id behind. */
  #refused(request: TakeRequest): TakeReply {
    const quotas = { ...request.quotas, limits: request.quotas.limits.map(() => -1) }
    return this.#counters.take({ ...request, quotas, id: undefined, hold: undefined })
  }

  /** Notes when slots were first taken: now, unless others are taken already. */
  #takeSlot(key: string, layer: number, { subject, hold }: TakeRequest): void {
    const now = this.#clock.now()
    this.keptUntil.set(key, now + hold!.ttlMs)
    for (const { identity, kind } of this.#schema.layers[layer]!.cells) {
      const name = this.#name(layer, subject, identity)
      const isFirst = kind === 'concurrency' && this.#state.slots[name]?.length === 1
      if (isFirst) this.#slotStarts.set(name, Math.max((this.#slotStarts.get(name) ?? CLOSED) + 1, now))
    }
  }

  /** The policy's own cells of a row, as they are stored. */
  #cells(layer: number, subject: TakeRequest['subject']): StoredCell[] {
    return this.#schema.layers[layer]!.cells.map(({ identity, kind }) => {
      const name = this.#name(layer, subject, identity)
      if (kind === 'concurrency') {
        const start = Math.max(0, this.#slotStarts.get(name) ?? 0)
        return { identity, start, used: this.#state.slots[name]?.length || CLOSED }
      }
      const { startedAt = 0, used = 0, closed = true } = this.#state.windows[name] ?? {}
      return { identity, start: startedAt, used: closed ? CLOSED : used }
    })
  }

  #withSlotStarts({ subject, quotas }: TakeRequest, states: readonly number[]): readonly number[] {
    const shown = [...states]
    let at = 0
    for (const [layer, { cells }] of this.#schema.layers.entries()) {
      for (const { identity, kind } of cells) {
        const isTaken = kind === 'concurrency' && quotas.layers.includes(layer) && shown[2 * at + 1]! > 0
        if (isTaken) shown[2 * at] = this.#slotStarts.get(this.#name(layer, subject, identity))!
        at++
      }
    }
    return shown
  }

  /** Own cells, and those of others while any of them may still count. */
  #write(key: string, own: readonly StoredCell[]): void {
    const identities = own.map(({ identity }) => identity)
    const others = (this.rows.get(key)?.cells ?? []).filter(({ identity }) => !identities.includes(identity))
    const isLive = others.some(({ identity, start, used }) => {
      const { kind, lengthMs } = cellOf(identity)
      return kind === 'concurrency' ? used > 0 : start + lengthMs + GRACE_MS > this.#clock.now()
    })
    this.rows.set(key, { cells: orderedCells([...own, ...(isLive ? others : [])]) })
    this.written.add(key)
  }

  /** The name of a cell in the model. */
  #name(layer: number, subject: TakeRequest['subject'], identity: string): string {
    const { name, shared } = this.#schema.layers[layer]!
    return JSON.stringify([name, shared ? '' : (subject as Record<string, string>)[name], identity])
  }
}

/** Cells in the order of a row: by length, then by label; those that no time ends come last. */
export function orderedCells<C extends { readonly identity: string }>(cells: readonly C[]): C[] {
  return cells.toSorted((a, b) => {
    const [one, other] = [cellOf(a.identity), cellOf(b.identity)]
    if (one.lengthMs !== other.lengthMs) return one.lengthMs < other.lengthMs ? -1 : 1
    return one.label < other.label ? -1 : 1
  })
}

/** The bytes of a row. */
export function rowBytes({ cells }: StoredRow): Buffer {
  const head = Buffer.from([2, 0, 0, 0, 0])
  head.writeUInt32LE(hashOf(listOf(cells)), 1)
  const used = cells.map((cell) => littleEndian(BigInt(cell.used), 7))
  const starts = cells.map((cell) => littleEndian(BigInt(cell.start), 6))
  return Buffer.concat([head, ...used, ...starts])
}

function littleEndian(value: bigint, bytes: number): Buffer {
  const eight = Buffer.alloc(8)
  eight.writeBigInt64LE(value)
  return eight.subarray(0, bytes)
}

export function listOf(cells: readonly { readonly identity: string }[]): string {
  return cells.map(({ identity }) => identity).join('\n')
}

/** FNV-1a of 32 bits. */
export function hashOf(text: string): number {
  let hash = 2_166_136_261n
  for (let i = 0; i < text.length; i++) hash = ((hash ^ BigInt(text.charCodeAt(i))) * 16_777_619n) % 2n ** 32n
  return Number(hash)
}
