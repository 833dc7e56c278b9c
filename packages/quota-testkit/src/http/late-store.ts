import { memoryStore, type QuotaStore } from '@scoregw/quota'

/** A promise with its ends in hand. */
export interface Latch {
  readonly promise: Promise<void>
  open(): void
}

export function latch(): Latch {
  let open!: () => void
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

/** How a call is answered: soon, when it is let go, or not at all. */
export type StoreMood = 'here' | 'held' | 'away'

/** Says how a store over a network behaves. */
export class StoreMoods {
  takes: StoreMood = 'here'
  settles: StoreMood = 'here'
  #let = latch()
  readonly #settling = latch()

  /** Resolves when something was settled, or is to be. */
  get settling(): Promise<void> {
    return this.#settling.promise
  }

  set(takes: StoreMood, settles: StoreMood): void {
    this.takes = takes
    this.settles = settles
  }

  /** Answers the calls that are held, and those to come. */
  letGo(): void {
    this.set('here', 'here')
    this.#let.open()
    this.#let = latch()
  }

  async before(call: 'takes' | 'settles'): Promise<void> {
    if (call === 'settles') this.#settling.open()
    if (this[call] === 'held') await this.#let.promise
    if (this[call] === 'away') throw new Error('connection refused')
  }
}

/** Counters in memory that answer later, as a store over a network does; how late is in the suite's hands. */
export function lateStore(clock: { now(): number }, moods: StoreMoods): QuotaStore {
  return late(memoryStore({ clock }), moods) as QuotaStore
}

/** Ports made when the counters are opened are late too. */
function late<T extends object>(inner: T, moods: StoreMoods): T {
  return new Proxy(inner, {
    get(target, key) {
      if (key === 'sync') return false
      const value: unknown = Reflect.get(target, key)
      if (key === 'holds' && typeof value === 'object' && value !== null) return late(value, moods)
      if (typeof value !== 'function') return value
      const call = (...args: unknown[]): unknown => Reflect.apply(value, target, args)
      if (key === 'close') return call
      if (key === 'open') return (...args: unknown[]) => late(call(...args) as object, moods)
      return async (...args: unknown[]) => {
        if (key === 'take') await moods.before('takes')
        if (key === 'settle') await moods.before('settles')
        return call(...args)
      }
    },
  })
}
