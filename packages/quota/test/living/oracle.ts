import type { Policy } from '../../src/index.ts'

interface Cell {
  startedAt: number
  /** -1: closed. */
  used: number
}

/** What a charge went to: a cell's key, and the start that it had. */
export type Charged = readonly (readonly [key: string, startedAt: number])[]

interface IdEntry {
  state: 'reserved' | 'committed' | 'cancelled'
  readonly holder: number
  readonly fingerprint: string
  expiresAt: number
}

export interface Request {
  readonly subject: Readonly<Record<string, string>>
  readonly category: string
  readonly cost: number
}

/** Counters and ids by their names in two plain maps: whatever policy asks, and nothing is ever forgotten. */
export class Oracle {
  readonly #cells = new Map<string, Cell>()
  readonly #ids = new Map<string, IdEntry>()
  readonly #idTtlMs: number

  constructor(idTtlMs: number) {
    this.#idTtlMs = idTtlMs
  }

  /** The cells of a request in the policy's order, with their limits. */
  #cellsOf({ layers, windows, base }: Policy, { subject, category }: Pick<Request, 'subject' | 'category'>) {
    return layers.flatMap(({ name, shared }) =>
      windows.map(({ label, lengthMs = 0 }) => {
        const key = JSON.stringify([name, category, shared ? '' : subject[name], label, lengthMs])
        const cell = this.#cells.get(key) ?? { startedAt: -1, used: -1 }
        this.#cells.set(key, cell)
        return { key, cell, lengthMs, limit: base[name]![category]![label] as number }
      }),
    )
  }

  take(policy: Policy, request: Request, now: number): Charged | undefined {
    const cells = this.#cellsOf(policy, request)
    const isOpen = (cell: Cell, lengthMs: number): boolean => cell.used >= 0 && now < cell.startedAt + lengthMs
    const fits = cells.every(({ cell, lengthMs, limit }) => {
      return (isOpen(cell, lengthMs) ? cell.used : 0) + request.cost <= limit
    })
    if (!fits) return undefined
    return cells.map(({ key, cell, lengthMs }) => {
      if (isOpen(cell, lengthMs)) cell.used += request.cost
      else Object.assign(cell, { startedAt: Math.max(now, cell.startedAt + 1), used: request.cost })
      return [key, cell.startedAt]
    })
  }

  refund(charged: Charged, tokens: number): void {
    for (const [key, startedAt] of charged) {
      const cell = this.#cells.get(key)!
      if (cell.startedAt === startedAt && cell.used >= 0) cell.used = Math.max(0, cell.used - tokens)
    }
  }

  reset(policy: Policy, subject: Request['subject']): void {
    for (const category of policy.categories) {
      const own = { ...policy, layers: policy.layers.filter(({ shared }) => !shared) }
      for (const { cell } of this.#cellsOf(own, { subject, category })) cell.used = -1
    }
  }

  /** `[startedAt, used]` of each window as a status reports it. */
  status(policy: Policy, request: Pick<Request, 'subject' | 'category'>, now: number): (number | null)[][] {
    return this.#cellsOf(policy, request).map(({ cell, lengthMs }) =>
      cell.used >= 0 && now < cell.startedAt + lengthMs ? [cell.startedAt, cell.used] : [null, 0],
    )
  }

  #idOf({ subject }: Request, id: string): string {
    return JSON.stringify([subject.personal, id])
  }

  #liveId(key: string, now: number): IdEntry | undefined {
    const entry = this.#ids.get(key)
    return entry !== undefined && now < entry.expiresAt ? entry : undefined
  }

  /** What a reservation under an id comes to; `undefined`: as one without. */
  known(
    request: Request,
    id: string,
    fingerprint: string,
    now: number,
  ): 'conflict' | 'cancelled' | 'duplicate' | undefined {
    const entry = this.#liveId(this.#idOf(request, id), now)
    if (entry === undefined) return undefined
    if (entry.fingerprint !== fingerprint) return 'conflict'
    return entry.state === 'cancelled' ? 'cancelled' : 'duplicate'
  }

  remember(request: Request, id: string, fingerprint: string, holder: number, now: number): void {
    const expiresAt = now + this.#idTtlMs
    this.#ids.set(this.#idOf(request, id), { state: 'reserved', holder, fingerprint, expiresAt })
  }

  /** Whether a settle under an id is this holder's to make. */
  settle(
    request: Request,
    id: string,
    as: 'committed' | 'cancelled',
    holder: number,
    fingerprint: string,
    now: number,
  ): boolean {
    const key = this.#idOf(request, id)
    const entry = this.#liveId(key, now)
    if (entry === undefined && as === 'cancelled') {
      this.#ids.set(key, { state: as, holder, fingerprint, expiresAt: now + this.#idTtlMs })
    }
    if (entry?.state !== 'reserved' || entry.holder !== holder) return false
    Object.assign(entry, { state: as, expiresAt: now + this.#idTtlMs })
    return true
  }
}
