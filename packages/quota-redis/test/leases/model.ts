import type { Lease, Message, Rule, Site, Step, Window, Work } from './model-parts.ts'

const SITE_TICKS = [5, 9]
const PERSONAL_TICKS = 7
/** One user at each process: one who soon has nothing left, one who always has. */
const PERSONAL_LIMITS = [4, 30]
const LEASE_TICKS = 3
const EXTRA = 3
/** `used` of a window that is closed. */
const CLOSED = -1

/** A promise was broken. */
export class Violation extends Error {}

export class LeaseModel {
  readonly #without: Rule | undefined
  #now = 1
  #version = 0
  #limit = 6
  #serial = 0
  #replicated = 0
  #leases = 0
  #site: Site = { windows: SITE_TICKS.map(() => ({ start: 0, used: CLOSED })), leases: new Map() }
  #replica: Site = copy(this.#site)
  readonly #personal: readonly Window[] = PERSONAL_LIMITS.map(() => ({ start: 0, used: CLOSED }))
  readonly #processes = [0, 1].map(() => ({ leases: [] as Lease[], version: 0, epoch: 0 }))
  #messages: Message[] = []
  readonly #works: Work[] = []

  constructor(without?: Rule) {
    this.#without = without
  }

  step(step: Step): void {
    if (step.kind === 'ask') this.#ask(step.process, step.cost)
    else if (step.kind === 'refresh') this.#sendGrant(step.process, undefined, false)
    else if (step.kind === 'give back') this.#giveBackLease(step.process)
    else if (step.kind === 'learn') this.#learn(step.process)
    else if (step.kind === 'crash') this.#crash(step.process)
    else if (step.kind === 'deliver') this.#deliver(step.of, step.replicated)
    else if (step.kind === 'lose') this.#lose(step.of)
    else if (step.kind === 'double') this.#double(step.of)
    else if (step.kind === 'cancel') this.#cancel(step.of)
    else if (step.kind === 'tick') this.#now += step.ticks
    else if (step.kind === 'limit') this.#changeLimit(step.tokens)
    else if (step.kind === 'failover') this.#failover()
    else if (this.#left('never take back')) this.#takeBack()
    this.#check()
  }

  /** Everything that is under way arrives; then what was opened must have been for somebody. */
  finish(): void {
    for (let left = 100; left > 0 && this.#messages.length > 0; left--) {
      this.#deliver(0, true)
      this.#check()
    }
    const isOpen = (window: Window, ticks: number) => window.used !== CLOSED && this.#now < window.start + ticks
    const served = this.#works.filter(({ state }) => state !== 'refused')
    for (const [w, window] of this.#site.windows.entries()) {
      if (isOpen(window, SITE_TICKS[w]!) && !served.some(({ starts }) => starts[w] === window.start)) {
        throw new Violation('a site window is open for nobody')
      }
    }
    for (const [process, window] of this.#personal.entries()) {
      const isOpener = (work: Work) => work.process === process && work.personalStart === window.start
      if (isOpen(window, PERSONAL_TICKS) && !served.some(isOpener)) {
        throw new Violation('a personal window is open for nobody')
      }
    }
  }

  #left(rule: Rule): boolean {
    return this.#without === rule
  }

  #ask(process: number, cost: number): void {
    const work: Work = { process, cost, state: 'asking', starts: [], limit: 0, personalStart: 0, opened: false }
    this.#works.push(work)
    const lease = this.#live(process).find(({ tokens }) => tokens >= cost)
    if (lease === undefined) {
      this.#sendGrant(process, work, false)
      return
    }
    this.#deduct(work, lease)
    this.#askPersonal(work)
  }

  #live(process: number): Lease[] {
    const { leases, version } = this.#processes[process]!
    return leases.filter(
      (lease) =>
        this.#now < lease.until && (this.#left('drop what lowered limits granted') || lease.version === version),
    )
  }

  #deduct(work: Work, lease: Lease): void {
    lease.tokens -= work.cost
    this.#chargeFrom(work, lease)
  }

  /** The tokens count from here on: in windows that are open now. */
  #chargeFrom(work: Work, { starts, limit, version }: Pick<Lease, 'starts' | 'limit' | 'version'>): void {
    if (version < this.#processes[work.process]!.version) throw new Violation('tokens of limits known to be lowered')
    work.starts = starts
    work.limit = limit
    work.state = 'charged'
    for (const [w, start] of starts.entries()) {
      if (this.#now >= start + SITE_TICKS[w]!) throw new Violation('tokens of a window that is over')
    }
  }

  #sendGrant(process: number, work: Work | undefined, open: boolean): void {
    this.#messages.push({ kind: 'grant', work, process, sentAt: this.#now, open })
  }

  #askPersonal(work: Work): void {
    if (this.#left('row and record together')) this.#messages.push({ kind: 'record', work, process: work.process })
    else this.#messages.push({ kind: 'personal', work, process: work.process })
  }

  #deliver(of: number, replicated: boolean): void {
    if (replicated) this.#replicate()
    const message = this.#messages.splice(of % Math.max(1, this.#messages.length), 1)[0]
    if (message === undefined) return
    if (message.kind === 'grant') this.#grant(message)
    else if (message.kind === 'granted') this.#granted(message)
    else if (message.kind === 'personal') this.#decidePersonal(message.work)
    else if (message.kind === 'record') this.#writeRecord(message.work)
    else if (message.kind === 'personal says') this.#personalSays(message.work, message.admitted)
    else if (message.kind === 'return') this.#return(message)
    else if (message.kind === 'would open') this.#wouldOpen(message.work)
    else this.#siteRefused(message.work)
  }

  // At the site ------------------------------------------------------------------------------------------------------

  #open(w: number): boolean {
    const { start, used } = this.#site.windows[w]!
    return used !== CLOSED && this.#now < start + SITE_TICKS[w]!
  }

  #grant({ work, process, sentAt, open }: Message & { kind: 'grant' }): void {
    const closed = this.#site.windows.some((_, w) => !this.#open(w))
    if (closed && work === undefined && !this.#left('refresh opens nothing')) return
    if (closed && work !== undefined && !open && !this.#left('personal before opening')) {
      this.#messages.push({ kind: 'would open', work, process })
      return
    }
    const used = this.#site.windows.map((window, w) => (this.#open(w) ? window.used : 0))
    const room = Math.min(...used.map((tokens, w) => this.#limit + 2 * w - tokens))
    const cost = work?.cost ?? 0
    if (cost > room || room <= 0) {
      if (work !== undefined) this.#messages.push({ kind: 'site refused', work, process })
      return
    }
    const extra = Math.min(EXTRA, room - cost)
    for (const [w, window] of this.#site.windows.entries()) {
      if (!this.#open(w)) {
        window.start = Math.max(this.#now, window.start + 1)
        window.used = 0
      }
      if (w === 0 || !this.#left('debit every window')) window.used += cost + extra
      else window.used += cost
    }
    this.#leases++
    this.#site.leases.set(this.#leases, extra)
    this.#serial++
    const starts = this.#site.windows.map(({ start }) => start)
    const left = Math.min(...starts.map((start, w) => start + SITE_TICKS[w]! - this.#now), LEASE_TICKS)
    const until = this.#left('end with the window') ? Number.POSITIVE_INFINITY : sentAt + left
    const lease = { id: this.#leases, starts, limit: this.#limit, version: this.#version, until, tokens: extra }
    if (work !== undefined) {
      work.opened = closed
      // The charge at the site is the deduction, and its instant.
      work.starts = starts
      work.limit = this.#limit
    }
    this.#messages.push({ kind: 'granted', work, process, lease, sentAt, serial: this.#serial })
  }

  #return({ lease, starts, tokens }: Message & { kind: 'return' }): void {
    const most = this.#site.leases.get(lease)
    if (most === undefined && !this.#left('return once')) return
    this.#site.leases.delete(lease)
    this.#credit(starts, this.#left('return once') ? tokens : Math.min(tokens, most ?? 0))
  }

  #credit(starts: readonly number[], tokens: number): void {
    for (const [w, window] of this.#site.windows.entries()) {
      if (window.start === starts[w] && window.used !== CLOSED) window.used = Math.max(0, window.used - tokens)
    }
  }

  /** What a silent holder has is not known; here it is taken back all the same. */
  #takeBack(): void {
    const starts = this.#site.windows.map(({ start }) => start)
    for (const tokens of this.#site.leases.values()) this.#credit(starts, tokens)
    this.#site.leases.clear()
  }

  #replicate(): void {
    this.#replica = copy(this.#site)
    this.#replicated = this.#serial
  }

  /** The replica takes over; nobody will ever acknowledge what it had not heard of. */
  #failover(): void {
    this.#site = copy(this.#replica)
    this.#messages = this.#messages.map((message) =>
      message.kind === 'granted' && message.serial > this.#replicated
        ? { ...message, serial: Number.POSITIVE_INFINITY }
        : message,
    )
  }

  #changeLimit(tokens: number): void {
    this.#limit = tokens
    this.#version++
  }

  // In a process -----------------------------------------------------------------------------------------------------

  #granted({ work, process, lease, sentAt, serial }: Message & { kind: 'granted' }): void {
    if (serial > this.#replicated && !this.#left('wait for the replica')) {
      // Fewer acknowledgements than replicas: not used, and nobody knows what becomes of it.
      if (work !== undefined && work.state === 'asking') work.state = 'failed'
      return
    }
    const { leases, version } = this.#processes[process]!
    const ticks = lease.until - sentAt
    const until = this.#left('count from the sending') ? this.#now + ticks : lease.until
    const kept = { ...lease, until }
    const old = leases[0]
    if (this.#left('never merge') && old !== undefined) leases[0] = { ...kept, tokens: kept.tokens + old.tokens }
    else if (lease.version >= version) leases.push(kept)
    if (work === undefined || (work.state !== 'asking' && work.state !== 'charged')) return
    if (this.#left('charge at the site is the instant')) this.#chargeFrom(work, { ...lease, version })
    work.state = 'charged'
    if (work.personalStart > 0) work.state = 'admitted'
    else this.#askPersonal(work)
  }

  /** Personal is charged first, and only then are windows opened at the site. */
  #wouldOpen(work: Work): void {
    if (this.#chargePersonal(work)) this.#sendGrant(work.process, work, true)
    else work.state = 'refused'
  }

  #siteRefused(work: Work): void {
    const ends = this.#site.windows.flatMap(({ start, used }, w) =>
      this.#open(w) && used + work.cost > this.#limit + 2 * w ? [start + SITE_TICKS[w]!] : [],
    )
    if (work.personalStart > 0) this.#undoPersonal(work)
    work.state = 'refused'
    const { start, used } = this.#personal[work.process]!
    const isOpen = used !== CLOSED && this.#now < start + PERSONAL_TICKS
    const isFull = isOpen && used + work.cost > PERSONAL_LIMITS[work.process]!
    // Others may have been served since the site said no: then there is nothing to hold the answer against.
    if (ends.length === 0) return
    if (isFull && !this.#left('peek at personal')) ends.push(start + PERSONAL_TICKS)
    if (isFull && start + PERSONAL_TICKS > Math.max(...ends)) throw new Violation('refused when told to come again')
  }

  #chargePersonal(work: Work): boolean {
    const window = this.#personal[work.process]!
    const isOpen = window.used !== CLOSED && this.#now < window.start + PERSONAL_TICKS
    if ((isOpen ? window.used : 0) + work.cost > PERSONAL_LIMITS[work.process]!) return false
    if (!isOpen) {
      window.start = Math.max(this.#now, window.start + 1)
      window.used = 0
    }
    window.used += work.cost
    work.personalStart = window.start
    return true
  }

  #undoPersonal(work: Work): void {
    const window = this.#personal[work.process]!
    if (window.start === work.personalStart && window.used !== CLOSED) {
      window.used = Math.max(0, window.used - work.cost)
      if (window.used === 0 && !this.#left('close what was opened in vain')) {
        const others = this.#works.some(
          (other) => other !== work && other.process === work.process && other.personalStart === window.start,
        )
        if (!others) window.used = CLOSED
      }
    }
    work.personalStart = 0
  }

  #decidePersonal(work: Work): void {
    const admitted = this.#chargePersonal(work)
    // Whoever asks for the id from now on hears that it was admitted.
    if (admitted) work.state = 'doubt'
    this.#messages.push({ kind: 'personal says', work, process: work.process, admitted })
  }

  /** Left out: the id's record and the row are written one after the other. */
  #writeRecord(work: Work): void {
    const { start, used } = this.#personal[work.process]!
    work.personalStart = used === CLOSED ? 0 : start
    work.state = 'doubt'
    this.#messages.push({ kind: 'personal', work, process: work.process })
  }

  #personalSays(work: Work, admitted: boolean): void {
    if (admitted) {
      if (work.state === 'doubt') work.state = 'admitted'
      return
    }
    work.state = 'refused'
    this.#putBack(work)
  }

  /** Tokens that a request does not need go to a lease that lives, on the same windows; else to the site. */
  #putBack(work: Work): void {
    const lease = this.#live(work.process).find(
      ({ starts }) =>
        this.#left('put back into the same windows') || starts.every((start, w) => start === work.starts[w]),
    )
    if (lease !== undefined) lease.tokens += work.cost
    else this.#credit(work.starts, work.cost)
  }

  #giveBackLease(process: number): void {
    const { leases } = this.#processes[process]!
    const lease = leases[0]
    if (lease === undefined) return
    this.#messages.push({ kind: 'return', process, lease: lease.id, starts: lease.starts, tokens: lease.tokens })
    if (!this.#left('deduct before the return')) leases.shift()
  }

  #learn(process: number): void {
    this.#processes[process]!.version = this.#version
  }

  #crash(process: number): void {
    this.#processes[process]!.leases = []
    this.#messages = this.#messages.filter((message) => {
      if (message.process !== process || message.kind === 'return') return true
      return message.kind === 'grant' || message.kind === 'personal'
    })
  }

  /** A message that never arrives. Where it is an answer, nobody knows what was done. */
  #lose(of: number): void {
    const message = this.#messages.splice(of % Math.max(1, this.#messages.length), 1)[0]
    if (message?.kind === 'personal says' && this.#left('credit nothing in doubt')) this.#putBack(message.work)
  }

  #double(of: number): void {
    const message = this.#messages[of % Math.max(1, this.#messages.length)]
    if (message?.kind === 'return') this.#messages.push(message)
  }

  #cancel(of: number): void {
    const admitted = this.#works.filter(
      ({ state }) => state === 'admitted' || (state === 'doubt' && this.#left('row and record together')),
    )
    const work = admitted[of % Math.max(1, admitted.length)]
    if (work === undefined) return
    work.state = 'cancelled'
    const window = this.#personal[work.process]!
    if (window.start === work.personalStart && window.used !== CLOSED) {
      window.used = Math.max(0, window.used - work.cost)
    }
    this.#putBack(work)
  }

  // What must hold ---------------------------------------------------------------------------------------------------

  #check(): void {
    const served = this.#works.filter(({ state }) => state === 'admitted' || state === 'doubt')
    for (const w of SITE_TICKS.keys()) {
      for (const start of new Set(served.map(({ starts }) => starts[w]!))) {
        const those = served.filter(({ starts }) => starts[w] === start)
        const sum = those.reduce((total, { cost }) => total + cost, 0)
        const limit = Math.max(...those.map((work) => work.limit)) + 2 * w
        if (sum > limit) throw new Violation(`${sum} of ${limit} tokens in site window ${w}`)
      }
    }
    for (const [process, limit] of PERSONAL_LIMITS.entries()) {
      const those = served.filter((work) => work.process === process && work.personalStart > 0)
      for (const start of new Set(those.map(({ personalStart }) => personalStart))) {
        const sum = those.reduce((total, work) => total + (work.personalStart === start ? work.cost : 0), 0)
        if (sum > limit) throw new Violation(`${sum} of ${limit} tokens in a personal window`)
      }
    }
  }
}

function copy({ windows, leases }: Site): Site {
  return { windows: windows.map((window) => ({ ...window })), leases: new Map(leases) }
}
