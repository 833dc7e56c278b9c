import {
  type Clock,
  layerKey,
  QuotaError,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ReservationId,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type Subject,
  type TakeOutcome,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota'

interface Window {
  startedAt: number
  used: number
  /** Closed by a reset; the start is kept, so that the next opening is later. */
  closed: boolean
}

interface IdRecord {
  state: 'reserved' | 'committed' | 'cancelled'
  readonly nonce: string
  readonly fingerprint: string
  readonly states: readonly number[]
  expiresAt: number
}

const MAX_AHEAD_MS = 5_000

/** The shortest complete store: two maps, everything kept for ever. */
export class MapStore implements QuotaStore {
  readonly sync: boolean = true
  readonly clock: Clock
  readonly windows: Map<string, Window> = new Map()
  readonly ids: Map<string, IdRecord> = new Map()
  schema: StoreSchema | undefined

  constructor(clock: Clock) {
    this.clock = clock
  }

  attach(schema: StoreSchema): void {
    if (this.schema !== undefined && JSON.stringify(this.schema) !== JSON.stringify(schema)) {
      throw new QuotaError('store_mismatch', 'this store already serves another policy')
    }
    this.schema = schema
  }

  take(request: TakeRequest): TakeReply {
    const now = this.clock.now()
    const { id } = request
    if (id === undefined) return this.decide(request, now)
    const record = this.record(request, id, now)
    if (record !== undefined) {
      const outcome = this.repeat(record, id)
      return { outcome, now, states: outcome === 'admitted' ? record.states : [] }
    }
    const reply = this.decide(request, now)
    if (reply.outcome === 'admitted') this.remember(request, id, 'reserved', reply.states, now)
    return reply
  }

  /** Looks at every window first, and writes only when all of them have room. */
  decide({ subject, category, quotas, cost }: TakeRequest, now: number): TakeReply {
    const keys = this.keys(subject, category, quotas.layers)
    const fits = keys.every((key, index) => this.used(key, now) + cost <= (quotas.limits[index] ?? 0))
    for (const key of keys) {
      this.reanchor(key, now)
      if (fits) this.charge(key, cost, now)
    }
    return { outcome: fits ? 'admitted' : 'refused', now, states: this.states(keys, now) }
  }

  charge(key: string, cost: number, now: number): void {
    const window = this.windows.get(key)
    if (window !== undefined && this.isOpen(key, window, now)) {
      window.used = Math.min(window.used + cost, Number.MAX_SAFE_INTEGER)
      return
    }
    const startedAt = window === undefined ? now : Math.max(now, window.startedAt + 1)
    this.windows.set(key, { startedAt, used: cost, closed: false })
  }

  reanchor(key: string, now: number): void {
    const window = this.windows.get(key)
    if (window !== undefined && window.startedAt - now > MAX_AHEAD_MS) window.startedAt = now
  }

  read({ subject, categories, layers }: ReadRequest): ReadReply {
    const now = this.clock.now()
    return { now, states: categories.map((category) => this.states(this.keys(subject, category, layers), now)) }
  }

  settle(request: SettleRequest): void {
    const { subject, category, layers, states, giveBack, id } = request
    if (id !== undefined && !this.settleId(request, id)) return
    for (const [index, key] of this.keys(subject, category, layers).entries()) {
      this.refund(key, states[2 * index] ?? -1, giveBack)
    }
  }

  /** Into the very window that was charged, or nowhere. */
  refund(key: string, startedAt: number, tokens: number): void {
    const window = this.windows.get(key)
    if (window === undefined || window.closed || window.startedAt !== startedAt) return
    window.used = Math.max(0, window.used - tokens)
  }

  /** Whether this nonce may settle the id; from now on nobody may. */
  settleId(request: SettleRequest, id: ReservationId): boolean {
    const now = this.clock.now()
    const record = this.record(request, id, now)
    if (record === undefined && request.as === 'cancelled') this.remember(request, id, 'cancelled', [], now)
    if (record?.state !== 'reserved' || record.nonce !== id.nonce) return false
    record.state = request.as
    record.expiresAt = now + id.ttlMs
    return true
  }

  reset({ subject, categories, layers }: ResetRequest): void {
    for (const category of categories) {
      for (const key of this.keys(subject, category, layers)) {
        const window = this.windows.get(key)
        if (window !== undefined) window.closed = true
      }
    }
  }

  repeat(record: IdRecord, id: ReservationId): TakeOutcome {
    if (record.fingerprint !== id.fingerprint) return 'conflict'
    if (record.state === 'cancelled') return 'cancelled'
    return record.nonce === id.nonce ? 'admitted' : 'duplicate'
  }

  record(request: TakeRequest | SettleRequest, id: ReservationId, now: number): IdRecord | undefined {
    const record = this.ids.get(this.idKey(request, id))
    return record !== undefined && now < record.expiresAt ? record : undefined
  }

  remember(
    request: TakeRequest | SettleRequest,
    id: ReservationId,
    state: IdRecord['state'],
    states: readonly number[],
    now: number,
  ): void {
    const { nonce, fingerprint, ttlMs } = id
    this.ids.set(this.idKey(request, id), { state, nonce, fingerprint, states, expiresAt: now + ttlMs })
  }

  /** `used` and `startedAt` as they are now; a window that is too far ahead counts as begun at the present. */
  states(keys: readonly string[], now: number): number[] {
    return keys.flatMap((key) => {
      const window = this.windows.get(key)
      if (window === undefined || !this.isOpen(key, window, now)) return [-1, 0]
      return [window.startedAt - now > MAX_AHEAD_MS ? now : window.startedAt, window.used]
    })
  }

  used(key: string, now: number): number {
    const window = this.windows.get(key)
    return window !== undefined && this.isOpen(key, window, now) ? window.used : 0
  }

  /** Each key tells the length of its window. A clock that stepped back before the start is inside, too. */
  isOpen(key: string, window: Window, now: number): boolean {
    const [, , , lengthMs] = JSON.parse(key) as [string, string, number, number]
    return !window.closed && now < window.startedAt + lengthMs
  }

  /** One key for each window of the layers: JSON, so that no two of them are ever the same text. */
  keys(subject: Subject, category: number, layers: readonly number[]): string[] {
    const { layers: all, windows } = this.schema as StoreSchema
    return layers
      .flatMap((index) => all[index] ?? [])
      .flatMap((layer) =>
        windows.map(({ label, lengthMs }) =>
          JSON.stringify([layer.name, layerKey(layer, subject), category, lengthMs, label]),
        ),
      )
  }

  idKey({ subject, category }: TakeRequest | SettleRequest, { id }: ReservationId): string {
    const { layers } = this.schema as StoreSchema
    return JSON.stringify([category, id, ...layers.map((layer) => layerKey(layer, subject))])
  }
}
