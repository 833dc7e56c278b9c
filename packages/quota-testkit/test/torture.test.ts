import { describe, expect, it } from 'vitest'
import {
  NotOffered,
  TORTURE_CASES,
  type TortureCase,
  type TortureLimit,
  type TortureLimiter,
  type TortureLimits,
  torture,
} from '../src/torture.ts'

interface Window {
  readonly endsAt: number
  readonly used: number
}

interface Counters {
  readonly limits: readonly TortureLimit[]
  readonly windows: Map<string, Window>
  readonly ids: Set<string>
}

const HOLD_MS = 5_000

/** The shortest limiter that keeps every promise, and its faults. */
class Limiter implements TortureLimiter<Counters> {
  now = 1_000_000
  /** What runs by itself, by its instant on a clock that no step moves. */
  readonly later: { readonly at: number; run(): void }[] = []
  passed = 0
  readonly made: Counters[] = []

  async make(limits: TortureLimits, over?: Counters): Promise<Counters> {
    const counters = { limits, windows: over?.windows ?? new Map(), ids: over?.ids ?? new Set() }
    this.made.push(counters)
    return counters
  }

  /** By the windows that it keeps: the heap is that of all tests of this process. */
  bytes(): number {
    return this.made.reduce((sum, { windows }) => sum + 100 * windows.size, 0)
  }

  async consume(counters: Counters, { subject, cost }: { readonly subject: string; readonly cost: number }) {
    if (!this.isCost(cost)) throw new RangeError(`no cost: ${cost}`)
    const open = counters.limits.map((limit) => this.open(counters, limit, subject))
    const full = open.filter(({ used }, index) => used + cost > counters.limits[index]!.limit)
    if (full.length > 0) {
      const retryAfterMs = this.waitOf(Math.max(...full.map(({ endsAt }) => endsAt - this.now)))
      return { allowed: false, retryAfterMs }
    }
    for (const [index, { windowMs }] of counters.limits.entries()) {
      const { endsAt, used } = open[index]!
      counters.windows.set(`${windowMs}:${subject}`, { endsAt, used: used + cost })
    }
    return { allowed: true }
  }

  isCost(cost: number): boolean {
    return Number.isSafeInteger(cost) && cost >= 0
  }

  waitOf(ms: number): number {
    return ms
  }

  open({ windows }: Counters, { windowMs }: TortureLimit, subject: string): Window {
    const name = `${windowMs}:${subject}`
    const window = windows.get(name)
    if (window !== undefined && this.now < window.endsAt) return this.near(windows, name, window, windowMs)
    this.after(windowMs, () => windows.delete(name))
    return { endsAt: this.now + windowMs, used: 0 }
  }

  /** A window that would end later than a new one was opened by another clock. */
  near(windows: Map<string, Window>, name: string, window: Window, windowMs: number): Window {
    if (window.endsAt <= this.now + windowMs) return window
    const moved = { ...window, endsAt: this.now + windowMs }
    windows.set(name, moved)
    return moved
  }

  async retry(counters: Counters, request: { readonly subject: string; readonly cost: number }, id: string) {
    if (counters.ids.has(id)) return { allowed: true }
    const answer = await this.consume(counters, request)
    if (answer.allowed) counters.ids.add(id)
    return answer
  }

  async kill(counters: Counters, request: { readonly subject: string; readonly cost: number }) {
    await this.consume(counters, request)
    this.after(HOLD_MS, () => this.release(counters, request))
    return HOLD_MS
  }

  release({ windows }: Counters, { subject, cost }: { readonly subject: string; readonly cost: number }): void {
    for (const [name, window] of windows) {
      if (name.endsWith(`:${subject}`)) windows.set(name, { ...window, used: window.used - cost })
    }
  }

  after(ms: number, run: () => void): void {
    this.later.push({ at: this.passed + ms, run })
  }

  async advance(ms: number): Promise<void> {
    this.now += ms
    this.passed += Math.max(0, ms)
    const due = this.later.filter(({ at }) => at <= this.passed)
    this.later.splice(0, this.later.length, ...this.later.filter(({ at }) => at > this.passed))
    for (const { run } of due) run()
  }
}

/** For each case, a limiter that breaks it. */
const FAULTS: Readonly<Record<TortureCase, Limiter>> = {
  '64 callers at once use a limit up, and none passes it': new (class extends Limiter {
    override async consume(counters: Counters, request: { readonly subject: string; readonly cost: number }) {
      const open = this.open(counters, counters.limits[0]!, request.subject)
      await Promise.resolve()
      if (open.used > 0) return super.consume(counters, request)
      counters.windows.set(`${counters.limits[0]!.windowMs}:${request.subject}`, { ...open, used: 1 })
      return { allowed: true }
    }
  })(),
  'a refusal charges nothing': charging((counters) => counters.limits.length === 1),
  'what one of two limits refuses is charged in neither': charging((counters) => counters.limits.length > 1),
  'the same request is admitted after Retry-After, and not a moment before': new (class extends Limiter {
    override waitOf(ms: number) {
      return ms - 1
    }
  })(),
  'retries under an id are charged once': new (class extends Limiter {
    override retry(counters: Counters, request: { readonly subject: string; readonly cost: number }) {
      return this.consume(counters, request)
    }
  })(),
  "a killed caller's reservation comes back": new (class extends Limiter {
    override release() {
      // Nobody gives it back.
    }
  })(),
  'a clock that steps back forgives nothing and locks nobody out': new (class extends Limiter {
    override near(windows: Map<string, Window>, name: string, window: Window, windowMs: number) {
      if (window.endsAt > this.now + windowMs) windows.delete(name)
      return window.endsAt > this.now + windowMs ? { endsAt: this.now + windowMs, used: 0 } : window
    }
  })(),
  'a clock that jumps and is put right locks nobody out': new (class extends Limiter {
    override near(_: Map<string, Window>, __: string, window: Window) {
      return window
    }
    override after() {
      // Nothing runs by itself.
    }
  })(),
  'no cost makes room': new (class extends Limiter {
    override isCost() {
      return true
    }
  })(),
  'subjects whose windows have ended are forgotten': new (class extends Limiter {
    override after() {
      // Nothing runs by itself.
    }
  })(),
  'no other subject evicts a live counter': new (class extends Limiter {
    override open(counters: Counters, limit: TortureLimit, subject: string) {
      if (counters.windows.size >= 90) counters.windows.clear()
      return super.open(counters, limit, subject)
    }
  })(),
  'a limit that is edited under load goes on from what was used': new (class extends Limiter {
    override make(limits: TortureLimits) {
      return super.make(limits)
    }
  })(),
}

/** A refusal uses the limits up. */
function charging(where: (counters: Counters) => boolean): Limiter {
  return new (class extends Limiter {
    override async consume(counters: Counters, request: { readonly subject: string; readonly cost: number }) {
      const answer = await super.consume(counters, request)
      if (answer.allowed || !where(counters)) return answer
      for (const [name, window] of counters.windows) {
        if (name.endsWith(`:${request.subject}`)) counters.windows.set(name, { ...window, used: window.used + 1 })
      }
      return answer
    }
  })()
}

const FEW = { subjects: 1_000 }

describe('the torture suite', () => {
  it.each(TORTURE_CASES)('a correct limiter keeps: %s', async (name) => {
    const limiter = new Limiter()
    const [finding] = await torture(limiter, { ...FEW, only: [name], bytes: async () => limiter.bytes() })
    expect(finding).toEqual({ case: name, verdict: 'kept' })
  })

  it.each(TORTURE_CASES)('a faulty limiter breaks: %s', async (name) => {
    const limiter = FAULTS[name]
    const [finding] = await torture(limiter, { ...FEW, only: [name], bytes: async () => limiter.bytes() })
    expect(finding?.verdict, finding?.found).toBe('broken')
  })

  it('torture() reports what a limiter doesn’t offer', async () => {
    const kill = (): Promise<never> => Promise.reject(new NotOffered('no reservations'))
    const limiter = Object.assign(new Limiter(), { kill })
    expect(await torture(limiter, { only: ["a killed caller's reservation comes back"] })).toEqual([
      { case: "a killed caller's reservation comes back", verdict: 'not offered', found: 'no reservations' },
    ])
  })

  it('torture() reports negative remainders as broken and rethrows errors', async () => {
    const below = Object.assign(new Limiter(), { consume: async () => ({ allowed: true, remaining: -1 }) })
    const [finding] = await torture(below, { only: ['a refusal charges nothing'] })
    expect(finding?.found).toBe('-1 tokens are reported as left')
    const down = Object.assign(new Limiter(), { consume: () => Promise.reject(new Error('down')) })
    await expect(torture(down, { only: ['a refusal charges nothing'] })).rejects.toThrow('down')
    await expect(torture(down, { windowMs: 1_000 })).rejects.toThrow('windowMs: expected at least 2,000, got 1000')
  })
})
