import type { EndedHold } from '../one-unit.ts'
import type { RecordName } from '../store/keys.ts'
import { CODES } from './codes.ts'
import { type HoldDesk, type HoldFacts, HoldOperation } from './hold-operation.ts'
import type { Call, Replay, Waiter } from './operation.ts'

/** Which record, by what its key has behind the prefix. */
export interface NamedRecord extends RecordName {
  readonly name: string
}

/** The end of a hold whose time has come; `undefined` where it has not, or somebody else was first. */
export class SweepOperation extends HoldOperation<EndedHold | undefined> {
  readonly #record: NamedRecord

  constructor(record: NamedRecord, waiter: Waiter<EndedHold | undefined>, desk: HoldDesk) {
    super(waiter, desk)
    this.#record = record
  }

  encode(call: Call): void {
    call.code(CODES.SWEEP)
    this.target(call, [], call.named(this.#record.name), call.named(this.#record.indexOfOwner))
  }

  protected reply(_: Replay, letter: string, facts: HoldFacts): EndedHold | undefined {
    if (letter !== 'y') return undefined
    const [category, owner, fingerprint, tokens, endsAt] = facts as [string, string, string, number, number]
    return { category, owner, fingerprint, tokens, endsAt }
  }
}
