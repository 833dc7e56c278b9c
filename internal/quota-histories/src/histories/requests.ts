import type {
  CellSchema,
  Counters,
  QuotaStore,
  ReservationId,
  StoreSchema,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'

/** Returns a schema with one row per subject, all of whose cells count. */
export function oneRow(cells: readonly CellSchema[]): StoreSchema {
  return { units: ['tokens'], layers: [{ name: 'personal', shared: false, cells }], sets: [[...cells.keys()]] }
}

/** Returns the cells of a schema in the order of a state. */
export function cellsOf({ layers }: StoreSchema): readonly CellSchema[] {
  return layers.flatMap(({ cells }) => cells)
}

/** Requests to a subject's only row, in schemas with one layer, one set and tokens. */
export class Requests {
  readonly schema: StoreSchema
  readonly #limits: readonly number[]
  readonly #opened = new Map<QuotaStore, Counters>()

  /** @param limits per cell */
  constructor(schema: StoreSchema, limits: readonly number[]) {
    this.schema = schema
    this.#limits = limits
  }

  /** The counters of a store, opened once. */
  on(store: QuotaStore): Counters {
    const counters = this.#opened.get(store) ?? store.open(this.schema)
    this.#opened.set(store, counters)
    return counters
  }

  /** The members that every request about tokens has. */
  of(subject: string, tokens: number, slot = false): Pick<TakeRequest, 'subject' | 'set' | 'quotas' | 'costs'> {
    return { subject, set: 0, quotas: { layers: [0], limits: this.#limits }, costs: [tokens, Number(slot)] }
  }

  async take(store: QuotaStore, subject: string, tokens: number): Promise<TakeReply> {
    return this.on(store).take(this.of(subject, tokens))
  }

  async reset(store: QuotaStore, subject: string): Promise<void> {
    await this.on(store).reset({ subject, limits: this.schema.sets[0] ?? [] })
  }

  /** `[startedAt, used]` of each cell. */
  async read(store: QuotaStore, subject: string): Promise<number[]> {
    const { states } = await this.on(store).read({ subject, set: 0, layers: [0] })
    return [...states]
  }
}

/** The id of a process, remembered long after its hold. */
export function idOf(party: string): ReservationId {
  return { id: party, nonce: party, fingerprint: 'hold', ttlMs: 600_000 }
}

/** Plays a history's moves. Errors include all of them. */
export async function playAll<Move extends string>(
  of: string,
  history: readonly Move[],
  play: (move: Move) => Promise<void>,
): Promise<void> {
  try {
    for (const move of history) await play(move)
  } catch (cause) {
    throw new Error(`a history of ${of} goes wrong: ${history.join(', ')}`, { cause })
  }
}
