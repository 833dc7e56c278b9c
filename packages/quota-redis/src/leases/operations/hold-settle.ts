import type { SettleHoldOutcome, SettleHoldReply, SettleHoldRequest } from '@scoregw/quota/store'
import type { LeaseBatch } from './batch.ts'
import { encodeTerms, type HoldDesk, type HoldFacts, HoldOperation } from './hold-operation.ts'
import type { Waiter } from './operation.ts'
import type { LeaseReplay } from './replay.ts'

const OUTCOMES: Readonly<Record<string, SettleHoldOutcome>> = {
  y: 'settled',
  v: 'above',
  e: 'expired',
  x: 'cancelled',
  n: 'unknown',
  s: 'stale',
  t: 'stale',
}

/** Of a unit whose actual cost is what the hold has. */
const AS_HELD = -1

/** The end of a hold by its holder. */
export class SettleHoldOperation extends HoldOperation<SettleHoldReply> {
  readonly #request: SettleHoldRequest
  #units = 0

  constructor(request: SettleHoldRequest, waiter: Waiter<SettleHoldReply>, desk: HoldDesk) {
    super(waiter, desk)
    this.#request = request
  }

  encode(batch: LeaseBatch): void {
    const { subject, category, quotas, periods, id, as, actual, overrun, maxOverrun } = this.#request
    this.#units = batch.keys.schema.units.length
    batch.code('SETTLE_HOLD')
    this.targetOf(batch, this.#request, quotas.layers)
    // The additional charge goes by the limits of the request, whatever settings are in force.
    encodeTerms(batch, { subject, category, quotas, periods, settingsRevision: undefined })
    batch.numbers([id.ttlMs])
    batch.amounts(batch.keys.schema.units.map((_, unit) => actual?.[unit] ?? AS_HELD))
    batch.amounts(maxOverrun)
    batch.text(as === 'committed' ? 'C' : 'X', id.nonce, id.fingerprint, overrun)
  }

  protected reply(replay: LeaseReplay, letter: string, [hasCharged = 0, ...facts]: HoldFacts): SettleHoldReply {
    const { quotas, periods } = this.#request
    const amounts = (index: number): number[] =>
      Array.from({ length: this.#units }, (_, unit) => Number(facts[index * this.#units + unit] ?? 0))
    const states = hasCharged === 1 ? this.states(replay, quotas.layers.length, periods) : []
    // Of a repeat nothing is said that it added.
    const added = facts.length > 3 * this.#units ? amounts(3) : undefined
    const settled = { charged: amounts(0), uncharged: amounts(1), reserved: amounts(2), added }
    return { ...settled, outcome: OUTCOMES[letter]!, now: replay.now, states }
  }
}
