import type { SettleHoldOutcome } from '@scoregw/quota/store'
import type { SettleHoldReply, SettleHoldRequest } from '../one-unit.ts'
import { CODES } from './codes.ts'
import { encodeTariff, type HoldDesk, type HoldFacts, HoldOperation } from './hold-operation.ts'
import type { Call, Replay, Waiter } from './operation.ts'

const OUTCOMES: Readonly<Record<string, SettleHoldOutcome>> = {
  y: 'settled',
  v: 'above',
  e: 'expired',
  x: 'cancelled',
  n: 'unknown',
  s: 'stale',
  t: 'stale',
}

/** The end of a hold by its holder. */
export class SettleHoldOperation extends HoldOperation<SettleHoldReply> {
  readonly #request: SettleHoldRequest

  constructor(request: SettleHoldRequest, waiter: Waiter<SettleHoldReply>, desk: HoldDesk) {
    super(waiter, desk)
    this.#request = request
  }

  encode(call: Call): void {
    const { subject, category, quotas, periods, id, as, actual, overrun, maxOverrun } = this.#request
    // What is charged in addition goes by the limits that the request tells, whatever settings are in force.
    encodeTariff(call, CODES.SETTLE_HOLD, { subject, category, quotas, periods, cost: 0 })
    this.targetOf(call, this.#request, quotas.layers)
    const ends = [as === 'committed' ? 'C' : 'X', id.nonce, id.fingerprint, id.ttlMs]
    call.words(...ends, actual ?? '', overrun, maxOverrun)
  }

  protected reply(replay: Replay, letter: string, facts: HoldFacts): SettleHoldReply {
    const { quotas, periods } = this.#request
    const [charged = 0, uncharged = 0, reserved = 0, hasCharged, added] = facts.map(Number)
    const states = hasCharged === 1 ? this.states(replay, quotas.layers.length, periods) : []
    return { outcome: OUTCOMES[letter]!, now: replay.now, charged, uncharged, reserved, added, states }
  }
}
