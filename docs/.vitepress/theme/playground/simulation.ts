import {
  createQuota,
  type Decision,
  type MemoryStore,
  memoryStore,
  parsePolicy,
  type QuotaOptions,
  type QuotaStatus,
  type RefusedDecision,
  type SyncQuota,
} from '@scoregw/quota'
import { definitionOf } from './definition-of.ts'
import { durationMs, operationAt, type Scenario, subjectOf } from './scenario.ts'

/** 6 August 2026, 14:06:26 UTC: the playground's beginning, the same for all subjects. */
export const BEGINNING = Date.UTC(2026, 7, 6, 14, 6, 26)
/** Columns of the picture that are kept. */
export const COLUMNS = 60
/** How long the shortest is. */
const COLUMN_MS = 120_000
const HOUR_MS = 3_600_000
/** How far in a reader finds it: far enough for a refusal. */
export const ALIVE_MS = 2_400_000

/** Requests of one stretch of time, counted by how they ended. */
export interface Column {
  /** Number of the stretch since the beginning. */
  readonly index: number
  admitted: number
  refused: number
}

/** How much of the subject's first bucket was left in a stretch of time, 0 to 1. */
export interface Level {
  readonly index: number
  readonly left: number
}

/** What there is to see at one instant. */
export interface View {
  /** Epoch milliseconds of the playground's clock. */
  readonly now: number
  /** The limits of one subject and of all subjects, by name. */
  readonly limits: QuotaStatus['limits']
  /** Stretches of `columnMs` with requests, oldest first. */
  readonly columns: readonly Column[]
  /** How the bucket emptied and filled again, oldest first; empty where there is no bucket. */
  readonly levels: readonly Level[]
  /** Number of the stretch that is in flight. */
  readonly column: number
  readonly columnMs: number
  readonly admitted: number
  readonly refused: number
  /** The last one, if there was any. */
  readonly refusal: RefusedDecision | undefined
  /** Who got it. */
  readonly asker: string
}

/** An admitted request that is still at work. */
interface Work {
  readonly endsAt: number
  end(): unknown
}

/** The real engine on a clock that is turned by hand, and requests that come as the scenario's streams say. */
export class Simulation {
  #now = BEGINNING
  #store: MemoryStore
  #quota: SyncQuota
  #scenario: Scenario
  /** Of each subject's stream, which part of the way to its next request is over, 0 to 1. */
  readonly #progress = new Map<string, number>()
  /** How long that way is: 1, or as the seed has it. */
  readonly #way = new Map<string, number>()
  #random: () => number
  #working: Work[] = []
  #columns: Column[] = []
  #levels: Level[] = []
  #levelsOf = ''
  #refusal: RefusedDecision | undefined
  #asker = ''
  #admitted = 0
  #refused = 0

  /** For scenarios with calendar limits; it is loaded for these alone. */
  calendar: QuotaOptions['calendar']

  constructor(scenario: Scenario) {
    this.#scenario = scenario
    this.#store = memoryStore({ clock: this.#clock })
    this.#quota = this.#engine()
    this.#random = randomOf(scenario.seed)
  }

  readonly #clock = { now: (): number => this.#now }

  /** What there is to see now, with the limits of this subject. */
  look(subject: string): View {
    const { limits } = this.#quota.statusSync(subjectOf(this.#scenario, subject))
    this.#level(subject, limits)
    return {
      now: this.#now,
      limits,
      columns: this.#columns,
      levels: this.#levels,
      column: this.#column(),
      columnMs: this.#columnMs(),
      admitted: this.#admitted,
      refused: this.#refused,
      refusal: this.#refusal,
      asker: this.#asker,
    }
  }

  /** Plays another scenario from here on: the counters stay, by the rules for policies that change. */
  change(scenario: Scenario): void {
    const before = this.#scenario
    this.#scenario = scenario
    if (scenario.speedMs !== before.speedMs) {
      this.#columns = []
      this.#levels = []
    }
    if (JSON.stringify(definitionOf(before)) === JSON.stringify(definitionOf(scenario))) return
    // Two open engines with different limits in one counter would be a mistake. The store stays.
    this.#endWork(Number.POSITIVE_INFINITY)
    void this.#quota.close()
    this.#quota = this.#engine()
    this.#levels = []
  }

  /** Everything from the beginning: the clock, the counters, what was counted. */
  restart(): void {
    this.#now = BEGINNING
    this.#working = []
    this.#store = memoryStore({ clock: this.#clock })
    this.#quota = this.#engine()
    this.#progress.clear()
    this.#way.clear()
    this.#random = randomOf(this.#scenario.seed)
    this.#columns = []
    this.#levels = []
    this.#refusal = undefined
    this.#admitted = 0
    this.#refused = 0
  }

  /** Lets time pass, in whole milliseconds, with the requests that come in it. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const next = this.#next()
      const ends = Math.min(...this.#working.map(({ endsAt }) => endsAt))
      if (Math.min(ends, next?.at ?? Number.POSITIVE_INFINITY) > end) break
      if (next === undefined || ends <= next.at) {
        this.#pass(ends)
        this.#endWork(ends)
        continue
      }
      this.#pass(next.at)
      this.#progress.set(next.subject, 0)
      if (this.#scenario.seed > 0) this.#way.set(next.subject, 0.2 + 1.6 * this.#random())
      this.ask(next.subject, next.operation)
    }
    this.#pass(end)
  }

  /** One request, now. */
  ask(subject: string, operation: number): Decision {
    const decision = this.#decide(subject, operation)
    if (!decision.allowed) {
      this.#refusal = decision
      this.#asker = subject
    }
    if (decision.allowed) this.#admitted++
    else this.#refused++
    this.#count(decision.allowed)
    return decision
  }

  #decide(subject: string, at: number): Decision {
    const operation = operationAt(this.#scenario, at)
    const named = operation === undefined ? {} : { operation: operation.name }
    const request = { subject: subjectOf(this.#scenario, subject), ...named }
    const lasts = durationMs(operation)
    if (lasts === 0) return this.#quota.consumeSync(request as never)
    // The hold outlives the work, which gives its slot back itself.
    const reservation = this.#quota.reserveSync({ ...request, ttlMs: 2 * lasts } as never)
    if (reservation.decision === undefined) throw new Error('only a reservation with an id is ever repeated')
    if (reservation.allowed) this.#working.push({ endsAt: this.#now + lasts, end: () => reservation.commit() })
    return reservation.decision
  }

  /** Ends the work that is over at this time. In memory, a slot is free with the call of `commit()`. */
  #endWork(at: number): void {
    for (const work of this.#working.filter(({ endsAt }) => endsAt <= at)) void work.end()
    this.#working = this.#working.filter(({ endsAt }) => endsAt > at)
  }

  /** Of the first bucket. */
  #level(subject: string, limits: View['limits']): void {
    const bucket = Object.values(limits).find((each) => each?.kind === 'bucket')
    const key = `${subject} ${bucket?.name}`
    if (key !== this.#levelsOf) this.#levels = []
    this.#levelsOf = key
    if (bucket === undefined || bucket.burst === 'unlimited') return
    const index = this.#column()
    const left = Number(bucket.remaining) / Math.max(1, bucket.burst ?? 1)
    const before = this.#levels.filter((each) => each.index < index && each.index > index - COLUMNS)
    this.#levels = [...before, { index, left }]
  }

  #column(): number {
    return Math.floor((this.#now - BEGINNING) / this.#columnMs())
  }

  /** Two minutes, or a second of the reader. */
  #columnMs(): number {
    return Math.max(COLUMN_MS, this.#scenario.speedMs)
  }

  #engine(): SyncQuota {
    const policy = parsePolicy(definitionOf(this.#scenario))
    return createQuota({ policy, store: this.#store, clock: this.#clock, calendar: this.calendar })
  }

  #next(): { readonly at: number; readonly subject: string; readonly operation: number } | undefined {
    let first: { at: number; subject: string; operation: number } | undefined
    for (const { subject, operation, perHour } of this.#scenario.streams) {
      if (perHour === 0) continue
      const at =
        this.#now + Math.ceil((this.#wayOf(subject) - (this.#progress.get(subject) ?? 0)) * (HOUR_MS / perHour))
      if (first === undefined || at < first.at) first = { at, subject, operation }
    }
    return first
  }

  #pass(at: number): void {
    for (const { subject, perHour } of this.#scenario.streams) {
      const passed = ((at - this.#now) * perHour) / HOUR_MS
      this.#progress.set(subject, Math.min(this.#wayOf(subject), (this.#progress.get(subject) ?? 0) + passed))
    }
    this.#now = at
  }

  #wayOf(subject: string): number {
    return this.#way.get(subject) ?? 1
  }

  #count(allowed: boolean): void {
    const index = this.#column()
    let column = this.#columns.at(-1)
    if (column?.index !== index) {
      column = { index, admitted: 0, refused: 0 }
      this.#columns.push(column)
      this.#columns = this.#columns.filter((each) => each.index > index - COLUMNS)
    }
    if (allowed) column.admitted++
    else column.refused++
  }
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
