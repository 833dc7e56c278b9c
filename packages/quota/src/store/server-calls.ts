// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, clearTimeout, setImmediate } = globalThis

/** Starts and ends with time limits. */
interface Timer {
  /** Call when one of its limits was met or has passed. */
  ended(): void
}

/**
 * The time limit of one call. If its timer fires late because the process was busy, the socket is read once more before
 * the limit has passed.
 */
export class Deadline {
  readonly #onOver: () => void
  readonly #timer: Timer
  #state: 'running' | 'met' | 'over' = 'running'
  /** Created when it is first awaited. */
  #settled: Promise<void> | undefined
  #settle: (() => void) | undefined

  /**
   * @param ms from now, in milliseconds
   * @param onOver called once if the limit passes
   * @param timer shared by many limits, see {@link Deadlines}. Default: a timer of its own, which ends with the limit
   */
  constructor(ms: number, onOver: () => void = () => undefined, timer?: Timer) {
    this.#onOver = onOver
    this.#timer = timer ?? this.#ownTimer(ms)
  }

  /** Resolves when the limit has passed or was met. */
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

  /** Ends the limit, because its call got a response. Returns whether it was still running. */
  met(): boolean {
    return this.#end('met')
  }

  /** The limit has passed. */
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

  #ownTimer(ms: number): Timer {
    const timer = setTimeout(() => afterInput(() => this.over()), ms)
    return { ended: () => clearTimeout(timer) }
  }
}

/**
 * Time limits of equal length, for a store's calls. They end in the order in which they started, so they share one
 * timer. Without a running limit, it doesn't keep the process alive.
 */
export class Deadlines {
  readonly ms: number
  readonly #nowMs: () => number
  /** Limits that may be running, from `#first` on and oldest first, by a monotonic clock. */
  #limits: { readonly deadline: Deadline; readonly endsAtMs: number }[] = []
  #first = 0
  #running = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /**
   * @param ms the length of each limit, in milliseconds
   * @param nowMs a monotonic clock, such as `performance.now`
   */
  constructor(ms: number, nowMs: () => number) {
    this.ms = ms
    this.#nowMs = nowMs
  }

  /** @param onOver called once if the limit passes */
  begin(onOver?: () => void): Deadline {
    const deadline = new Deadline(this.ms, onOver, this)
    this.#forgetEnded()
    this.#limits.push({ deadline, endsAtMs: this.#nowMs() + this.ms })
    this.#running++
    if (this.#timer === undefined) this.#fireIn(this.ms)
    else if (this.#running === 1) this.#timer.ref()
    return deadline
  }

  /** @internal */
  ended(): void {
    this.#running--
    if (this.#running === 0) this.#timer?.unref()
  }

  /** Removes ended limits when new ones start, so that the list stays about as long as the calls in flight. */
  #forgetEnded(): void {
    while (this.#first < this.#limits.length && !this.#limits[this.#first]!.deadline.isRunning) this.#first++
    if (this.#first * 2 < this.#limits.length) return
    this.#limits = this.#limits.slice(this.#first)
    this.#first = 0
  }

  #fireIn(ms: number): void {
    this.#timer = setTimeout(() => {
      const firedAtMs = this.#nowMs()
      afterInput(() => this.#endDue(firedAtMs))
    }, ms)
  }

  #endDue(firedAtMs: number): void {
    const due: Deadline[] = []
    for (; this.#first < this.#limits.length; this.#first++) {
      const { deadline, endsAtMs } = this.#limits[this.#first]!
      if (deadline.isRunning && endsAtMs > firedAtMs) break
      due.push(deadline)
    }
    const next = this.#limits[this.#first]
    this.#timer = undefined
    if (next !== undefined) this.#fireIn(Math.max(1, Math.ceil(next.endsAtMs - firedAtMs)))
    // Last, because a callback may start limits.
    for (const deadline of due) deadline.over()
  }
}

/**
 * Runs work after pending input was read: that happens between a timer and an immediate set by it. Edge runtimes may
 * lack immediates.
 */
function afterInput(work: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(work)
  else setTimeout(work)
}

/** If a server hasn't responded for this long ... */
const OPEN_AFTER_MS = 500
/** ... to at least this many calls, it is no longer called, */
const OPEN_AFTER_FAILURES = 3
/** except by one call in each interval. */
const PROBE_EVERY_MS = 200

/**
 * A circuit breaker. While the server is unavailable, calls fail immediately instead of waiting for their deadlines. It
 * needs no timer, because the next call is the probe.
 */
export class Breaker {
  readonly #nowMs: () => number
  #failures = 0
  #failingSinceMs = 0
  #probedAtMs: number | undefined

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Whether a call may be made now. While the circuit is open, true for one call per interval. */
  admits(): boolean {
    if (this.#probedAtMs === undefined) return true
    const nowMs = this.#nowMs()
    if (nowMs - this.#probedAtMs < PROBE_EVERY_MS) return false
    this.#probedAtMs = nowMs
    return true
  }

  /** Call when the server responds. Closes the circuit. */
  succeeded(): void {
    this.#failures = 0
    this.#probedAtMs = undefined
  }

  /** Call when the server doesn't respond. */
  failed(): void {
    const nowMs = this.#nowMs()
    if (this.#failures === 0) this.#failingSinceMs = nowMs
    this.#failures++
    const lasting = this.#failures >= OPEN_AFTER_FAILURES && nowMs - this.#failingSinceMs >= OPEN_AFTER_MS
    if (lasting) this.#probedAtMs ??= nowMs
  }
}

/** The most calls in flight that a store accepts. */
const MOST_IN_FLIGHT = 10_000

/** Counts calls in flight. At the maximum, a store accepts no more. Closing waits until none is left. */
export class InFlight {
  readonly #most: number
  #count = 0
  readonly #waiting: (() => void)[] = []

  /** @param most calls that wait for a response, or whose response may still arrive. Default: 10,000 */
  constructor(most: number = MOST_IN_FLIGHT) {
    this.#most = most
  }

  get count(): number {
    return this.#count
  }

  /** Why no more calls are accepted; `undefined`: there is room. */
  get refusal(): string | undefined {
    if (this.#count < this.#most) return undefined
    return `${this.#most} calls are in flight, and no more are taken on`
  }

  /** Adds calls. Call {@link done} for each later. */
  add(calls = 1): void {
    this.#count += calls
  }

  /** Call after a response, or after a final failure. */
  done(calls = 1): void {
    this.#count -= calls
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when a call is done; immediately if none is in flight. */
  next(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    while (this.#count > 0) await this.next()
  }
}
