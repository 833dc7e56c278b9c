import type { Quotas } from '@scoregw/quota/store'
import type { TakeRequest } from '../one-unit.ts'

/** What a tariff is made of. */
export type TariffTerms = Pick<TakeRequest, 'quotas' | 'cost' | 'category' | 'settingsRevision' | 'periods'> & {
  readonly subject: TakeRequest['subject']
}

/** What decisions have in common; said once for all of them. */
interface Tariff extends Omit<TariffTerms, 'subject'> {
  readonly number: number
}

/** Whether a request has those terms. */
export function isOf(
  tariff: Omit<TariffTerms, 'subject'>,
  { quotas, cost, category, settingsRevision, periods }: TariffTerms,
): boolean {
  return (
    tariff.quotas === quotas &&
    tariff.cost === cost &&
    tariff.category === category &&
    tariff.settingsRevision === settingsRevision &&
    tariff.periods === periods
  )
}

/** The tariffs of one batch, numbered from 0. */
export class Tariffs {
  readonly #known = new Map<Quotas, Tariff[]>()
  /** Asked for last, and likely to be asked for again. */
  #last: Tariff | undefined
  #count = 0

  get count(): number {
    return this.#count
  }

  /** The number of a request's tariff; a new one is told to `add` first. */
  numberOf(request: TariffTerms, add: (request: TariffTerms) => void): number {
    if (this.#last !== undefined && isOf(this.#last, request)) return this.#last.number
    const { quotas, cost, category, settingsRevision, periods } = request
    const tariffs = this.#known.get(quotas) ?? []
    this.#known.set(quotas, tariffs)
    this.#last = tariffs.find((tariff) => isOf(tariff, request))
    if (this.#last !== undefined) return this.#last.number
    this.#last = { quotas, cost, category, settingsRevision, periods, number: this.#count++ }
    tariffs.push(this.#last)
    add(request)
    return this.#last.number
  }
}
