import { PERIOD_NUMBERS, type TakeRequest } from '@scoregw/quota/store'
import type { Keys } from '../../store/keys.ts'

/** What takes have in common; said once in a batch for all that do. */
export type LeaseTermsRequest = Pick<TakeRequest, 'quotas' | 'category' | 'settingsRevision' | 'periods' | 'subject'>

/** Terms of a batch, and the rows of a take under them: those that everybody shares first, then the subject's own. */
export interface Terms extends Omit<LeaseTermsRequest, 'subject'> {
  /** Where they stand among the numbers of all terms, from 1. */
  readonly number: number
  /** Which of the request's layers are the subject's own, by their places in `quotas.layers`. */
  readonly own: readonly number[]
  /** Where each row stands in `quotas.layers`, shared ones first. */
  readonly order: readonly number[]
  /** Places of the rows that everybody shares. */
  readonly shared: readonly number[]
}

/** How many numbers of a batch stand before the lengths of windows, which kinds stand behind. */
export const HEAD_NUMBERS = 7

/** No period has these: the script finds its clock outside of them. */
const UNKNOWN = 0

/** The terms and kinds of one batch, as `lua/terms.lua` reads them. */
export class TermsTable {
  readonly #keys: Keys
  readonly #known: Terms[] = []
  /** Requested last, and likely to be requested again. */
  #last: Terms | undefined
  /** By their numbers as text. */
  readonly #kinds = new Map<string, number>()
  readonly #revisions: string[] = []
  readonly kindNumbers: number[] = []
  readonly termNumbers: number[] = []

  constructor(keys: Keys) {
    this.#keys = keys
  }

  get revisions(): readonly string[] {
    return this.#revisions
  }

  /** @param firstText which of the script's arguments the first revision is */
  of(request: LeaseTermsRequest, firstText: number, placeOf: (layer: number) => number): Terms {
    const last = this.#last
    if (last !== undefined && areTerms(last, request)) return last
    const known = this.#known.find((terms) => areTerms(terms, request)) ?? this.#add(request, firstText, placeOf)
    this.#last = known
    return known
  }

  #add(request: LeaseTermsRequest, firstText: number, placeOf: (layer: number) => number): Terms {
    const { quotas, category, settingsRevision, periods } = request
    const { layers } = this.#keys.schema
    const slots = [...quotas.layers.keys()]
    const isShared = (slot: number): boolean => layers[quotas.layers[slot]!]!.shared
    const sharedSlots = slots.filter(isShared)
    const own = slots.filter((slot) => !isShared(slot))
    const shared = sharedSlots.map((slot) => placeOf(quotas.layers[slot]!))
    const revision = settingsRevision === undefined ? 0 : firstText + this.#revisionOf(settingsRevision)
    const order = [...sharedSlots, ...own]
    const number = this.termNumbers.length + 1
    const kinds = order.map((slot) => this.#kindOf(request, slot))
    this.termNumbers.push(revision, shared.length, own.length, ...kinds, ...shared)
    const terms: Terms = { quotas, category, settingsRevision, periods, number, own, order, shared }
    this.#known.push(terms)
    return terms
  }

  #revisionOf(revision: string): number {
    const known = this.#revisions.indexOf(revision)
    return known === -1 ? this.#revisions.push(revision) - 1 : known
  }

  /** The kind of one row of a request: how many of the batch's numbers stand before it. */
  #kindOf({ quotas, periods }: LeaseTermsRequest, slot: number): number {
    const { layout } = this.#keys
    const numbers = layout.limitsOf(quotas.limits, slot)
    const from = layout.periodsAt(slot)
    for (let i = 0; i < PERIOD_NUMBERS * layout.calendars.length; i++) numbers.push(periods?.[from + i] ?? UNKNOWN)
    const name = numbers.join()
    const known = this.#kinds.get(name)
    if (known !== undefined) return known
    const number = HEAD_NUMBERS + layout.lengthsMs.length + this.kindNumbers.length
    this.kindNumbers.push(...numbers)
    this.#kinds.set(name, number)
    return number
  }
}

function areTerms(terms: Terms, { quotas, category, settingsRevision, periods }: LeaseTermsRequest): boolean {
  return (
    terms.quotas === quotas &&
    terms.category === category &&
    terms.settingsRevision === settingsRevision &&
    terms.periods === periods
  )
}
