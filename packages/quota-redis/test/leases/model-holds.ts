import { HOLD_TICKS, type ModelOwn } from './model-own.ts'
import type { HoldRecord, Lease, Message, Rule, Shared, Work } from './model-parts.ts'
import { checkBalance, type Played } from './model-promises.ts'

/** The model that holds are a part of. */
export interface HoldsModel extends Played {
  isLossless: boolean
  send(message: Message): void
  sendGrant(process: number, work: Work, open: boolean): void
  putBack(process: number, tokens: Pick<Shared, 'starts' | 'tokens' | 'limit'>): void
  /** Whether another work was charged in the own window of a work. */
  areOthersIn(work: Work): boolean
}

/** Operations on holds: in processes, and in the slots of their subjects. */
export class ModelHolds {
  readonly #model: HoldsModel
  readonly #without: Rule | undefined
  /** Marks of tries whose answer was heard. */
  readonly #answered = new Set<number>()
  #marks = 0

  constructor(model: HoldsModel, without: Rule | undefined) {
    this.#model = model
    this.#without = without
  }

  /** The tokens are the request's until they are in the record. */
  send(work: Work, from: Pick<Lease, 'starts' | 'limit'>): void {
    if (work.state === 'asking') work.state = 'charged'
    this.#model.send({ kind: 'hold', work, process: work.process, shared: this.#shared(work, from) })
  }

  granted(work: Work, lease: Lease, open: boolean): void {
    if (!open) this.send(work, lease)
    else this.#sendAttach(work, work.process, this.#shared(work, lease))
  }

  /** The own rows first, in a record that is yet to say what the site charged. */
  wouldOpen(work: Work): void {
    const own = this.#own(work)
    const record = own.recordOf(work)
    const isThere =
      record === undefined ? own.hold(work, this.#model.now, ++this.#marks, undefined) : record.state === 'open'
    if (isThere && record?.shared === undefined) this.#model.sendGrant(work.process, work, true)
    else if (!isThere && record === undefined) work.state = 'refused'
  }

  siteRefused(work: Work): void {
    const own = this.#own(work)
    const record = own.recordOf(work)
    if (record?.shared !== undefined || record?.state === 'gone') return
    if (record !== undefined) own.undo(work, this.#model.areOthersIn(work))
    work.state = 'refused'
  }

  /** Whether a message was about a hold. */
  deliver(message: Message): boolean {
    if (message.kind === 'hold') this.#hold(message)
    else if (message.kind === 'hold says') this.#holdSays(message)
    else if (message.kind === 'attach') this.#attach(message)
    else if (message.kind === 'attach says') this.#attachSays(message)
    else if (message.kind === 'sweep') this.#sweep(message.process)
    else if (message.kind === 'read hold') this.#readToEnd(message.work, message.process)
    else if (message.kind === 'end hold') this.#end(message)
    else if (message.kind === 'end says') this.#endSays(message)
    else return false
    return true
  }

  /** Every hold has ended, and a live process has looked. */
  finish(): void {
    this.#model.now += HOLD_TICKS
    this.#sweep(0)
  }

  checkNothingIsLeft(): void {
    checkBalance(this.#model, (used, known) => used === known)
  }

  #left(rule: Rule): boolean {
    return this.#without === rule
  }

  #own({ process }: Work): ModelOwn {
    return this.#model.owns[process]!
  }

  #shared(work: Work, { starts, limit }: Pick<Lease, 'starts' | 'limit'>): Shared {
    return { mark: ++this.#marks, starts, limit, tokens: work.cost, isRepeated: false }
  }

  // In the slot of a subject -----------------------------------------------------------------------------------------

  #hold({ work, process, shared }: Message & { kind: 'hold' }): void {
    const own = this.#own(work)
    const found = own.recordOf(work)
    const isNew = found === undefined && own.hold(work, this.#model.now, shared.mark, shared)
    if (isNew) this.#isCharged(work, shared)
    const record = found ?? own.recordOf(work)
    const isOpen = record?.state === 'open'
    const known = isOpen ? 'stored' : 'gone'
    const says = isNew ? 'new' : known
    this.#model.send({
      kind: 'hold says',
      work,
      process,
      shared,
      says: record === undefined ? 'refused' : says,
      mark: record?.mark ?? 0,
      isPartial: isOpen && record.shared === undefined,
    })
  }

  #attach({ work, process, shared, version }: Message & { kind: 'attach' }): void {
    const record = this.#own(work).recordOf(work)
    const isMine = record?.shared?.mark === shared.mark
    const isOther = record?.version !== version && !this.#left('apply to the record that was decided on')
    if (record?.state === 'open' && isOther && !isMine) {
      // Another change came first: it is decided on again.
      this.#sendAttach(work, process, shared)
      return
    }
    if (record !== undefined && !isMine && (record.state === 'open' || !isOther)) {
      // Of two tries one was enough: what the other charged stays charged.
      if (record.shared !== undefined && record.state === 'open') this.#model.isLossless = false
      else {
        record.version = ++this.#marks
        record.state = 'open'
        record.shared = shared
        this.#isCharged(work, shared)
      }
    }
    const isGone = record?.state !== 'open' && !isMine
    this.#model.send({ kind: 'attach says', process, shared, isGone })
  }

  #isCharged(work: Work, { starts, limit }: Shared): void {
    work.starts = starts
    work.limit = limit
    work.state = 'doubt'
  }

  #end({ kind: _, ...end }: Message & { kind: 'end hold' }): void {
    const isApplied = this.#own(end.work).end(end)
    this.#model.send({ kind: 'end says', end, process: end.process, isApplied })
  }

  // In a process -----------------------------------------------------------------------------------------------------

  #sendAttach(work: Work, process: number, shared: Shared): void {
    const record = this.#own(work).recordOf(work)
    // A hold that is gone when its record is read doesn't need the tokens.
    if (record?.state === 'open') this.#model.send({ kind: 'attach', work, process, shared, version: record.version })
    else this.#attachSays({ process, shared, isGone: record?.shared?.mark !== shared.mark })
  }

  /** Reads which holds are due, and decides to end them. */
  #sweep(process: number): void {
    for (const own of this.#model.owns) {
      for (const record of own.endedBy(this.#model.now)) this.#sendEnd(record, process)
    }
  }

  #readToEnd(work: Work, process: number): void {
    const record = this.#own(work).recordOf(work)
    if (record !== undefined && (record.state === 'open' || this.#left('hand over once')))
      this.#sendEnd(record, process)
  }

  #sendEnd({ work, version, shared, endsAt }: HoldRecord, process: number): void {
    const as = this.#model.now >= endsAt ? 'ended' : 'cancelled'
    this.#model.send({ kind: 'end hold', work, process, version, next: ++this.#marks, as, shared })
  }

  /** The process whose change was applied has the tokens of the site, and gives them back. */
  #endSays({ end, isApplied }: Message & { kind: 'end says' }): void {
    if (this.#answered.has(end.next)) return
    this.#answered.add(end.next)
    if (!isApplied && !this.#left('hand over what was applied')) {
      this.#readToEnd(end.work, end.process)
      return
    }
    if (end.shared === undefined || this.#left('put what the site charged into the record')) return
    this.#model.putBack(end.process, end.shared)
  }

  #holdSays({ work, process, shared, says, mark, isPartial }: Message & { kind: 'hold says' }): void {
    if (this.#answered.has(shared.mark)) return
    this.#answered.add(shared.mark)
    if (says === 'refused') work.state = 'refused'
    if (isPartial && !this.#left('complete what is partial')) {
      this.#sendAttach(work, process, shared)
      return
    }
    if ((says === 'new' || says === 'stored') && work.state === 'doubt') work.state = 'admitted'
    if (isPartial) work.state = 'admitted'
    const isKept = mark === shared.mark && !(this.#left('a mark tells whose tokens the record has') && says === 'gone')
    if (isKept) return
    // The first of two may arrive after the second was answered.
    if (shared.isRepeated && !this.#left('credit nothing in doubt') && says === 'refused')
      this.#model.isLossless = false
    else this.#model.putBack(process, shared)
  }

  #attachSays({ process, shared, isGone }: Omit<Message & { kind: 'attach says' }, 'kind'>): void {
    if (this.#answered.has(-shared.mark)) return
    this.#answered.add(-shared.mark)
    if (isGone && !this.#left('give back what a gone hold does not need')) this.#model.putBack(process, shared)
  }
}
