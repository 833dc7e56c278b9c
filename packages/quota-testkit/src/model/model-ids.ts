import type { Clock } from '@scoregw/quota'

/** What is known of an id. */
interface ModelId {
  state: 'reserved' | 'settled' | 'cancelled'
  readonly holder: string
  readonly use: string
  keptUntil: number
}

/** The answer to another holder's reservation under an id; `new`: nobody used it, so the counters decide. */
export type IdAnswer = 'new' | 'duplicate' | 'cancelled' | 'conflict'

/** Ids of reservations: one charge each while they are remembered. */
export class ModelIds {
  readonly #clock: Clock
  readonly #ttlMs: number
  readonly #ids = new Map<string, ModelId>()

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock
    this.#ttlMs = ttlMs
  }

  /** @param use what the id is used for; another use of the same id is a conflict */
  ask(id: string, use: string): IdAnswer {
    const known = this.#find(id)
    if (known === undefined) return 'new'
    if (known.use !== use) return 'conflict'
    return known.state === 'cancelled' ? 'cancelled' : 'duplicate'
  }

  reserved(id: string, holder: string, use: string): void {
    this.#ids.set(id, { state: 'reserved', holder, use, keptUntil: this.#keptUntil() })
  }

  /** Ends a reservation; whether the tokens go back: only for the holder who reserved, and once. */
  settle(id: string, holder: string, use: string, state: 'settled' | 'cancelled'): boolean {
    const known = this.#find(id)
    if (known === undefined) {
      if (state === 'cancelled') this.#ids.set(id, { state, holder, use, keptUntil: this.#keptUntil() })
      return false
    }
    if (known.state !== 'reserved' || known.holder !== holder) return false
    known.state = state
    known.keptUntil = this.#keptUntil()
    return true
  }

  /** The instants at which ids that are known now will be forgotten. */
  ends(): number[] {
    return [...this.#ids.values()].map(({ keptUntil }) => keptUntil).filter((end) => end > this.#clock.now())
  }

  /** Whether some id was forgotten between two instants. */
  forgetsBetween(after: number, until: number): boolean {
    return [...this.#ids.values()].some(({ keptUntil }) => after < keptUntil && keptUntil <= until)
  }

  #find(id: string): ModelId | undefined {
    const known = this.#ids.get(id)
    return known !== undefined && this.#clock.now() < known.keptUntil ? known : undefined
  }

  #keptUntil(): number {
    return this.#clock.now() + this.#ttlMs
  }
}
