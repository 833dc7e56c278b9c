import { systemStopwatch } from '../time/clock.ts'
import { Heap } from './heap.ts'
import type { Alarm } from './waiter.ts'

/** All alarms of a queue, with one timer. It keeps the process alive while there is an alarm. */
export class Alarms {
  readonly #alarms: Heap<Alarm> = new Heap((a, b) => a.due < b.due)
  readonly #ring: (due: readonly Alarm[]) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Tests replace the global timers, and those that were set before never fire then. */
  #setBy: typeof setTimeout | undefined
  #timerDue = Number.POSITIVE_INFINITY

  /** @param ring called with the alarms that are due; they are no longer set */
  constructor(ring: (due: readonly Alarm[]) => void) {
    this.#ring = ring
  }

  /** Sets an alarm, or moves it. Call {@link start} afterwards. */
  put(alarm: Alarm): void {
    this.#alarms.put(alarm)
  }

  remove(alarm: Alarm): void {
    this.#alarms.remove(alarm)
  }

  /** Sets the timer for the next alarm. If it fires early, nothing is due and it is set again. */
  start(): void {
    const due = this.#alarms.first?.due ?? Number.POSITIVE_INFINITY
    const isSet = due === this.#timerDue || (due > this.#timerDue && due < Number.POSITIVE_INFINITY)
    if (isSet && this.#setBy === setTimeout) return
    clearTimeout(this.#timer)
    this.#timerDue = due
    this.#setBy = setTimeout
    if (due < Number.POSITIVE_INFINITY)
      this.#timer = setTimeout(() => this.#rang(), Math.max(0, Math.ceil(due - systemStopwatch())))
  }

  #rang(): void {
    this.#timerDue = Number.POSITIVE_INFINITY
    const now = systemStopwatch()
    const due: Alarm[] = []
    for (let first = this.#alarms.first; first !== undefined && first.due <= now; first = this.#alarms.first) {
      this.#alarms.remove(first)
      due.push(first)
    }
    this.#ring(due)
  }
}
