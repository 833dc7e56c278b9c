import type { CellSchema, StoreSchema, TakeRequest } from '@scoregw/quota/store'

/** A row as it is stored: cells by identity, in the order of its list; or bytes that are none. */
export interface StoredRow {
  cells: { readonly identity: string; start: number; used: number }[]
  damaged?: Buffer | 'hash'
}

/** What a take came to. */
export type Verdict = { readonly outcome: string; readonly states: readonly number[] } | 'damaged_row'

const CLOSED = -1
const MOST = Number.MAX_SAFE_INTEGER
const GRACE_MS = 60_000
const MAX_AHEAD_MS = 5_000

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

/** One cell of one row under a request, at an instant. */
interface Seen {
  start: number
  used: number
  readonly kind: Cell['kind']
  readonly isOpen: boolean
  /** Of a bucket: how much came back since the start, and what comes back each `perMs`; 0: it is as a window. */
  readonly back: number
  readonly rate: number
  readonly perMs: number
  /** When it starts if it opens now. */
  readonly opens: number
  readonly cost: number
  readonly limit: number
}

/**
 * The takes of one schema decided one by one on rows kept in a map: the rules of the port, written down once more. It shares no
 * function with the library.
 */
export class TakeModel {
  readonly #schema: StoreSchema
  /** Of every row. */
  readonly #cells: readonly CellSchema[]
  readonly #ids = new Map<string, { nonce: string; fingerprint: string; states: readonly number[] }>()
  readonly rows: Map<string, StoredRow> = new Map<string, StoredRow>()
  /** Keys of rows that were written. */
  readonly written: Set<string> = new Set()
  /** Where a hold has a slot, until when the row is kept at least. */
  readonly keptUntil: Map<string, number> = new Map()

  constructor(schema: StoreSchema) {
    this.#schema = schema
    this.#cells = schema.layers[0]!.cells
  }

  take(request: TakeRequest, now: number, revision: string, keyOf: (layer: number) => string): Verdict {
    const { quotas, costs, id, subject } = request
    const nothing = (outcome: string): Verdict => ({ outcome, states: [] })
    const { name: owner } = this.#schema.layers.find(({ shared }) => !shared)!
    const name = id && JSON.stringify([(subject as Record<string, string>)[owner], id.id])
    const known = name === undefined ? undefined : this.#ids.get(name)
    // What an id was used for is answered regardless of the settings.
    if (known !== undefined && id !== undefined) {
      if (known.fingerprint !== id.fingerprint) return nothing('conflict')
      if (known.nonce !== id.nonce) return nothing('duplicate')
      return { outcome: 'admitted', states: known.states }
    }
    const starts = this.#periodStarts(request, now)
    const isOtherRevision = request.settingsRevision !== undefined && request.settingsRevision !== revision
    if (isOtherRevision || starts === undefined) return nothing('stale')
    const keys = quotas.layers.map(keyOf)
    const rows = keys.map((key, l) => this.#seen(key, request, quotas.layers[l]!, starts, now))
    const isDamaged = rows.includes(undefined)
    const charged = rows.map((row) => row?.filter(({ cost }) => cost > 0) ?? [])
    const fits = charged
      .flat()
      .every((cell) => cell.cost + (goesOn(cell, now) ? cell.used - cell.back : 0) <= cell.limit)
    const isAdmitted = fits && !isDamaged
    for (const [l, cells] of charged.entries()) {
      const before = cells.map(({ start, used }) => [start, used])
      for (const cell of cells)
        if (isAdmitted) charge(cell, now)
        else if (cell.used !== CLOSED) cell.start = anchored(cell, now)
      const hasChanged = cells.some(({ start, used }, i) => start !== before[i]![0] || used !== before[i]![1])
      if (hasChanged) this.#write(keys[l]!, rows[l]!, now)
    }
    if (isDamaged) return 'damaged_row'
    const states = this.#schema.layers.flatMap(({ cells }, layer) => {
      const row = rows[quotas.layers.indexOf(layer)]
      return cells.flatMap((_, c) =>
        row === undefined ? [-1, 0] : shown(row[c]!, isAdmitted && row[c]!.cost > 0, now),
      )
    })
    if (!isAdmitted) return { outcome: 'refused', states }
    if (name !== undefined && id !== undefined) this.#ids.set(name, { ...id, states })
    const hasSlot = costs[this.#schema.units.length] === 1
    if (hasSlot) for (const key of keys) this.keptUntil.set(key, now + request.hold!.ttlMs)
    return { outcome: 'admitted', states }
  }

  /** The earliest instant at which a row may go. */
  endOf(key: string): number {
    const ends = this.rows.get(key)!.cells.map(({ identity, start }) => {
      const { kind, lengthMs } = cellOf(identity)
      return kind === 'concurrency' || kind === 'unknown' ? 0 : start + lengthMs
    })
    return Math.max(...ends, this.keptUntil.get(key) ?? 0) + GRACE_MS
  }

  /** When the period began that each calendar cell of each layer is in; `undefined`: the clock is outside of some. */
  #periodStarts({ quotas, periods = [] }: TakeRequest, now: number): number[][] | undefined {
    const calendars = this.#cells.filter(({ kind }) => kind === 'calendar')
    const all = this.#schema.layers.map((_, l) =>
      calendars.map((__, c) => {
        const [start, end, next] = periods.slice(3 * (l * calendars.length + c)) as [number, number, number]
        if (now >= start && now < end) return start
        return now >= end && now < next ? end : Number.NaN
      }),
    )
    return quotas.layers.flatMap((layer) => all[layer]!).some(Number.isNaN) ? undefined : all
  }

  /** The policy's own cells of a row; `undefined`: it cannot be read. */
  #seen(
    key: string,
    { quotas, costs }: TakeRequest,
    layer: number,
    starts: number[][],
    now: number,
  ): Seen[] | undefined {
    const stored = this.rows.get(key)
    if (stored?.damaged !== undefined) return undefined
    let calendars = 0
    return this.#cells.map(({ identity, kind, lengthMs, unit }, c) => {
      const cell = stored?.cells.find((each) => each.identity === identity)
      const { start, used } = cell ?? { start: stored === undefined ? CLOSED : 0, used: CLOSED }
      const period = kind === 'calendar' ? starts[layer]![calendars++]! : 0
      const youngest = now - lengthMs + 1
      const since = { rolling: youngest, bucket: youngest, calendar: period, concurrency: Number.NEGATIVE_INFINITY }[
        kind
      ]
      const isOpen = used !== CLOSED && start >= since
      const at = layer * this.#cells.length + c
      const [limit, rate, perMs] = [quotas.limits[at]!, quotas.rates?.[at] ?? 0, lengthMs / 2]
      const back = rate > 0 && now > start ? Number((BigInt(now - start) * BigInt(rate)) / BigInt(perMs)) : 0
      const opens = kind === 'calendar' ? period : now
      return { start, used, kind, isOpen, back, rate, perMs, opens, cost: costs[unit] ?? 0, limit }
    })
  }

  /** Own cells, and those of others while any of them may still count. */
  #write(key: string, row: readonly Seen[], now: number): void {
    const identities = this.#cells.map(({ identity }) => identity)
    const others = (this.rows.get(key)?.cells ?? []).filter(({ identity }) => !identities.includes(identity))
    const isLive = others.some(({ identity, start, used }) => {
      const { kind, lengthMs } = cellOf(identity)
      return kind === 'concurrency' ? used > 0 : start + lengthMs + GRACE_MS > now
    })
    const own = row.map(({ start, used }, c) => ({ identity: identities[c]!, start: Math.max(0, start), used }))
    this.rows.set(key, { cells: orderedCells([...own, ...(isLive ? others : [])]) })
    this.written.add(key)
  }
}

/** One that was opened by a clock far ahead moves to the present. */
function anchored({ kind, start }: Seen, now: number): number {
  return kind !== 'concurrency' && start > now + MAX_AHEAD_MS ? now + 1 : start
}

/** Whether a charge goes on with a cell: it is open, and no bucket to which all came back. */
function goesOn({ isOpen, rate, start, used, back }: Seen, now: number): boolean {
  return isOpen && !(rate > 0 && now > start && back >= used)
}

function charge(cell: Seen, now: number): void {
  const start = anchored(cell, now)
  const isOn = goesOn(cell, now)
  cell.start = isOn ? start : Math.max(start + 1, cell.opens)
  cell.used = Math.min(MOST, (isOn ? cell.used : 0) + cell.cost)
  if (!isOn || cell.rate === 0 || now - start < cell.perMs) return
  // Older than its time: as many tokens as its limit came back in that, exactly.
  cell.start += cell.perMs
  cell.used -= cell.rate
}

function shown(cell: Seen, isCharged: boolean, now: number): [start: number, used: number] {
  if (isCharged) return [cell.start, cell.used]
  return cell.isOpen ? [anchored(cell, now), cell.used] : [-1, 0]
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
