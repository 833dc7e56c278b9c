import { Outbox } from '../../src/calls/calls.ts'
import type { Batched } from '../../src/calls/delivery.ts'
import type { SharedAnswer } from '../../src/leases/shared-answer.ts'
import type { SharedPool } from '../../src/leases/shared-pool.ts'
import type { Costs } from './costs.ts'
import { Processor, type Waits } from './machines.ts'
import { anyGroup, gapUs } from './requests.ts'
import type { Timeline } from './timeline.ts'

export interface AskerDeps {
  readonly timeline: Timeline
  readonly costs: Costs
  readonly random: () => number
  readonly perSecond: number
  /** Without: every decision is one server's. */
  readonly pool: SharedPool | undefined
  readonly limits: readonly number[]
  readonly servers: readonly Processor[]
  readonly groups: number
  readonly counted: { waits: Waits; admitted: number; refused: number; calls: number; decisions: number }
}

/** A request by when it came. */
interface Waiting {
  readonly atUs: number
}

/** Most that a script call does. */
const MOST = 170

class Call implements Batched<Waiting> {
  readonly operations: Waiting[] = []

  get isFull(): boolean {
    return this.operations.length >= MOST
  }

  add(operation: Waiting): void {
    this.operations.push(operation)
  }
}

/** A process that asks: its event loop takes turns; what it requests in one goes out at the end of it. */
export class Asker {
  readonly processor: Processor = new Processor()
  readonly #parts: AskerDeps
  readonly #outboxes: readonly Outbox<Waiting, Call>[]
  readonly #underWay: number[]
  /** Answers that have arrived, and requests that the site has let through. */
  readonly #arrived: Call[] = []
  readonly #letThrough: Waiting[] = []
  #atEnd: (() => void)[] = []
  #nextUs = 0
  #wakesUs = Number.POSITIVE_INFINITY
  #endUs = 0
  /** Turns of this process's real event loop that the pool may need before the virtual clock goes on. */
  #turns = 0
  #refreshed: Promise<void> | undefined
  #costUs = 0

  constructor(parts: AskerDeps) {
    this.#parts = parts
    const groups = parts.pool === undefined ? 1 : parts.groups
    this.#underWay = Array.from({ length: groups }, () => 0)
    const tick = {
      atEnd: (send: () => void): void => void this.#atEnd.push(send),
      after: (ms: number, send: () => void) => this.#after(ms, send),
    }
    const newBatch = (): Call => new Call()
    this.#outboxes = this.#underWay.map((_, group) => {
      const send = (call: Call): Promise<void> => this.#send(group, call)
      return new Outbox({ tick, newBatch, send, inFlight: () => this.#underWay[group]! })
    })
  }

  start(endUs: number): void {
    this.#endUs = endUs
    this.#nextUs = gapUs(this.#parts.perSecond, this.#parts.random)
    this.#wake(this.#nextUs)
  }

  /** Whether the pool may still do something at this instant of the virtual clock; each look is a turn less. */
  takesTurns(): boolean {
    return this.#turns > 0 && this.#turns-- > 0
  }

  #wake(atUs: number): void {
    const at = Math.max(atUs, this.processor.freeAtUs)
    if (at >= this.#wakesUs) return
    this.#wakesUs = at
    this.#parts.timeline.at(at, () => {
      if (this.#wakesUs === at) this.#turn()
    })
  }

  #turn(): void {
    const { timeline, costs, perSecond, random, counted } = this.#parts
    this.#wakesUs = Number.POSITIVE_INFINITY
    this.#costUs = 0
    const answered = this.#arrived.splice(0)
    for (const waiting of this.#letThrough.splice(0)) this.#ask(waiting)
    while (this.#nextUs <= timeline.nowUs) {
      this.#request({ atUs: this.#nextUs })
      this.#nextUs += gapUs(perSecond, random)
    }
    const sends = this.#atEnd
    this.#atEnd = []
    for (const send of sends) send()
    const endsUs = this.processor.work(timeline.nowUs, this.#costUs + answered.length * (costs.nodeCallUs / 2))
    for (const { operations } of answered) {
      counted.admitted += operations.length
      for (const { atUs } of operations) counted.waits.add(endsUs - atUs)
    }
    if (this.#nextUs < this.#endUs) this.#wake(Math.max(endsUs, this.#nextUs))
    if (this.#arrived.length > 0) this.#wake(endsUs)
  }

  #request(waiting: Waiting): void {
    const { pool, costs, limits } = this.#parts
    this.#costUs += costs.nodeDecisionUs
    if (pool === undefined) {
      this.#ask(waiting)
      return
    }
    const answer = pool.take({ costs: [1], limits, settingsRevision: undefined, periods: undefined, mayOpen: true })
    // A lease that runs low is renewed in the background.
    if (pool.refreshed !== this.#refreshed || answer instanceof Promise) this.#turns = 3
    this.#refreshed = pool.refreshed
    if (answer instanceof Promise) void answer.then((late) => this.#answeredLate(late, waiting))
    else if (this.#isCharged(answer)) this.#ask(waiting)
  }

  #answeredLate(answer: SharedAnswer, waiting: Waiting): void {
    if (!this.#isCharged(answer)) return
    this.#letThrough.push(waiting)
    this.#wake(this.#parts.timeline.nowUs)
  }

  #isCharged({ outcome }: SharedAnswer): boolean {
    if (outcome !== 'charged') this.#parts.counted.refused++
    return outcome === 'charged'
  }

  #ask(waiting: Waiting): void {
    const { groups, random } = this.#parts
    const group = this.#outboxes.length === 1 ? 0 : anyGroup(random) % groups
    this.#underWay[group]! += 1
    this.#outboxes[group]!.add(waiting)
  }

  #after(ms: number, send: () => void): () => void {
    const { timeline } = this.#parts
    let isWanted = true
    timeline.at(timeline.nowUs + ms * 1000, () => {
      if (!isWanted) return
      this.#atEnd.push(send)
      this.#wake(timeline.nowUs)
    })
    return () => {
      isWanted = false
    }
  }

  #send(group: number, call: Call): Promise<void> {
    const { timeline, costs, servers, counted } = this.#parts
    const size = call.operations.length
    const server = servers[group % servers.length]!
    counted.calls++
    counted.decisions += size
    this.#costUs += costs.nodeCallUs / 2
    return new Promise((answered) => {
      // It leaves with the end of the turn, whose length is known by what it has cost so far.
      timeline.at(timeline.nowUs + this.#costUs + costs.networkUs, () => {
        const doneUs = server.work(timeline.nowUs, costs.serverCallUs + size * costs.serverDecisionUs)
        timeline.at(doneUs + costs.networkUs, () => {
          this.#underWay[group]! -= size
          this.#arrived.push(call)
          this.#wake(timeline.nowUs)
          answered()
        })
      })
    })
  }
}
