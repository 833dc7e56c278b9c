import { ModelOwn, PERSONAL_LIMITS } from './model-own.ts'
import type { Lease, Message, Rule, Step, Work } from './model-parts.ts'
import {
  checkBalance,
  checkFinish,
  checkPromises,
  type ModelProcess,
  type Played,
  Violation,
} from './model-promises.ts'
import { ModelSite, PERIOD_TICKS, SITE_KINDS } from './model-site.ts'
import { endOf } from './model-windows.ts'

const LEASE_TICKS = 3

/** Where tokens of the site were charged, and under which limit. */
type Charged = Pick<Work, 'starts' | 'limit'> & { readonly tokens: number }

/**
 * The lease protocol without any server: two processes, and a site with a replica. Messages are lost, late, doubled or
 * overtake each other, processes crash, the replica takes over. Time is a number of ticks.
 */
export class LeaseModel implements Played {
  now = 1
  readonly site: ModelSite
  readonly owns: readonly ModelOwn[]
  readonly processes: readonly ModelProcess[] = [0, 1].map(() => ({ leases: [], version: 0, period: 0 }))
  readonly works: Work[] = []
  /** Nothing was lost, repeated or forgotten so far: then every token has to be where it belongs. */
  #isLossless = true
  readonly #without: Rule | undefined
  #version = 0
  #serial = 0
  #replicated = 0
  #messages: Message[] = []

  constructor(without?: Rule) {
    this.#without = without
    this.site = new ModelSite(without)
    this.owns = PERSONAL_LIMITS.map((limit) => new ModelOwn(limit, without))
  }

  step(step: Step): void {
    if (step.kind === 'ask') this.#ask(step.process, step.cost)
    else if (step.kind === 'refresh') this.#sendGrant(step.process, undefined, false)
    else if (step.kind === 'give back') this.#returnLease(step.process)
    else if (step.kind === 'learn') this.processes[step.process]!.version = this.#version
    else if (step.kind === 'crash') this.#crash(step.process)
    else if (step.kind === 'deliver') this.#deliver(step.of, step.replicated)
    else if (step.kind === 'lose') this.#lose(step.of)
    else if (step.kind === 'double') this.#double(step.of)
    else if (step.kind === 'cancel') this.#cancel(step.of)
    else if (step.kind === 'tick') this.now += step.ticks
    else if (step.kind === 'limit') this.#changeLimit(step.tokens)
    else if (step.kind === 'failover') this.#failover()
    else if (this.#left('never take back')) this.#takeBack()
    checkPromises(this)
  }

  /** Everything in flight arrives. Then each open window must have been opened for some work, and no token be missing. */
  finish(): void {
    this.#deliverAll()
    checkFinish(this)
    if (this.#isLossless) checkBalance(this, (used, known) => used === known)
  }

  #send(message: Message): void {
    this.#messages.push(message)
  }

  #sendGrant(process: number, work: Work | undefined, open: boolean): void {
    const { period } = this.processes[process]!
    this.#send({ kind: 'grant', work, process, sentAt: this.now, open, period })
  }

  #live(process: number): Lease[] {
    const { leases, version } = this.processes[process]!
    return leases.filter(
      (lease) =>
        this.now < lease.until && (this.#left('drop what lowered limits granted') || lease.version === version),
    )
  }

  /** Tokens that a request does not need go to a lease that lives, on the same windows; else to the site. */
  #putBack(process: number, { starts, tokens, limit }: Charged): void {
    const isSame = (lease: Lease) => lease.starts.every((start, w) => start === starts[w])
    const lease = this.#live(process).find((each) => this.#left('put back into the same windows') || isSame(each))
    if (lease !== undefined) {
      lease.tokens += tokens
      lease.limit = Math.max(lease.limit, limit)
    } else this.site.credit(starts, tokens)
  }

  #left(rule: Rule): boolean {
    return this.#without === rule
  }

  #ask(process: number, cost: number): void {
    const work: Work = { process, cost, state: 'asking', starts: [], limit: 0, personalStart: 0 }
    this.works.push(work)
    const lease = this.#spend(work)
    if (lease === undefined) {
      this.#sendGrant(process, work, false)
      return
    }
    this.#chargeFrom(work, lease)
    this.#askPersonal(work)
  }

  /** What one lease has, or several of the same windows together. */
  #spend({ process, cost }: Work): Lease | undefined {
    const live = this.#live(process)
    const newest = live.at(-1)
    const isSame = ({ starts, limit }: Lease) =>
      limit === newest!.limit && starts.every((start, w) => start === newest!.starts[w])
    const one = live.find(({ tokens }) => tokens >= cost)
    const spent = one === undefined ? live.filter(isSame) : [one]
    if (spent.reduce((sum, { tokens }) => sum + tokens, 0) < cost) return undefined
    let left = cost
    for (const lease of spent) {
      const tokens = Math.min(left, lease.tokens)
      lease.tokens -= tokens
      left -= tokens
    }
    return one ?? newest
  }

  /** The tokens count from here on: in windows that are open now, under limits that nobody knows to be lowered. */
  #chargeFrom(work: Work, { starts, limit, version }: Pick<Lease, 'starts' | 'limit' | 'version'>): void {
    if (version < this.processes[work.process]!.version) throw new Violation('tokens of limits known to be lowered')
    for (const [w, start] of starts.entries()) {
      if (this.now >= endOf(SITE_KINDS[w]!, start)) throw new Violation('tokens of a window that is over')
    }
    work.starts = starts
    work.limit = limit
    work.state = 'charged'
  }

  #askPersonal(work: Work): void {
    const kind = this.#left('row and record together') ? 'record' : 'personal'
    this.#send({ kind, work, process: work.process })
  }

  #deliverAll(): void {
    for (let left = 200; left > 0 && this.#messages.length > 0; left--) {
      this.#deliver(0, true)
      checkPromises(this)
    }
  }

  #deliver(of: number, replicated: boolean): void {
    if (replicated) {
      this.site.replicate()
      this.#replicated = this.#serial
    }
    const message = this.#messages.splice(of % Math.max(1, this.#messages.length), 1)[0]
    if (message === undefined) return
    if (message.kind === 'grant') this.#grant(message)
    else if (message.kind === 'granted') this.#granted(message)
    else if (message.kind === 'personal') this.#decidePersonal(message.work)
    else if (message.kind === 'record') this.#writeRecord(message.work)
    else if (message.kind === 'personal says') this.#personalSays(message.work, message.admitted)
    else if (message.kind === 'return') this.#return(message)
    else if (message.kind === 'would open') this.#wouldOpen(message.work)
    else if (message.kind === 'stale') this.#stale(message)
    else if (message.kind === 'site refused') this.#siteRefused(message.work)
  }

  // At the site ------------------------------------------------------------------------------------------------------

  #grant({ work, process, sentAt, open, period }: Message & { kind: 'grant' }): void {
    const reply = this.site.grant(this.now, work?.cost ?? 0, open, period)
    if (reply.says === 'granted') {
      this.#lease(reply, { work, process, sentAt })
    } else if (work !== undefined) {
      if (reply.says === 'stale') this.#send({ kind: 'stale', work, process, open, period: reply.period })
      else if (reply.says === 'would open') this.#send({ kind: 'would open', work, process })
      else this.#send({ kind: 'site refused', work, process })
    }
  }

  #lease(
    { lease: id, extra, starts, limit }: Extract<ReturnType<ModelSite['grant']>, { says: 'granted' }>,
    { work, process, sentAt }: Pick<Message & { kind: 'grant' }, 'work' | 'process' | 'sentAt'>,
  ): void {
    this.#serial++
    const ends = starts.map((start, w) => {
      const isLeft = SITE_KINDS[w]!.period !== undefined && this.#left('end with the period')
      const end = endOf(SITE_KINDS[w]!, start)
      // Charged now, and so in windows of now.
      if (this.now >= end) throw new Violation('tokens of a window that is over')
      return isLeft ? Number.POSITIVE_INFINITY : end - this.now
    })
    const until = this.#left('end with the window') ? Number.POSITIVE_INFINITY : sentAt + Math.min(...ends, LEASE_TICKS)
    const lease = { id, starts, limit, version: this.#version, until, tokens: extra }
    if (work !== undefined) {
      // The charge at the site is the deduction, and its instant.
      work.starts = starts
      work.limit = limit
    }
    this.#send({ kind: 'granted', work, process, lease, sentAt, serial: this.#serial })
  }

  #return({ lease, starts, tokens }: Message & { kind: 'return' }): void {
    if (this.site.return(lease, starts, tokens) < tokens) this.#isLossless = false
  }

  #takeBack(): void {
    this.#isLossless = false
    this.site.takeBack()
  }

  /** The replica takes over; nobody will ever acknowledge what it had not heard of. */
  #failover(): void {
    this.#isLossless = false
    this.site.failover()
    this.#messages = this.#messages.map((message) =>
      message.kind === 'granted' && message.serial > this.#replicated
        ? { ...message, serial: Number.POSITIVE_INFINITY }
        : message,
    )
  }

  #changeLimit(tokens: number): void {
    this.site.limit = tokens
    this.#version++
  }

  // In a process -----------------------------------------------------------------------------------------------------

  #granted({ work, process, lease, sentAt, serial }: Message & { kind: 'granted' }): void {
    const member = this.processes[process]!
    member.period = Math.max(member.period, Math.floor(this.now / PERIOD_TICKS))
    if (serial > this.#replicated && !this.#left('wait for the replica')) {
      // Fewer acknowledgements than replicas: not used, and nobody knows what becomes of it.
      this.#isLossless = false
      if (work !== undefined && work.state === 'asking') work.state = 'failed'
      return
    }
    this.#keep(process, lease, sentAt)
    if (work === undefined) return
    if (work.state !== 'asking' && work.state !== 'charged') return
    if (this.#left('charge at the site is the instant')) this.#chargeFrom(work, { ...lease, version: member.version })
    work.state = 'charged'
    if (work.personalStart > 0) work.state = 'admitted'
    else this.#askPersonal(work)
  }

  #keep(process: number, lease: Lease, sentAt: number): void {
    const { leases, version } = this.processes[process]!
    const until = this.#left('count from the sending') ? this.now + lease.until - sentAt : lease.until
    const kept = { ...lease, until }
    const old = leases[0]
    if (this.#left('never merge') && old !== undefined) leases[0] = { ...kept, tokens: kept.tokens + old.tokens }
    else if (lease.version >= version) leases.push(kept)
    else this.#isLossless = false
  }

  #stale({ work, process, open, period }: Message & { kind: 'stale' }): void {
    this.processes[process]!.period = period
    this.#sendGrant(process, work, open)
  }

  /** Personal is charged first, and only then are windows opened at the site. */
  #wouldOpen(work: Work): void {
    if (this.owns[work.process]!.charge(work, this.now)) this.#sendGrant(work.process, work, true)
    else work.state = 'refused'
  }

  #siteRefused(work: Work): void {
    const own = this.owns[work.process]!
    const ends = this.site.refusingEnds(this.now, work.cost)
    if (work.personalStart > 0) own.undo(work, this.#areOthersIn(work))
    work.state = 'refused'
    const end = own.refusingEnd(this.now, work.cost)
    // Others may have been served since the site said no: then there is nothing to hold the answer against.
    if (ends.length === 0 || end === undefined) return
    if (!this.#left('peek at personal')) ends.push(end)
    if (end > Math.max(...ends)) throw new Violation('refused at the end that a refusal gave')
  }

  #areOthersIn(work: Work): boolean {
    return this.works.some(
      (other) => other !== work && other.process === work.process && other.personalStart === work.personalStart,
    )
  }

  #decidePersonal(work: Work): void {
    const admitted = this.owns[work.process]!.charge(work, this.now)
    // From now on requests under the id report that it was admitted.
    if (admitted) work.state = 'doubt'
    this.#send({ kind: 'personal says', work, process: work.process, admitted })
  }

  /** Left out: the id's record and the row are written one after the other. */
  #writeRecord(work: Work): void {
    const { start, isClosed } = this.owns[work.process]!.window
    work.personalStart = isClosed ? 0 : start
    work.state = 'doubt'
    this.#send({ kind: 'personal', work, process: work.process })
  }

  #personalSays(work: Work, admitted: boolean): void {
    if (admitted) {
      if (work.state === 'doubt') work.state = 'admitted'
      return
    }
    work.state = 'refused'
    this.#putBack(work.process, tokensOf(work))
  }

  #returnLease(process: number): void {
    const { leases } = this.processes[process]!
    const lease = leases[0]
    if (lease === undefined) return
    this.#send({ kind: 'return', process, lease: lease.id, starts: lease.starts, tokens: lease.tokens })
    if (!this.#left('deduct before the return')) leases.shift()
  }

  #crash(process: number): void {
    this.#isLossless = false
    const member = this.processes[process]!
    member.leases = []
    member.period = Math.floor(this.now / PERIOD_TICKS)
    const SENT = ['return', 'grant', 'personal']
    this.#messages = this.#messages.filter((message) => message.process !== process || SENT.includes(message.kind))
  }

  /** A message that never arrives. Where it is an answer, nobody knows what was done. */
  #lose(of: number): void {
    this.#isLossless = false
    const message = this.#messages.splice(of % Math.max(1, this.#messages.length), 1)[0]
    const isCredited = this.#left('credit nothing in doubt') && message?.kind === 'personal says'
    if (isCredited) this.#putBack(message.process, tokensOf(message.work))
  }

  /** A return that is sent again, since it is in doubt whether it arrived. */
  #double(of: number): void {
    const message = this.#messages[of % Math.max(1, this.#messages.length)]
    if (message?.kind !== 'return') return
    this.#isLossless = false
    this.#send(message)
  }

  #cancel(of: number): void {
    const admitted = this.works.filter(
      ({ state }) => state === 'admitted' || (state === 'doubt' && this.#left('row and record together')),
    )
    const work = admitted[of % Math.max(1, admitted.length)]
    if (work === undefined) return
    work.state = 'cancelled'
    this.owns[work.process]!.refund(work)
    this.#putBack(work.process, tokensOf(work))
  }
}

/** The tokens that a request was charged at the site. */
function tokensOf({ starts, limit, cost }: Work): Charged {
  return { starts, limit, tokens: cost }
}
