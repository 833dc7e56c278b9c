import {
  add,
  type CellDefinition,
  CLOSED,
  cellOfIdentity,
  GRACE_MS,
  hash32,
  Instant,
  idOwnerKey,
  inRowOrder,
  Layout,
  reanchor,
  roll,
  type StoreSchema,
  type TakeRequest,
  usedIn,
  view,
} from '@scoregw/quota/store'

/** A row as it is stored: cells by identity, in the order of its list; or bytes that are none. */
export interface StoredRow {
  cells: { readonly identity: string; start: number; used: number }[]
  damaged?: Buffer | 'hash'
}

/** What a take came to. */
export type Verdict = { readonly outcome: string; readonly states: readonly number[] } | 'damaged_row'

/** The takes of one schema decided one by one by the row functions of the core, on rows kept in a map. */
export class TakeModel {
  readonly #schema: StoreSchema
  readonly #layout: Layout
  readonly #instant: Instant
  readonly #ids = new Map<string, { nonce: string; fingerprint: string; states: readonly number[]; hold: boolean }>()
  readonly rows: Map<string, StoredRow> = new Map<string, StoredRow>()
  /** Keys of rows that were written. */
  readonly written: Set<string> = new Set()
  /** Where a hold has a slot, until when the row is kept at least. */
  readonly keptUntil: Map<string, number> = new Map()

  constructor(schema: StoreSchema) {
    this.#schema = schema
    this.#layout = new Layout(schema.cells)
    this.#instant = new Instant(this.#layout)
  }

  take(request: TakeRequest, now: number, revision: string, keyOf: (layer: number) => string): Verdict {
    const { quotas, costs, id, periods, category } = request
    const nothing = (outcome: string): Verdict => ({ outcome, states: [] })
    const name = id && JSON.stringify([category, idOwnerKey(this.#schema, request.subject), id.id])
    const known = name === undefined ? undefined : this.#ids.get(name)
    const isStale =
      (request.settingsRevision !== undefined && request.settingsRevision !== revision) ||
      !this.#instant.moveTo(now, periods, quotas.layers.length)
    // What an id was used for is answered whatever the settings.
    if (known !== undefined && id !== undefined) {
      if (known.fingerprint !== id.fingerprint) return nothing('conflict')
      if (known.nonce !== id.nonce) return nothing('duplicate')
      return { outcome: 'admitted', states: known.states }
    }
    if (isStale) return nothing('stale')
    const keys = quotas.layers.map(keyOf)
    const rows = keys.map((key) => this.#own(key))
    const charged = [...quotas.layers.keys()].flatMap((l) =>
      this.#layout.units.flatMap((unit, c) => (costs[unit]! > 0 ? [[l, c, costs[unit]!] as const] : [])),
    )
    const isDamaged = rows.includes(undefined)
    const { after, opensAt } = this.#instant
    const size = this.#layout.size
    const fits = charged.every(([l, c, cost]) => {
      const at = l * size + c
      return rows[l] === undefined || usedIn(rows[l], 2 * c, after[at]!) + cost <= quotas.limits[at]!
    })
    for (const [l, c, cost] of charged) {
      const [row, at] = [rows[l], l * size + c]
      if (row === undefined) continue
      const before = [row[2 * c], row[2 * c + 1]]
      if (isDamaged || !fits) {
        if (this.#schema.cells[c]!.kind !== 'concurrency') reanchor(row, 2 * c, after[at]!, now)
      } else {
        roll(row, 2 * c, after[at]!, opensAt[at]!, now)
        add(row, 2 * c, cost)
      }
      if (before[0] !== row[2 * c] || before[1] !== row[2 * c + 1]) this.#write(keys[l]!, row, now)
    }
    if (isDamaged) return 'damaged_row'
    const states: number[] = []
    for (const [l, row] of rows.entries()) {
      for (const [c, unit] of this.#layout.units.entries()) {
        view(row!, 2 * c, after[l * size + c]!, now, states, 2 * (l * size + c))
        // What was charged is shown at the very start that it went to.
        if (fits && costs[unit]! > 0) states[2 * (l * size + c)] = row![2 * c]!
      }
    }
    if (fits && name !== undefined && id !== undefined) {
      this.#ids.set(name, { ...id, states, hold: request.hold !== undefined })
    }
    const hasSlots = costs[this.#schema.units.length] === 1
    if (fits && hasSlots) for (const key of keys) this.keptUntil.set(key, now + request.hold!.ttlMs)
    return { outcome: fits ? 'admitted' : 'refused', states }
  }

  /** The earliest instant at which a row may go. */
  endOf(key: string): number {
    const ends = this.rows.get(key)!.cells.map(({ identity, start }) => {
      const { kind = 'rolling', lengthMs = 0 } = cellOfIdentity(identity) ?? {}
      return kind === 'concurrency' ? 0 : start + lengthMs
    })
    return Math.max(...ends, this.keptUntil.get(key) ?? 0) + GRACE_MS
  }

  /** The policy's own cells of a row. */
  #own(key: string): number[] | undefined {
    const stored = this.rows.get(key)
    if (stored?.damaged !== undefined) return undefined
    return this.#layout.identities.flatMap((identity) => {
      const cell = stored?.cells.find((each) => each.identity === identity)
      return stored === undefined ? [CLOSED, CLOSED] : [cell?.start ?? 0, cell?.used ?? CLOSED]
    })
  }

  /** Own cells, and those of others that may still count. */
  #write(key: string, row: readonly number[], now: number): void {
    const others = (this.rows.get(key)?.cells ?? []).filter(({ identity, start, used }) => {
      if (this.#layout.identities.includes(identity)) return false
      const cell = cellOfIdentity(identity)
      if (cell === undefined) return true
      return cell.kind === 'concurrency' ? used > 0 : start + cell.lengthMs + GRACE_MS > now
    })
    const own = this.#layout.identities.map((identity, c) => ({
      identity,
      start: Math.max(0, row[2 * c]!),
      used: row[2 * c + 1]!,
    }))
    this.rows.set(key, { cells: orderedCells([...own, ...others]) })
    this.written.add(key)
  }
}

/** Cells in the order of a row. */
export function orderedCells<C extends { readonly identity: string }>(cells: readonly C[]): C[] {
  const limits = cells.map((cell) => ({ ...(cellOfIdentity(cell.identity) ?? unknownCell(cell.identity)), cell }))
  return inRowOrder(limits).map(({ cell }) => cell)
}

function unknownCell(identity: string): CellDefinition {
  return { kind: 'rolling', label: identity, identity, lengthMs: Number.POSITIVE_INFINITY, unit: 'tokens' }
}

/** The bytes of a row. */
export function rowBytes({ cells }: StoredRow): Buffer {
  const bytes = Buffer.alloc(5 + 13 * cells.length)
  bytes[0] = 2
  bytes.writeUInt32LE(hash32(listOf(cells)), 1)
  for (const [c, { start, used }] of cells.entries()) {
    const amount = BigInt.asUintN(56, BigInt(used))
    bytes.writeUIntLE(Number(amount & 0xffffffffffffn), 5 + 7 * c, 6)
    bytes[11 + 7 * c] = Number(amount >> 48n)
    bytes.writeUIntLE(start, 5 + 7 * cells.length + 6 * c, 6)
  }
  return bytes
}

export function listOf(cells: readonly { readonly identity: string }[]): string {
  return cells.map(({ identity }) => identity).join('\n')
}
