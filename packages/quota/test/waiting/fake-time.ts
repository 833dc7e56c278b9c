import { AsyncLocalStorage } from 'node:async_hooks'

interface Timer {
  due: number
  readonly everyMs: number | undefined
  readonly call: () => void
}

/** Set in what a test calls, also later: what another file has left running in this process keeps its real timers. */
const isInTest = new AsyncLocalStorage<boolean>()

/** Time turned by hand: timers, the stopwatch and the clock. Unlike Vitest's, it says when the next timer is due. */
export class FakeTime {
  readonly #timers = new Set<Timer>()
  readonly #undo: (() => void)[] = []
  #now = 1_000_000

  /** @param random in place of `Math.random` */
  constructor(random: () => number) {
    const add = (call: () => void, ms: number, everyMs?: number): Timer & { unref(): void } => {
      const timer = { due: this.#now + Math.max(1, ms), everyMs, call, unref: () => undefined }
      this.#timers.add(timer)
      return timer
    }
    const real = { setTimeout, setInterval, clearTimeout }
    const own = {
      setTimeout: (call: () => void, ms: number) => (isInTest.getStore() ? add(call, ms) : real.setTimeout(call, ms)),
      setInterval: (call: () => void, ms: number) =>
        isInTest.getStore() ? add(call, ms, ms) : real.setInterval(call, ms),
      clearTimeout: (timer: Timer) => (this.#timers.delete(timer) ? undefined : real.clearTimeout(timer as never)),
    }
    this.#undo.push(replaced(globalThis, { ...own, clearInterval: own.clearTimeout } as never))
    this.#undo.push(replaced(performance, { now: () => this.#now }))
    this.#undo.push(replaced(Date, { now: () => this.#now }))
    this.#undo.push(replaced(Math, { random }))
  }

  get now(): number {
    return this.#now
  }

  get timers(): number {
    return this.#timers.size
  }

  /** Passes time until an instant, or until the next timer before it, which rings. @returns whether one rang */
  pass(until: number): boolean {
    let next: Timer | undefined
    for (const timer of this.#timers)
      if (timer.due <= (next?.due ?? until)) next = next?.due === timer.due ? next : timer
    this.#now = Math.max(this.#now, next?.due ?? until)
    if (next === undefined) return false
    if (next.everyMs === undefined) this.#timers.delete(next)
    else next.due += next.everyMs
    next.call()
    return true
  }

  /** Runs what sets timers of this time. */
  static run<T>(test: () => Promise<T>): Promise<T> {
    return isInTest.run(true, test)
  }

  /** Back to the machine's time. */
  end(): void {
    for (const undo of this.#undo.splice(0)) undo()
  }
}

/** Puts other members into an object, without a spy: that would keep every call. @returns a function that undoes it */
function replaced<T extends object>(target: T, members: Partial<T>): () => void {
  const before = Object.fromEntries(Object.keys(members).map((key) => [key, target[key as keyof T]]))
  Object.assign(target, members)
  return () => void Object.assign(target, before)
}
