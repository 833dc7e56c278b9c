import { setImmediate as turn } from 'node:timers/promises'
import type { Decision, HeldReservation, Quota, ReserveRequest, SyncQuota } from '../../src/index.ts'
import type { QuotaStore } from '../../src/store.ts'
import type { WaitedReservation } from '../../src/waiting.ts'
import { FakeTime } from './fake-time.ts'

/** The library, as it is or with a fault. */
export type Library = typeof import('../../src/index.ts') & typeof import('../../src/waiting.ts')

export type StoreKind = 'sync' | 'late'

/** Every limit, from the narrowest to the widest. */
const ORDER = [
  'user/running',
  'user/heavy',
  'user/t3s',
  'user/1s',
  'user/5s',
  'team/t3s',
  'team/pace',
  'team/5s',
  'service/running',
  'service/t3s',
  'service/1s',
] as const

const PRICES = {
  list: { requests: 1, tokens: 0, slots: 0 },
  embed: { requests: 1, tokens: 5, slots: 0 },
  chat: { requests: 1, tokens: 5, slots: 1 },
  heavy: { requests: 1, tokens: 20, slots: 1 },
}
type Operation = keyof typeof PRICES
interface Subject {
  readonly user: string
  /** `null`: the limits of teams don't apply. */
  readonly team: string | null
}

/** @param isNarrow whether teams are soon at their limits, before their users are */
function policyOf({ definePolicy }: Library, isNarrow: boolean) {
  const isWork = { for: ['chat', 'heavy'] } as const
  return definePolicy({
    limits: {
      'user/1s': { by: 'user', limit: 4, per: '1s' },
      'user/5s': { by: 'user', limit: 12, per: '5s' },
      'user/t3s': { by: 'user', limit: 60, of: 'tokens', per: '3s' },
      'user/heavy': { by: 'user', limit: 3, per: '2s', for: 'heavy' },
      'user/running': { by: 'user', concurrency: 3, ...isWork },
      'team/5s': { by: 'team', limit: isNarrow ? 4 : 18, per: '5s' },
      'team/t3s': { by: 'team', limit: isNarrow ? 20 : 160, of: 'tokens', per: '3s' },
      'team/pace': { by: 'team', limit: 160, of: 'tokens', per: '8s', burst: 35 },
      'service/1s': { shared: 'service', limit: 10, per: '1s' },
      'service/t3s': { shared: 'service', limit: 120, of: 'tokens', per: '3s' },
      'service/running': { shared: 'service', concurrency: 6, ...isWork },
    },
    operations: {
      list: {},
      embed: { cost: { tokens: 5 } },
      chat: { cost: { tokens: 5 } },
      heavy: { cost: { tokens: 20 } },
    },
  })
}

/** One request, as seen from outside. */
interface Entry {
  readonly nr: number
  readonly subject: Subject
  readonly operation: Operation
  readonly cost: { readonly requests: number; readonly tokens?: number | undefined }
  /** The request's numbers of limits. */
  readonly limits: { readonly 'user/1s'?: number | null }
  readonly needs: ReadonlyMap<string, number>
  readonly rank: number
  readonly deadline: number
  readonly signal: AbortController
  readonly expectsGiveBacks: boolean
  /** Whether the store has admitted it. */
  isAdmitted: boolean
  /** Limits that refused it before what is being given back now: the queue may not know better yet. */
  refusedBy: readonly string[]
  wasRefused: boolean
  /** Nothing will be tried for it any more. */
  isDone: boolean
  outcome?: WaitedReservation<never> | Error | undefined
}

export interface Counts {
  admitted: number
  waited: number
  gaveUp: number
  aborted: number
  closed: number
  /** How often a check of order had others to compare with, and how often one at rest had. */
  compared: number
  rested: number
}

/**
 * A random history of one queue over real stores, judged from outside: by what the store is entry and the counters of a
 * second engine. The judge has its own order of limits and its own prices.
 */
export class History {
  readonly counts: Counts = { admitted: 0, waited: 0, gaveUp: 0, aborted: 0, closed: 0, compared: 0, rested: 0 }
  readonly log: string[] = []
  readonly #time: FakeTime
  readonly #random: () => number
  readonly #quota: Quota
  readonly #judge: SyncQuota
  readonly #outside: SyncQuota
  readonly #queue: ReturnType<Library['waitingQueue']>
  readonly #entries: Entry[] = []
  readonly #bySubject = new WeakMap<object, Entry>()
  readonly #held: { readonly entry: Entry; readonly reservation: HeldReservation<never> }[] = []
  readonly #heldOutside: { cancel(): unknown }[] = []
  readonly #isCrowded: boolean
  /** Answers of the store that are in flight, and how many of them give something back. */
  readonly #answers: (() => void)[] = []
  #givingBack = 0
  #fault: string | undefined
  readonly #suspicions: (() => void)[] = []

  constructor(library: Library, kind: StoreKind, seed: number) {
    this.#random = randomBy(seed)
    this.#time = new FakeTime(this.#random)
    const { createQuota, memoryStore, memorySettings, waitingQueue } = library
    const memory = memoryStore()
    const policy = policyOf(library, this.#random() < 0.2)
    const common = { policy, settingsStore: memorySettings(), logger: false as const }
    const store = this.#watched(memory, kind)
    this.#judge = createQuota({ ...common, store: memory }) as unknown as SyncQuota
    this.#outside = createQuota({ ...common, store: memory }) as unknown as SyncQuota
    this.#quota = createQuota({ ...common, store, deadlineMs: 60_000 }) as unknown as Quota
    this.#queue = waitingQueue(this.#quota, { maxWaiting: 30 }) as never
    // In crowded histories others use the counters too, who stand in no lane.
    this.#isCrowded = this.#random() < 0.2
  }

  /** @throws what is wrong, first */
  async play(): Promise<void> {
    try {
      await this.#play()
    } finally {
      this.#time.end()
    }
  }

  async #play(): Promise<void> {
    const steps = 15 + this.#below(50)
    for (let step = 0; step < steps; step++) {
      await this.#step()
      if (this.#random() < 0.5) await this.#rest()
      await this.#requireFaultless()
    }
    await this.#finish()
    await this.#requireFaultless()
  }

  async #step(): Promise<void> {
    const dice = this.#random()
    if (dice < 0.45) this.#enter()
    else if (dice < 0.48) await this.#race()
    else if (dice < 0.55) for (let more = 2 + this.#below(5); more > 0; more--) this.#enter()
    else if (dice < 0.68) for (let more = 1 + this.#below(3); more > 0; more--) this.#settle()
    else if (dice < 0.73) this.#abort()
    else if (dice < 0.76) await this.#change()
    else if (dice < 0.78) this.#reset()
    else if (dice < 0.8) await this.#release()
    else if (dice < 0.83) await this.#climb()
    else if (dice < 0.88 && this.#isCrowded) await this.#crowd()
    else await this.#pass(Math.floor(this.#random() ** 3 * 4_000))
  }

  async #finish(): Promise<void> {
    if (this.#random() < 0.3) {
      this.#enter()
      const open = this.#open()
      const closing = this.#random() < 0.5 ? this.#quota.close() : this.#queue.close()
      await this.#land()
      await closing
      for (const each of open) if (each.outcome === undefined) throw new Error(`${each.nr} survived close`)
      this.counts.closed += open.length
    } else {
      // With everything given back all are served in time, or give up.
      for (let i = 0; i < 250 && this.#open().length > 0; i++) {
        while (this.#held.length > 0) this.#settle()
        for (const each of this.#heldOutside.splice(0)) each.cancel()
        await this.#pass(500)
      }
    }
    if (this.#open().length > 0) throw new Error(`${this.#open().map(({ nr }) => nr)} wait forever`)
    if (this.#queue.size > 0) throw new Error('counted as waiting')
    const isClosed = this.#random() < 0.5
    if (isClosed) this.#queue.close()
    while (this.#held.length > 0) this.#settle()
    for (const each of this.#heldOutside.splice(0)) each.cancel()
    await this.#land()
    await this.#quota.close()
    if (this.#time.timers > 0) throw new Error('a timer is left')
    for (const entry of this.#entries) this.#requireNothingHeld(entry)
  }

  #requireNothingHeld({ subject }: Entry): void {
    const { limits } = this.#judge.statusSync(subject as never)
    if (Object.values(limits).some((limit) => limit?.kind === 'concurrency' && limit.used > 0))
      throw new Error(`a slot of ${subject.user} is left taken`)
  }

  #open(): Entry[] {
    return this.#entries.filter(({ outcome }) => outcome === undefined)
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n)
  }

  #newSubject(): Subject {
    return { user: `u${this.#below(4)}`, team: this.#random() < 0.1 ? null : `t${this.#below(2)}` }
  }

  /** Something is given back between two tries in flight that are as large. */
  async #race(): Promise<void> {
    const operation = (['list', 'embed', 'heavy'] as const)[this.#below(3)]!
    const subject = this.#newSubject()
    for (let more = this.#below(5); more > 0; more--) this.#enter(operation, { ...subject })
    await this.#land()
    this.#enter(operation, { ...subject })
    await Promise.resolve()
    for (let more = this.#below(4); more > 0; more--) this.#settle()
    this.#enter(operation, { ...subject })
  }

  /** One team's users ask for more and more in one tick, so that a bucket has another wait for each of them. */
  async #climb(): Promise<void> {
    const team = `t${this.#below(2)}`
    for (const [user, tokens] of [10, 20, 25, 30].entries()) this.#enter('embed', { user: `u${user}`, team }, tokens)
    for (let passes = 4 + this.#below(8); passes > 0; passes--) {
      await this.#pass(150)
      await this.#rest()
    }
  }

  #enter(
    operation = (['list', 'embed', 'chat', 'chat', 'heavy'] as const)[this.#below(5)]!,
    subject = this.#newSubject(),
    needed?: number,
  ): void {
    const requests = this.#random() < 0.2 ? 1 + this.#below(3) : 1
    const tokens = needed ?? (operation !== 'list' && this.#random() < 0.5 ? 1 + this.#below(30) : undefined)
    const priority = this.#random() < 0.8 ? 0 : this.#below(5) - 2
    const maxWaitMs = this.#random() < 0.2 ? this.#below(2_000) : 60_000
    const now = this.#time.now
    const entry: Entry = {
      nr: this.#entries.length,
      subject,
      operation,
      cost: { requests, tokens },
      limits: { 'user/1s': this.#random() < 0.1 ? 3 + this.#below(4) : null },
      needs: needsOf(subject, operation, requests, tokens),
      rank: now - priority * 1_000,
      deadline: now + maxWaitMs,
      signal: new AbortController(),
      expectsGiveBacks: this.#random() < 0.7,
      isAdmitted: false,
      refusedBy: [],
      wasRefused: false,
      isDone: false,
    }
    entry.refusedBy = this.#givingBack > 0 ? [...entry.needs.keys()].slice(0, 1) : []
    this.#entries.push(entry)
    this.#bySubject.set(subject, entry)
    this.log.push(
      `${now} enters ${entry.nr} ${operation} ${JSON.stringify([subject.user, requests, tokens, priority, maxWaitMs, entry.expectsGiveBacks, entry.limits])}`,
    )
    const { signal, expectsGiveBacks } = entry
    const waits = { maxWaitMs, priority, expectGiveBacks: expectsGiveBacks, signal: signal.signal }
    this.#queue.reserve({ ...this.#request(entry), ...waits } as never).then(
      (outcome) => this.#answered(entry, outcome as never),
      (error: Error) => this.#answered(entry, error),
    )
  }

  #request({ subject, operation, cost, limits }: Entry): ReserveRequest {
    return { subject, operation, cost, limits, ttlMs: 600_000 } as never
  }

  #answered(entry: Entry, outcome: WaitedReservation<never> | Error): void {
    entry.isDone = true
    const isFirst = entry.outcome === undefined
    entry.outcome = outcome
    if (outcome instanceof Error) return
    this.log.push(
      `${this.#time.now} answer ${entry.nr} ${outcome.status} ${outcome.status === 'refused' ? outcome.reason : ''}`,
    )
    if (outcome.status === 'reserved') this.#held.push({ entry, reservation: outcome })
    if (outcome.status !== 'refused') return
    this.counts.gaveUp++
    const now = this.#time.now
    if (outcome.reason === 'timeout' && now < entry.deadline) this.#wrong(`${entry.nr} gave up early`)
    if (outcome.reason === 'too_late' && entry.expectsGiveBacks) this.#wrong(`${entry.nr} was to wait on`)
    if (!isFirst) this.#wrong(`${entry.nr} was answered twice`)
  }

  #settle(): void {
    const [held] = this.#held.splice(this.#below(this.#held.length), 1)
    if (held === undefined) return
    const cancels = this.#random() < 0.4
    this.log.push(`${this.#time.now} settle ${held.entry.nr} ${cancels ? 'cancel' : 'commit'}`)
    const settled = cancels ? held.reservation.cancel() : held.reservation.commit({ tokens: 0 } as never)
    Promise.resolve(settled).catch(() => undefined)
  }

  #abort(): void {
    const open = this.#open()
    const entry = open[this.#below(open.length)]
    if (entry === undefined) return
    this.log.push(`${this.#time.now} abort ${entry.nr}`)
    this.counts.aborted++
    entry.isDone = true
    entry.signal.abort(new Error('aborted'))
  }

  async #change(): Promise<void> {
    const multiplier = [0.5, 1, 1, 2][this.#below(4)]!
    await this.#land()
    this.log.push(`${this.#time.now} multiplier ${multiplier}`)
    await this.#quota.settings.update({ shared: { service: { multiplier } } })
    await this.#land()
  }

  #reset(): void {
    const subject = this.#newSubject()
    this.log.push(`${this.#time.now} reset ${subject.user}`)
    this.#quota.reset(subject as never, { limits: OF_USERS }).catch(() => undefined)
  }

  /** An administrator releases a hold. */
  async #release(): Promise<void> {
    const [held] = this.#held.splice(this.#below(this.#held.length), 1)
    if (held === undefined) return
    this.#held.push(held)
    const listing = this.#quota.holds.list(held.entry.subject as never)
    await this.#land()
    const [first] = await listing
    if (first === undefined) return
    this.log.push(`${this.#time.now} release of ${held.entry.subject.user}`)
    const releasing = this.#quota.holds.release(held.entry.subject as never, first.ref)
    await this.#land()
    // The holder finds out when it settles.
    await releasing
  }

  /** Another engine uses the same counters. What it gives back is noticed within a second. */
  async #crowd(): Promise<void> {
    const request = {
      subject: this.#newSubject(),
      operation: (['list', 'chat'] as const)[this.#below(2)]!,
      ttlMs: 600_000,
    }
    const reservation = this.#outside.reserveSync(request as never)
    if (reservation.status === 'reserved') this.#heldOutside.push(reservation as never)
    if (this.#heldOutside.length <= 2) return
    this.#heldOutside.shift()!.cancel()
    if (this.#random() < 0.5) return
    await this.#pass(1_100)
    await this.#rest(true)
  }

  async #pass(ms: number): Promise<void> {
    // A refusal says how long to wait from when it arrives.
    await this.#land()
    const until = this.#time.now + ms
    while (this.#time.pass(until)) await this.#land()
  }

  /** Lets all answers arrive, in any order, with all that follows. */
  async #land(): Promise<void> {
    await turn()
    while (this.#answers.length > 0) {
      const [arrive] = this.#answers.splice(this.#below(this.#answers.length), 1)
      arrive!()
      await turn()
    }
  }

  /** Once nothing is in flight, no request waits that could go. */
  async #rest(isNoticed = !this.#isCrowded): Promise<void> {
    await this.#land()
    await this.#pass(0)
    if (!isNoticed) return
    const claimed = new Set<string>()
    for (const entry of this.#open().sort(byRank)) {
      if (entry.isDone) continue
      const needs = [...entry.needs.keys()]
      const refusing = this.#refusing(entry)
      const upTo = needs.findLastIndex((limit) => claimed.has(limit) || refusing.includes(limit))
      if (upTo === -1) this.#wrong(`lost wake-up: ${entry.nr} could go, and none is before it`)
      // It may still stand in the widest of these lanes, though an earlier one came to a narrower lane since.
      for (const limit of needs.slice(0, upTo + 1)) claimed.add(limit)
      if (entry.deadline < this.#time.now) this.#wrong(`${entry.nr} is past its deadline`)
      this.counts.rested++
    }
  }

  /** The store, watched where the queue cannot help it. Late: what it did is answered when {@link #land} says so. */
  #watched(memory: ReturnType<Library['memoryStore']>, kind: StoreKind): QuotaStore {
    const late = <T>(value: T, givesBack: boolean): T | Promise<T> => {
      if (kind === 'sync') return value
      if (givesBack) this.#givingBack++
      return new Promise((resolve) => {
        this.#answers.push(() => {
          if (givesBack) this.#givingBack--
          resolve(value)
        })
      })
    }
    const watch = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (object, key) => {
          const value = Reflect.get(object, key, object)
          if (key === 'holds') return watch(value as object)
          if (typeof value !== 'function') return value
          if (key === 'take')
            return (request: never) =>
              late(
                this.#taken(request, () => value.call(object, request)),
                false,
              )
          // The queue reads the counters for those that it has given up.
          if (key === 'read')
            return (request: never) =>
              late(
                this.#read(request, () => value.call(object, request)),
                false,
              )
          return (...args: unknown[]) => {
            const givesBack = GIVE_BACKS.has(key)
            if (givesBack && kind === 'late') this.#keepRefusals()
            return late(value.apply(object, args), givesBack)
          }
        },
      })
    const store = { ...memory, sync: kind === 'sync', can: memory.can, clock: memory.clock }
    return { ...store, close: undefined, open: (...args: [never, never]) => watch(memory.open(...args)) } as never
  }

  /** Notes what refuses those who wait, before something is given back. */
  #keepRefusals(): void {
    for (const entry of this.#entries) {
      if (entry.isDone || entry.isAdmitted) continue
      const before = this.#givingBack > 0 ? entry.refusedBy : []
      entry.refusedBy = [...before, ...this.#refusing(entry)]
    }
  }

  #read<T>({ subject }: { readonly subject: object }, read: () => T): T {
    const entry = this.#bySubject.get(subject)
    if (entry !== undefined) entry.isDone = true
    return read()
  }

  #taken(
    request: { readonly subject: object },
    take: () => { readonly outcome: string },
  ): { readonly outcome: string } {
    const entry = this.#bySubject.get(request.subject)
    if (entry === undefined) return take()
    const earlier = this.#entries.filter(
      (each) =>
        each !== entry && !each.isDone && !each.isAdmitted && each.deadline > this.#time.now && byRank(each, entry) < 0,
    )
    const claimed = this.#claims(earlier)
    const refusing = this.#refusing(entry)
    const reply = take()
    this.log.push(`${this.#time.now} try ${entry.nr} ${reply.outcome} ${refusing}`)
    if (reply.outcome === 'stale') return reply
    const isAdmitted = reply.outcome === 'admitted'
    if (isAdmitted && refusing.length > 0) this.#wrong(`${entry.nr} was admitted above ${refusing}`)
    if (!isAdmitted) {
      entry.refusedBy = [...entry.refusedBy, ...refusing]
      entry.wasRefused = true
      entry.isDone ||= this.#givesUp(entry)
      return reply
    }
    entry.isAdmitted = true
    this.counts.admitted++
    if (entry.wasRefused) this.counts.waited++
    this.counts.compared += earlier.length
    const overtaken = [...entry.needs.keys()].filter((limit) => claimed.has(limit))
    if (overtaken.length > 0 && !this.#isCrowded) this.#suspect(earlier, `${entry.nr} overtook in ${overtaken}`)
    const alike = earlier.find((each) => isAlike(each, entry))
    if (alike !== undefined && !this.#isCrowded)
      this.#suspect([alike], `${entry.nr} overtook ${alike.nr}, which is alike`)
    return reply
  }

  /** Whether its refusal ends the wait. */
  #givesUp(entry: Entry): boolean {
    const decision: Decision = this.#judge.peekSync(this.#request(entry) as never)
    if (decision.allowed) return false
    const { refusedBy, retryable, retryAfterMs } = decision
    const opensAt = refusedBy.kind === 'concurrency' ? 0 : this.#time.now + (retryAfterMs ?? 0)
    const isTooLate = opensAt > entry.deadline
    return !retryable || (isTooLate && !entry.expectsGiveBacks)
  }

  /** The limits in which no request may overtake. */
  #claims(waiting: Entry[]): ReadonlySet<string> {
    const certain = new Set<string>()
    const possible = new Set<string>()
    for (const entry of waiting.sort(byRank)) {
      const needs = [...entry.needs.keys()]
      // What is given back at this moment is not known to the queue.
      const known = this.#givingBack > 0 ? entry.refusedBy : []
      const refusing = [...this.#refusing(entry), ...known].map((limit) => needs.indexOf(limit))
      const keptAt = needs.findIndex((limit) => possible.has(limit))
      const places = keptAt === -1 ? refusing : [...refusing, keptAt]
      const upTo =
        places.length === 0
          ? { least: needs.length, most: needs.length }
          : { least: Math.min(...places), most: Math.max(...places) }
      for (const limit of needs.slice(0, upTo.least + 1)) certain.add(limit)
      for (const limit of needs.slice(0, upTo.most + 1)) possible.add(limit)
    }
    return certain
  }

  /** The limits that refuse a request now. */
  #refusing(entry: Entry): string[] {
    const decision: Decision = this.#judge.peekSync(this.#request(entry) as never)
    if (decision.allowed) return []
    return decision.refusals.map(({ name }) => limitOf(entry.subject, name))
  }

  /** One refused because the queue is full learns that a moment later: until then it seems to wait. */
  #suspect(overtaken: readonly Entry[], message: string): void {
    this.log.push(`${this.#time.now} suspected: ${message}`)
    this.#suspicions.push(() => {
      const isFull = overtaken.some(
        ({ outcome }) => outcome !== undefined && 'reason' in outcome && outcome.reason === 'queue_full',
      )
      if (!isFull) this.#wrong(message)
    })
  }

  #wrong(message: string): void {
    this.#fault ??= message
  }

  async #requireFaultless(): Promise<void> {
    if (this.#suspicions.length > 0) await turn()
    for (const judge of this.#suspicions.splice(0)) judge()
    if (this.#fault !== undefined) throw new Error(this.#fault)
  }
}

const OF_USERS = ORDER.filter((name) => name.startsWith('user/'))
const GIVE_BACKS: ReadonlySet<unknown> = new Set(['settle', 'reset', 'sweep'])

function limitOf(subject: Subject, limit: string): string {
  const [layer] = limit.split('/')
  return layer === 'service' ? limit : `${limit}/${layer === 'user' ? subject.user : subject.team}`
}

function needsOf(
  subject: Subject,
  operation: Operation,
  requests: number,
  tokens: number | undefined,
): Map<string, number> {
  const { slots, tokens: price } = PRICES[operation]
  const amountOf = (label: string): number => {
    if (label === 'running') return slots
    if (label === 'heavy') return operation === 'heavy' ? requests : 0
    return label === 't3s' || label === 'pace' ? (tokens ?? price) : requests
  }
  const applying = ORDER.filter((limit) => subject.team !== null || !limit.startsWith('team/'))
  const needs = applying.map((limit) => [limitOf(subject, limit), amountOf(limit.split('/')[1]!)] as const)
  return new Map(needs.filter(([, amount]) => amount > 0))
}

function isAlike(a: Entry, b: Entry): boolean {
  const textOf = ({ subject, operation, cost, limits }: Entry) => JSON.stringify([subject, operation, cost, limits])
  const [one, other] = [a, b].map(textOf)
  return one === other
}

function byRank(a: Entry, b: Entry): number {
  return a.rank - b.rank || a.nr - b.nr
}

function randomBy(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
