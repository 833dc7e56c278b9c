import { CATEGORIES, counterOf, type LimitText, type Living, type Operation } from './policies.ts'

interface Cell {
  startedAt: number
  /** -1: closed. */
  used: number
}

/** What a charge went to: a cell's key, and the start that it had. `undefined`: it took a slot. */
export type Charged = readonly (readonly [key: string, startedAt: number | undefined])[]

interface IdEntry {
  state: 'reserved' | 'committed' | 'cancelled'
  readonly holder: number
  readonly fingerprint: string
  expiresAt: number
}

export interface Request {
  readonly subject: { readonly user: string | null; readonly team: string | null }
  readonly operation: Operation
  readonly cost: number
  /** Numbers by the names of limits. */
  readonly limits?: Readonly<Record<string, number | null | undefined>>
}

type Asked = Pick<Request, 'subject' | 'operation' | 'limits'>

/** Counters and ids by their names in plain maps: whatever policy asks, and nothing is ever forgotten. */
export class Oracle {
  readonly #cells = new Map<string, Cell>()
  readonly #ids = new Map<string, IdEntry>()
  readonly #blocks = new Map<string, number>()
  readonly #idTtlMs: number

  constructor(idTtlMs: number) {
    this.#idTtlMs = idTtlMs
  }

  /** The cells of a subject in the policy's order, with their limits. */
  #cellsOf({ limits }: Living, { subject, limits: numbers = {} }: Pick<Asked, 'subject' | 'limits'>) {
    return Object.entries(limits).flatMap(([name, text]) => {
      const owner = keyOf(text, subject)
      if (owner === null) return []
      const key = `${counterOf(name, text)} ${owner}`
      const cell = this.#cells.get(key) ?? { startedAt: -1, used: -1 }
      this.#cells.set(key, cell)
      const number = text.by === undefined ? undefined : numbers[name]
      return [{ name, text, key, cell, lengthMs: lengthOf(text), limit: number ?? text.limit ?? text.concurrency ?? 0 }]
    })
  }

  #counted(living: Living, asked: Asked) {
    return this.#cellsOf(living, asked).filter(({ text }) => counts(text, asked.operation))
  }

  /** When the subject's block ends; `undefined`: it isn't blocked. */
  blockedUntil({ limits }: Living, { subject }: Pick<Request, 'subject'>, now: number): number | undefined {
    const layers = new Set(Object.values(limits).flatMap(({ by }) => by ?? []))
    const ends = [...layers].map((by) => this.#blocks.get(`${by} ${keyOf({ by }, subject)}`) ?? 0)
    const end = Math.max(0, ...ends)
    return now < end ? end : undefined
  }

  block(user: string, until: number): void {
    this.#blocks.set(`user ${user}`, until)
  }

  /** Whether the operation needs a slot. */
  isWork({ limits }: Living, operation: Operation): boolean {
    return Object.values(limits).some((text) => text.concurrency !== undefined && counts(text, operation))
  }

  take(living: Living, request: Request, now: number): Charged | undefined {
    if (this.blockedUntil(living, request, now) !== undefined) return undefined
    // What is free is admitted without counters.
    if (request.cost === 0) return []
    const cells = this.#counted(living, request)
    const neededOf = (text: LimitText): number => (text.concurrency === undefined ? request.cost : 1)
    const fits = cells.every(({ text, cell, lengthMs, limit }) => {
      return text.shadow === true || usedIn(cell, lengthMs, now) + neededOf(text) <= limit
    })
    if (!fits) return undefined
    return cells.map(({ key, cell, text, lengthMs }) => {
      if (isOpen(cell, lengthMs, now)) cell.used += neededOf(text)
      else Object.assign(cell, { startedAt: Math.max(now, cell.startedAt + 1), used: neededOf(text) })
      return [key, text.concurrency === undefined ? cell.startedAt : undefined]
    })
  }

  /** Gives back amounts to the windows that they came from, and all slots. */
  refund(charged: Charged, amount: number): void {
    for (const [key, startedAt] of charged) {
      const cell = this.#cells.get(key)!
      if (startedAt === undefined) cell.used--
      else if (cell.startedAt === startedAt && cell.used >= 0) cell.used = Math.max(0, cell.used - amount)
    }
  }

  /** Closes a subject's own windows. */
  reset(living: Living, subject: Request['subject']): void {
    for (const { cell, text } of this.#cellsOf(living, { subject })) {
      if (text.by !== undefined && text.concurrency === undefined) cell.used = -1
    }
  }

  /** `[startedAt, used]` of each limit as a status reports it. */
  status(living: Living, { subject }: Pick<Request, 'subject'>, now: number): object {
    const all = this.#cellsOf(living, { subject })
    return Object.fromEntries(
      all.map(({ name, text, cell, lengthMs }) => {
        const isShown = isOpen(cell, lengthMs, now) && text.concurrency === undefined
        return [name, [isShown ? cell.startedAt : null, usedIn(cell, lengthMs, now)]]
      }),
    )
  }

  #liveId(key: string, now: number): IdEntry | undefined {
    const entry = this.#ids.get(key)
    return entry !== undefined && now < entry.expiresAt ? entry : undefined
  }

  /** What a reservation under an id comes to; `undefined`: as one without. */
  known(key: string, fingerprint: string, now: number): 'conflict' | 'cancelled' | 'duplicate' | undefined {
    const entry = this.#liveId(key, now)
    if (entry === undefined) return undefined
    if (entry.fingerprint !== fingerprint) return 'conflict'
    return entry.state === 'cancelled' ? 'cancelled' : 'duplicate'
  }

  remember(key: string, fingerprint: string, holder: number, now: number): void {
    this.#ids.set(key, { state: 'reserved', holder, fingerprint, expiresAt: now + this.#idTtlMs })
  }

  /** Whether a settle under an id is this holder's to make. */
  settle(key: string, as: 'committed' | 'cancelled', holder: number, fingerprint: string, now: number): boolean {
    const entry = this.#liveId(key, now)
    const expiresAt = now + this.#idTtlMs
    if (entry === undefined && as === 'cancelled') this.#ids.set(key, { state: as, holder, fingerprint, expiresAt })
    if (entry?.state !== 'reserved' || entry.holder !== holder) return false
    Object.assign(entry, { state: as, expiresAt })
    return true
  }
}

/** A subject's key for a limit; `null`: it has none, and the limit doesn't apply. A policy without own limits has one layer, `subject`. */
export function keyOf({ by }: { readonly by?: string | undefined }, { user, team }: Request['subject']): string | null {
  if (by === undefined) return ''
  return by === 'team' ? team : user
}

function counts({ for: counted }: LimitText, operation: Operation): boolean {
  if (counted === undefined) return true
  const names: readonly string[] = typeof counted === 'string' ? [counted] : counted
  return names.includes(operation) || names.includes(CATEGORIES[operation])
}

function lengthOf({ per }: LimitText): number {
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }
  return per === undefined ? Number.POSITIVE_INFINITY : Number(per.slice(0, -1)) * units[per.slice(-1)]!
}

function isOpen({ startedAt, used }: Cell, lengthMs: number, now: number): boolean {
  return used >= 0 && now < startedAt + lengthMs
}

function usedIn(cell: Cell, lengthMs: number, now: number): number {
  return isOpen(cell, lengthMs, now) ? cell.used : 0
}
