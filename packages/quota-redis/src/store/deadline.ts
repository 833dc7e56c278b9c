/**
 * A time limit that is judged fairly: when its timer fires late, because the process was busy, the socket gets one more
 * look before the limit is over.
 */
export class Deadline {
  readonly #timer: SharedTimer | OwnTimer
  readonly #onOver: () => void
  #state: 'running' | 'met' | 'over' = 'running'
  /** Made once it is awaited. */
  #settled: Promise<void> | undefined
  #settle: (() => void) | undefined

  /** @param hasOwnTimer whether it shares no timer with others */
  constructor(ms: number, onOver: () => void, hasOwnTimer = false) {
    this.#onOver = onOver
    this.#timer = hasOwnTimer ? new OwnTimer(ms) : timerOf(ms)
    this.#timer.add(this)
  }

  /** Resolves when the limit is over or ended. */
  get settled(): Promise<void> {
    this.#settled ??= new Promise((resolve) => {
      if (this.isRunning) this.#settle = resolve
      else resolve()
    })
    return this.#settled
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** Ends the limit; whether it was still running. */
  met(): boolean {
    return this.#end('met')
  }

  /** The time has come. */
  over(): void {
    if (this.#end('over')) this.#onOver()
  }

  #end(state: 'met' | 'over'): boolean {
    if (this.#state !== 'running') return false
    this.#state = state
    this.#timer.ended()
    this.#settle?.()
    return true
  }
}

/** A timer of one limit, which is left behind by nothing. */
class OwnTimer {
  readonly #ms: number
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number) {
    this.#ms = ms
  }

  add(deadline: Deadline): void {
    this.#timer = setTimeout(() => deadline.over(), this.#ms)
  }

  ended(): void {
    clearTimeout(this.#timer)
  }
}

/** Limits of one length end in the order in which they began, so that one timer does for all of them. */
class SharedTimer {
  readonly #ms: number
  /** Those that may be running, the oldest first from `#first` on; by a clock that never steps. */
  #limits: { readonly deadline: Deadline; readonly endsAtMs: number }[] = []
  #first = 0
  #running = 0
  #timer: NodeJS.Timeout | undefined

  constructor(ms: number) {
    this.#ms = ms
  }

  add(deadline: Deadline): void {
    this.#forgetEnded()
    this.#limits.push({ deadline, endsAtMs: performance.now() + this.#ms })
    this.#running++
    if (this.#timer === undefined) this.#fireIn(this.#ms)
    else if (this.#running === 1) this.#timer.ref()
  }

  /** A timer without running limits keeps no process alive. */
  ended(): void {
    this.#running--
    if (this.#running === 0) this.#timer?.unref()
  }

  /** Ended calls are removed as others come, so that the list is about as long as the calls in flight. */
  #forgetEnded(): void {
    while (this.#first < this.#limits.length && !this.#limits[this.#first]!.deadline.isRunning) this.#first++
    if (this.#first * 2 < this.#limits.length) return
    this.#limits = this.#limits.slice(this.#first)
    this.#first = 0
  }

  #fireIn(ms: number): void {
    this.#timer = setTimeout(() => {
      const firedAtMs = performance.now()
      // Pending input is read between a timer and the immediate that it sets.
      setImmediate(() => this.#look(firedAtMs))
    }, ms)
  }

  #look(firedAtMs: number): void {
    const due: Deadline[] = []
    for (; this.#first < this.#limits.length; this.#first++) {
      const { deadline, endsAtMs } = this.#limits[this.#first]!
      if (deadline.isRunning && endsAtMs > firedAtMs) break
      due.push(deadline)
    }
    const next = this.#limits[this.#first]
    this.#timer = undefined
    if (next !== undefined) this.#fireIn(Math.max(1, Math.ceil(next.endsAtMs - firedAtMs)))
    // Last, as a callback may set limits of its own.
    for (const deadline of due) deadline.over()
  }
}

/** By the length of the limits, of which a process has few. */
const TIMERS = new Map<number, SharedTimer>()

function timerOf(ms: number): SharedTimer {
  const known = TIMERS.get(ms) ?? new SharedTimer(ms)
  TIMERS.set(ms, known)
  return known
}
