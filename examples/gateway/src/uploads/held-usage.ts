import { randomUUID } from 'node:crypto'
import type { Clock, RefusedDecision } from '@scoregw/quota'
import type { OperationName } from '../quota/policy.ts'
import { refusingLimit } from '../usage/usage-record.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'

/** A user, and the operation of the held work. */
interface HeldWork {
  readonly userId: string
  readonly operation: OperationName
  readonly category: string
}

/** Records the outcomes of work whose tokens are held over several requests. */
export class HeldUsage {
  readonly #recorder: UsageRecorder
  readonly #clock: Clock

  constructor(recorder: UsageRecorder, clock: Clock) {
    this.#recorder = recorder
    this.#clock = clock
  }

  /** Records the final charge. */
  charged(work: HeldWork, tokens: number): void {
    this.#recorder.record({
      ...work,
      id: randomUUID(),
      at: this.#clock.now(),
      cost: tokens,
      status: 200,
      error: null,
      settingsVersion: null,
      refusal: null,
      charged: () => tokens,
      isOver: () => true,
    })
  }

  /** Records that more work was refused. */
  refused(work: HeldWork, decision: RefusedDecision): void {
    const { now: at, cost, settingsVersion } = decision
    this.#recorder.record({
      ...work,
      id: randomUUID(),
      ...{ at, cost, settingsVersion },
      status: 429,
      error: 'quota_exceeded',
      refusal: refusingLimit(decision),
      charged: () => 0,
      isOver: () => true,
    })
  }
}
