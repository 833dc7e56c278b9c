import {
  QuotaError,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type Subject,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota'
import { MapStore } from './map-store.ts'
import type { Mutant } from './mutant.ts'

type WindowOfStore = MapStore['windows'] extends Map<string, infer W> ? W : never

/** A store that writes the texts of subjects in a way of its own. */
function rekeyed(encode: (text: string) => string): Mutant['Store'] {
  return class extends MapStore {
    override keys(subject: Subject, category: number, layers: readonly number[]): string[] {
      const encoded =
        typeof subject === 'string'
          ? encode(subject)
          : Object.fromEntries(Object.entries(subject).map(([layer, key]) => [layer, encode(key)]))
      return super.keys(encoded, category, layers)
    }
  }
}

class EvictsTheOldest extends MapStore {
  override charge(key: string, cost: number, now: number): void {
    super.charge(key, cost, now)
    const most = 3 * (this.schema?.windows.length ?? 1) * (this.schema?.layers.length ?? 1)
    if (this.windows.size > most) this.windows.delete(this.windows.keys().next().value ?? '')
  }
}

class FullTooLate extends MapStore {
  override charge(key: string, cost: number, now: number): void {
    if (!this.windows.has(key) && this.windows.size >= 4) throw new QuotaError('store_full', 'no room')
    super.charge(key, cost, now)
  }
}

/** Reads, waits, and writes: another request comes in between. */
class NotAtomic implements QuotaStore {
  readonly sync = false
  readonly #store: MapStore

  constructor(...args: ConstructorParameters<typeof MapStore>) {
    this.#store = new MapStore(...args)
  }

  attach(schema: StoreSchema): void {
    this.#store.attach(schema)
  }

  async take(request: TakeRequest): Promise<TakeReply> {
    const { subject, category, quotas, cost } = request
    if (request.id !== undefined) return this.#store.take(request)
    const now = this.#store.clock.now()
    const keys = this.#store.keys(subject, category, quotas.layers)
    const fits = keys.every((key, index) => this.#store.used(key, now) + cost <= (quotas.limits[index] ?? 0))
    await Promise.resolve()
    if (!fits) return this.#store.take(request)
    for (const key of keys) this.#store.charge(key, cost, now)
    return { outcome: 'admitted', now, states: this.#store.states(keys, now) }
  }

  async read(request: ReadRequest): Promise<ReadReply> {
    return this.#store.read(request)
  }

  async settle(request: SettleRequest): Promise<void> {
    this.#store.settle(request)
  }

  async reset(request: ResetRequest): Promise<void> {
    this.#store.reset(request)
  }
}

/** Stores that are wrong in one way each about windows, charges and subjects. */
export const WINDOW_MUTANTS: readonly Mutant[] = [
  {
    fault: 'a refund goes into whatever window is there',
    Store: class extends MapStore {
      override refund(key: string, _: number, tokens: number): void {
        super.refund(key, this.windows.get(key)?.startedAt ?? -1, tokens)
      }
    },
  },
  {
    fault: 'a refund reopens a window that a reset closed',
    Store: class extends MapStore {
      override refund(key: string, startedAt: number, tokens: number): void {
        const window = this.windows.get(key)
        if (window?.startedAt === startedAt) window.closed = false
        super.refund(key, startedAt, tokens)
      }
    },
  },
  {
    fault: 'used falls below zero',
    unseenByHistories: true,
    Store: class extends MapStore {
      override refund(key: string, startedAt: number, tokens: number): void {
        const window = this.windows.get(key)
        if (window !== undefined && !window.closed && window.startedAt === startedAt) window.used -= tokens
      }
    },
  },
  {
    fault: 'nothing is ever given back',
    Store: class extends MapStore {
      override refund(): void {
        this.clock.now()
      }
    },
  },
  {
    fault: 'a commit gives everything back',
    Store: class extends MapStore {
      override settle(request: SettleRequest): void {
        super.settle({ ...request, giveBack: request.as === 'committed' ? 1_000 : request.giveBack })
      }
    },
  },
  {
    fault: 'windows are charged one by one until one refuses',
    Store: class extends MapStore {
      override decide(request: TakeRequest, now: number): TakeReply {
        const keys = this.keys(request.subject, request.category, request.quotas.layers)
        for (const [index, key] of keys.entries()) {
          if (this.used(key, now) + request.cost > (request.quotas.limits[index] ?? 0))
            return super.decide(request, now)
          if (index < keys.length - 1) this.charge(key, request.cost, now)
        }
        for (const key of keys.slice(0, -1)) this.refund(key, this.windows.get(key)?.startedAt ?? -1, request.cost)
        return super.decide(request, now)
      }
    },
  },
  {
    fault: 'only the first layer is checked',
    Store: class extends MapStore {
      override decide(request: TakeRequest, now: number): TakeReply {
        const own = this.schema?.windows.length ?? 0
        const limits = request.quotas.limits.map((limit, index) => (index < own ? limit : Number.POSITIVE_INFINITY))
        return super.decide({ ...request, quotas: { ...request.quotas, limits } }, now)
      }
    },
  },
  {
    fault: 'admits one token more than the limit',
    Store: class extends MapStore {
      override decide(request: TakeRequest, now: number): TakeReply {
        const limits = request.quotas.limits.map((limit) => limit + 1)
        return super.decide({ ...request, quotas: { ...request.quotas, limits } }, now)
      }
    },
  },
  {
    fault: 'a refused request opens windows',
    Store: class extends MapStore {
      override decide(request: TakeRequest, now: number): TakeReply {
        const reply = super.decide(request, now)
        if (reply.outcome === 'admitted') return reply
        for (const key of this.keys(request.subject, request.category, request.quotas.layers)) this.charge(key, 0, now)
        return reply
      }
    },
  },
  {
    fault: 'a read opens windows',
    Store: class extends MapStore {
      override read(request: ReadRequest): ReadReply {
        const keys = request.categories.flatMap((category) => this.keys(request.subject, category, request.layers))
        for (const key of keys) this.charge(key, 0, this.clock.now())
        return super.read(request)
      }
    },
  },
  {
    fault: 'a window opens twice at the same millisecond',
    Store: class extends MapStore {
      override charge(key: string, cost: number, now: number): void {
        const window = this.windows.get(key)
        if (window !== undefined && !this.isOpen(key, window, now)) this.windows.delete(key)
        super.charge(key, cost, now)
      }
    },
  },
  {
    fault: 'every charge begins the window anew',
    Store: class extends MapStore {
      override charge(key: string, cost: number, now: number): void {
        super.charge(key, cost, now)
        const window = this.windows.get(key)
        if (window !== undefined) window.startedAt = now
      }
    },
  },
  {
    fault: 'a window lasts 1 ms too long',
    Store: class extends MapStore {
      override isOpen(key: string, window: WindowOfStore, now: number): boolean {
        return super.isOpen(key, window, now - 1)
      }
    },
  },
  {
    fault: 'a window ends 1 ms too early',
    Store: class extends MapStore {
      override isOpen(key: string, window: WindowOfStore, now: number): boolean {
        return super.isOpen(key, window, now + 1)
      }
    },
  },
  {
    fault: 'windows of more than 24.8 days end at once, as a timer does',
    Store: class extends MapStore {
      override isOpen(key: string, window: WindowOfStore, now: number): boolean {
        const [, , , lengthMs] = JSON.parse(key) as [string, string, number, number]
        return super.isOpen(key, window, now) && (lengthMs < 2 ** 31 || now < window.startedAt + 1)
      }
    },
  },
  {
    fault: 'a clock that steps back closes windows',
    Store: class extends MapStore {
      override isOpen(key: string, window: WindowOfStore, now: number): boolean {
        return window.startedAt <= now && super.isOpen(key, window, now)
      }
    },
  },
  {
    fault: 'a window in the far future is never moved',
    unseenByHistories: true,
    Store: class extends MapStore {
      override reanchor(): void {
        this.clock.now()
      }
    },
  },
  {
    fault: 'a window that is moved to the present forgets what was used',
    Store: class extends MapStore {
      override reanchor(key: string, now: number): void {
        const window = this.windows.get(key)
        if (window !== undefined && window.startedAt - now > 5_000) window.used = 0
        super.reanchor(key, now)
      }
    },
  },
  {
    fault: 'a reset closes all categories',
    Store: class extends MapStore {
      override reset(request: ResetRequest): void {
        super.reset({ ...request, categories: (this.schema?.categories ?? []).map((_, index) => index) })
      }
    },
  },
  {
    fault: 'a reset does nothing',
    Store: class extends MapStore {
      override reset(): void {
        this.clock.now()
      }
    },
  },
  {
    fault: 'categories share their counters',
    Store: class extends MapStore {
      override keys(subject: Subject, _: number, layers: readonly number[]): string[] {
        return super.keys(subject, 0, layers)
      }
    },
  },
  {
    fault: 'the shared layer is counted for each subject',
    Store: class extends MapStore {
      override keys(subject: Subject, category: number, layers: readonly number[]): string[] {
        return super.keys(subject, category, layers).map((key) => JSON.stringify([...JSON.parse(key), subject]))
      }
    },
  },
  { fault: 'live counters are evicted', Store: EvictsTheOldest },
  { fault: 'store_full comes after a part was charged', Store: FullTooLate, capabilities: ['ids', 'sync', 'bounded'] },
  {
    fault: 'unlimited room where a bound was promised',
    Store: MapStore,
    capabilities: ['ids', 'sync', 'bounded'],
    unseenByHistories: true,
  },
  {
    fault: 'texts that differ in lone surrogates are one',
    Store: rekeyed((text) => Buffer.from(text).toString()),
    unseenByHistories: true,
  },
  { fault: 'texts end at a NUL', Store: rekeyed((text) => text.split('\u0000')[0] ?? ''), unseenByHistories: true },
  { fault: 'texts are normalized', Store: rekeyed((text) => text.normalize()), unseenByHistories: true },
  { fault: 'texts are cut at 255 characters', Store: rekeyed((text) => text.slice(0, 255)), unseenByHistories: true },
  { fault: 'texts lose their spaces', Store: rekeyed((text) => text.trim()), unseenByHistories: true },
  {
    fault: 'another schema is taken in silence',
    unseenByHistories: true,
    Store: class extends MapStore {
      override attach(schema: StoreSchema): void {
        this.schema ??= schema
      }
    },
  },
  {
    fault: 'tokens are counted in 32 bits',
    unseenByHistories: true,
    Store: class extends MapStore {
      override charge(key: string, cost: number, now: number): void {
        super.charge(key, cost, now)
        const window = this.windows.get(key)
        if (window !== undefined) window.used %= 2 ** 32
      }
    },
  },
  {
    fault: 'what is used grows beyond safe integers',
    unseenByHistories: true,
    Store: class extends MapStore {
      override charge(key: string, cost: number, now: number): void {
        const before = this.used(key, now)
        super.charge(key, cost, now)
        const window = this.windows.get(key)
        if (window !== undefined) window.used = before + cost
      }
    },
  },
  {
    fault: 'look and charge are two steps',
    Store: NotAtomic,
    capabilities: ['ids', 'clock-steps'],
    unseenByHistories: true,
  },
  {
    fault: 'a refusal shows empty windows',
    Store: class extends MapStore {
      override decide(request: TakeRequest, now: number): TakeReply {
        const reply = super.decide(request, now)
        return reply.outcome === 'refused' ? { ...reply, states: reply.states.map(() => 0) } : reply
      }
    },
  },
]
