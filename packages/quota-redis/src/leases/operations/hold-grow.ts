import { randomBytes } from 'node:crypto'
import type { GrowRequest, HoldReply } from '@scoregw/quota/store'
import type { LeaseBatch } from './batch.ts'
import { encodeTerms, HOLD_OUTCOMES, type HoldDesk, type HoldFacts, HoldOperation } from './hold-operation.ts'
import { encodeShared, type SharedCharge } from './hold-shared.ts'
import type { Waiter } from './operation.ts'
import type { LeaseReplay } from './replay.ts'

/** Bytes of a mark: 8 characters. */
const GROWTH_BYTES = 6

/** Identifies a growth or a take among all others: 8 characters. */
export function newMark(): string {
  return randomBytes(GROWTH_BYTES).toString('base64url')
}

/** The answer to a growth, also where its first answer was lost and the hold has ended since. */
export interface Grown extends HoldReply {
  /** Of a hold that does not grow any more: it did, by this growth. */
  readonly hasGrown?: boolean
  /** Of one that was not made: it may be yet, as it was sent twice. */
  readonly isInDoubt?: boolean
}

/** What makes a growth one and no other. */
export interface GrowthTerms {
  /** The record keeps it, so that a growth whose answer was lost is not charged again. */
  readonly mark: string
  readonly shared: SharedCharge | undefined
}

/** More for a hold. */
export class GrowOperation extends HoldOperation<Grown> {
  readonly #request: GrowRequest
  readonly #terms: GrowthTerms

  constructor(request: GrowRequest, terms: GrowthTerms, waiter: Waiter<Grown>, desk: HoldDesk) {
    super(waiter, desk)
    this.#request = request
    this.#terms = terms
  }

  encode(batch: LeaseBatch): void {
    const { quotas, id, costs } = this.#request
    batch.code('GROW')
    this.targetOf(batch, this.#request, quotas.layers)
    encodeTerms(batch, this.#request)
    batch.amounts(costs, batch.keys.schema.units.length + 1)
    batch.text(id.nonce, this.#terms.mark)
    encodeShared(batch, this.#terms.shared)
  }

  protected reply(replay: LeaseReplay, letter: string, [endsAt, wasMade]: HoldFacts): Grown {
    const { quotas, periods, costs } = this.#request
    const { now } = replay
    const outcome = HOLD_OUTCOMES[letter]!
    const doubt = this.isRepeated ? { isInDoubt: true } : undefined
    if (letter === 's') return { outcome, now, states: [], settingsRevision: replay.settingsRevision, ...doubt }
    if (wasMade === 1) return { outcome, now, states: [], hasGrown: true }
    if (outcome !== 'held' && outcome !== 'refused') return { outcome, now, states: [], ...doubt }
    const charged = outcome === 'held' ? costs : undefined
    const states = this.states(replay, quotas.layers.length, periods, charged)
    return outcome === 'held' ? { outcome, now, endsAt: Number(endsAt), states } : { outcome, now, states, ...doubt }
  }
}
