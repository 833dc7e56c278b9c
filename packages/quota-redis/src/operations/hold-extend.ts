import type { ExtendRequest, HoldOutcome, HoldReply } from '@scoregw/quota/store'
import { CODES } from './codes.ts'
import { type HoldDesk, type HoldFacts, HoldOperation } from './hold-operation.ts'
import type { Call, Replay, Waiter } from './operation.ts'

/** What letters say of an open hold. */
export const HOLD_OUTCOMES: Readonly<Record<string, HoldOutcome>> = {
  y: 'held',
  r: 'refused',
  e: 'expired',
  z: 'settled',
  n: 'unknown',
  s: 'stale',
  t: 'stale',
}

/** A later end. */
export class ExtendOperation extends HoldOperation<HoldReply> {
  readonly #request: ExtendRequest

  constructor(request: ExtendRequest, waiter: Waiter<HoldReply>, desk: HoldDesk) {
    super(waiter, desk)
    this.#request = request
  }

  encode(call: Call): void {
    const { id, ttlMs } = this.#request
    call.code(CODES.EXTEND)
    this.targetOf(call, this.#request, [])
    call.words(id.nonce, ttlMs)
  }

  protected reply({ now }: Replay, letter: string, [endsAt]: HoldFacts): HoldReply {
    const outcome = HOLD_OUTCOMES[letter]!
    return outcome === 'held' ? { outcome, now, endsAt: Number(endsAt), states: [] } : { outcome, now, states: [] }
  }
}
