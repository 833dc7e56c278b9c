import { randomBytes } from 'node:crypto'
import type { GrowRequest, HoldReply } from '@scoregw/quota/store'
import { CODES } from './codes.ts'
import { HOLD_OUTCOMES } from './hold-extend.ts'
import { encodeTariff, type HoldFacts, HoldOperation } from './hold-operation.ts'
import type { Call, Operation, Replay, Waiter } from './operation.ts'

/** Bytes of what tells growths of one hold apart: 8 characters. */
const GROWTH_BYTES = 6

/** More tokens for a hold. */
export class GrowOperation extends HoldOperation<HoldReply> {
  readonly #request: GrowRequest
  /** The record keeps it, so that a growth whose answer was lost is not charged again. */
  readonly #growth = randomBytes(GROWTH_BYTES).toString('base64url')

  constructor(request: GrowRequest, waiter: Waiter<HoldReply>, askAgain: (operation: Operation) => void) {
    super(waiter, askAgain)
    this.#request = request
  }

  encode(call: Call): void {
    const { quotas, id, tokens } = this.#request
    encodeTariff(call, CODES.GROW, { ...this.#request, cost: tokens })
    this.targetOf(call, this.#request, quotas.layers)
    call.words(id.nonce, this.#growth)
  }

  protected reply(replay: Replay, letter: string, [endsAt]: HoldFacts): HoldReply {
    const { quotas, periods } = this.#request
    const { now } = replay
    const outcome = HOLD_OUTCOMES[letter]!
    if (letter === 's') return { outcome, now, states: [], settingsRevision: replay.settingsRevision }
    if (outcome !== 'held' && outcome !== 'refused') return { outcome, now, states: [] }
    const states = this.states(replay, quotas.layers.length, periods)
    return outcome === 'held' ? { outcome, now, endsAt: Number(endsAt), states } : { outcome, now, states }
  }
}
