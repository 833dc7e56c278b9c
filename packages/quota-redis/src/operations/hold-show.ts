import type { Subject } from '@scoregw/quota/store'
import type { HoldRecord } from '../one-unit.ts'
import { CODES } from './codes.ts'
import { type HoldDesk, type HoldFacts, HoldOperation } from './hold-operation.ts'
import type { NamedRecord } from './hold-sweep.ts'
import type { Call, Replay, Waiter } from './operation.ts'

/** A look at a hold; `undefined` where it is not open any more. */
export class ShowOperation extends HoldOperation<HoldRecord | undefined> {
  readonly #record: NamedRecord
  readonly #subject: Subject
  readonly #ownLayer: number

  constructor(
    record: NamedRecord,
    { subject, ownLayer }: { readonly subject: Subject; readonly ownLayer: number },
    waiter: Waiter<HoldRecord | undefined>,
    desk: HoldDesk,
  ) {
    super(waiter, desk)
    this.#record = record
    this.#subject = subject
    this.#ownLayer = ownLayer
  }

  encode(call: Call): void {
    const { name, indexOfOwner, category } = this.#record
    call.code(CODES.SHOW)
    const row = call.row(this.#ownLayer, category, this.#subject)
    this.target(call, [row], call.named(name), call.named(indexOfOwner))
  }

  protected reply(_: Replay, letter: string, facts: HoldFacts): HoldRecord | undefined {
    if (letter !== 'y') return undefined
    const { category, id } = this.#record
    const [nonce, fingerprint, tokens, slots, takenAt, endsAt, ...charged] = facts as [
      string,
      string,
      number,
      number,
      number,
      number,
      ...number[],
    ]
    return { category, id, nonce, fingerprint, tokens, slot: slots > 0, takenAt, endsAt, charged }
  }
}
