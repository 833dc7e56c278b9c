import type { MeteredRequest } from './metered-request.ts'

/** Where a request keeps its quotas. Shared by all copies of this package. */
const EXCHANGE: unique symbol = Symbol.for('@scoregw/quota/http') as never

interface Carrier {
  [EXCHANGE]?: Exchange
}

const NO_FIELDS: Readonly<Record<string, string>> = {}

/** A request and its response, as everything sees them that meters it: their quotas, the newest first. */
export class Exchange {
  /** The exchange of a request, made when it is metered first. */
  static of(carrier: object): Exchange {
    const known = (carrier as Carrier)[EXCHANGE]
    if (known !== undefined) return known
    const made = new Exchange()
    ;(carrier as Carrier)[EXCHANGE] = made
    return made
  }

  /** The exchange of a request that is metered. */
  static find(carrier: object): Exchange | undefined {
    return (carrier as Carrier)[EXCHANGE]
  }

  readonly #metered: MeteredRequest[] = []
  /** The fields that {@link headersFor} answered with last. */
  #told: Readonly<Record<string, string>> = NO_FIELDS

  get newest(): MeteredRequest | undefined {
    return this.#metered[0]
  }

  /** Whether the end of the response settles anything. */
  get settlesAtEnd(): boolean {
    return this.#metered.some((metered) => metered.settlesAtEnd)
  }

  add(metered: MeteredRequest): void {
    this.#metered.unshift(metered)
  }

  /** Whether an engine has decided about the request already. */
  isMeteredBy(engine: object): boolean {
    return this.#metered.some((metered) => metered.engine === engine)
  }

  /** Whether a head with this status will have to wait for a store. */
  holdsBack(status: number, isHungUp: boolean): boolean {
    return this.#metered.some((metered) => metered.pending !== undefined || metered.gives(status, isHungUp))
  }

  /**
   * The fields to set on a head with this status, in place of those that are there.
   *
   * @param present what the head has of a field already: lists of others stay, with ours behind them
   */
  headersFor(
    status: number,
    isHungUp: boolean,
    present: (name: string) => string | undefined,
  ): Readonly<Record<string, string>> {
    let fields: Record<string, string> | undefined
    for (const metered of this.#metered) {
      const own = metered.fields(status, isHungUp)
      if (own === undefined) continue
      if (fields === undefined) fields = own
      else fields = joined(fields, own)
    }
    if (fields === undefined) return NO_FIELDS
    const told = this.#told
    this.#told = fields
    for (const name in fields) {
      const others = present(name)
      if (others !== undefined && others !== told[name]) return this.#behind(fields, present, told)
    }
    return fields
  }

  #behind(
    fields: Readonly<Record<string, string>>,
    present: (name: string) => string | undefined,
    told: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> {
    const entries = Object.entries(fields).map(([name, text]) => {
      const others = present(name)
      return [name, others === undefined || others === told[name] ? text : `${others}, ${text}`]
    })
    return Object.fromEntries(entries) as Record<string, string>
  }

  /** Settles by the status of the head. @returns what the head has to wait for; it never rejects */
  settle(status: number, isHungUp: boolean): Promise<void> | undefined {
    for (const metered of this.#metered) metered.judge(status, isHungUp)
    return this.pending
  }

  /** Settles what the last byte settles. @returns what it has to wait for; it never rejects */
  end(): Promise<void> | undefined {
    for (const metered of this.#metered) metered.end()
    return this.pending
  }

  /** Settlements under way; never rejects. */
  get pending(): Promise<void> | undefined {
    let all: Promise<unknown> | undefined
    for (const { pending } of this.#metered) {
      if (pending !== undefined) all = all === undefined ? pending : Promise.all([all, pending])
    }
    return all?.then(() => undefined)
  }

  /** The handler is known to have failed: what is not settled yet goes back. Never rejects. */
  async cancel(): Promise<void> {
    // A cancel that fails was told to the logger; the error at hand is what the caller must hear.
    await Promise.allSettled(this.#metered.map((metered) => metered.cancel()))
  }
}

function joined(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = { ...a }
  for (const [name, text] of Object.entries(b)) all[name] = all[name] === undefined ? text : `${all[name]}, ${text}`
  return all
}
