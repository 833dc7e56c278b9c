import type { Clock } from '@scoregw/quota'
import { Instant } from '@scoregw/quota/internal'
import { Breaker, Deadline, notDone } from '@scoregw/quota/store'
import type { Connection, Reply, Word } from '../connection/connection.ts'
import { isReplyOf, refusal, storeError, verdictOf } from '../connection/errors.ts'
import { Batch } from '../counters/batch.ts'
import type { BatchReply, CallBasis, Replay } from '../counters/replay.ts'
import { ListBooks, type Row } from '../counters/rows.ts'
import { scriptOnRows } from '../counters/script.ts'
import type { Keys } from '../keys/keys.ts'
import type { Script } from '../lua/script.ts'
import type { UnitAmounts } from './amounts.ts'
import { type Lease, MAX_LEASE_MS, type Moment, momentBy } from './lease.ts'
import book from './lua/book.lua'
import grant from './lua/grant.lua'
import returnLease from './lua/return.lua'
import type { LeaseLimits } from './shared-answer.ts'
import { positionsOf, spread, spreadPeriods } from './split.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout } = globalThis
const steadyMs = performance.now.bind(performance)

const GRANT_SCRIPT: Script = scriptOnRows(grant, { book })
const RETURN_SCRIPT: Script = scriptOnRows(returnLease, { book })

/** A lease is returned when it ends, even if nothing is left: every grant reads and writes all leases in the book. */
const TIMES = { keep: 5_000, counted: 5_000, usable: MAX_LEASE_MS }
/** The pause before a call is repeated that was not carried out, in milliseconds. */
const AGAIN_AFTER_MS = 20
/** The status of a call that met an unknown list of limits. Nothing was done, and the list is now known. */
const UNKNOWN_LIST = 'l'
const DAMAGED = 'b'

/** A request for a grant. */
export interface GrantRequest extends LeaseLimits {
  /** One entry per request. */
  readonly costs: readonly UnitAmounts[]
  /** The most that is wanted beyond the costs. */
  readonly wanted: UnitAmounts
  /** The unspent amount in this process's leases. */
  readonly idle: UnitAmounts
  readonly mayOpen: boolean
  readonly leaseId: string
}

/** The result of a grant, and the state of its call. */
export interface GrantReply {
  readonly now: number
  /** One per request: see `lua/grant.lua`. */
  readonly statuses: string
  /** The total charged and leased, per unit. */
  readonly amounts: UnitAmounts
  /** The amounts that other processes' live leases may still have, per unit. */
  readonly leasedByOthers: UnitAmounts
  /** The revision that the shared layers have, if it was requested. */
  readonly settingsRevision: string
  /** Cells of the rows before the grant. */
  readonly cells: Float64Array
  readonly sentAt: Moment
  /** Whether every replica has received the grant. */
  readonly isReplicated: boolean
}

export interface SharedCallsDeps {
  /** A separate connection, because `WAIT` delays the commands behind it. */
  readonly connection: Connection
  /** How many replicas could take the place of the shared layers' server. */
  readonly replicas: (server: Connection) => Promise<number>
  readonly keys: Keys
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** A unique id of this process. */
  readonly process: string
}

/** Requests tokens from the shared layers' server, and returns them. */
export class SharedCalls {
  readonly #deps: SharedCallsDeps
  readonly #breaker = new Breaker(steadyMs)
  readonly #basis: CallBasis

  constructor(deps: SharedCallsDeps) {
    const { keys, testClock } = deps
    const { layout } = keys
    this.#deps = deps
    this.#basis = { keys, books: new ListBooks(layout), instant: new Instant(layout), testNow: () => testClock?.now() }
  }

  /**
   * Requests a grant. It is repeated until it is carried out or its outcome is unknown, within the deadline.
   *
   * @param late receives a reply that arrives after the deadline
   * @throws {QuotaError} `store_error`, `damaged_row`
   */
  async grant(
    layers: readonly number[],
    request: GrantRequest,
    late: (reply: GrantReply) => void,
  ): Promise<GrantReply> {
    if (!this.#breaker.admits())
      throw notDone(storeError('the shared layers gave no answers for a while and are not called now'))
    return this.#within((server) => this.#granted(server, layers, request), late)
  }

  /**
   * Returns tokens. It is sent once, even if it fails.
   *
   * @returns what was credited
   * @throws {QuotaError} `store_error`
   */
  async refund(layers: readonly number[], lease: Lease['grant'], amounts: UnitAmounts): Promise<UnitAmounts> {
    const { connection, keys } = this.#deps
    const { units } = keys.schema
    await connection.ready()
    for (;;) {
      const batch = this.#batch(layers, { lease: lease.id, units, amounts, rows: this.#startsOf(layers, lease) })
      for (const layer of layers) batch.row(layer, '')
      const [reply] = await waited(connection.server, RETURN_SCRIPT, batch.args(), 0, 0)
      const replay = batch.replayOf(reply as BatchReply)
      if (replay.statuses !== UNKNOWN_LIST) return amountsOf(replay)
    }
  }

  async #granted(server: Connection, layers: readonly number[], request: GrantRequest): Promise<GrantReply> {
    const { testClock, deadlineMs, process, keys } = this.#deps
    const { units } = keys.schema
    const { leaseId: lease, mayOpen: may_open, costs, wanted, idle: has, ...grant } = request
    const { limits, rates, settingsRevision, periods } = grant
    const all = costs.map((each) => each.slice(0, units.length))
    const at = positionsOf(keys.layout, layers)
    const replicas = await this.#deps.replicas(server)
    for (;;) {
      const batch = this.#batch(layers, { process, lease, units, may_open, costs: all, wanted, has, ...TIMES })
      const grant = {
        subject: '',
        set: 0,
        quotas: { layers, limits: spread(keys.layout, at, limits), rates: rates && spread(keys.layout, at, rates) },
        settingsRevision,
        periods: spreadPeriods(keys.layout, at, periods),
      }
      let rows: readonly Row[] = []
      batch.steps(() => {
        rows = batch.take(grant, [], 'charge')
      })
      const sentAt = momentBy(testClock)
      const [reply, acknowledged] = await waited(server, GRANT_SCRIPT, batch.args(), replicas, deadlineMs)
      const replay = batch.replayOf(reply as BatchReply)
      const { now, statuses, settingsRevision: known } = replay
      const amounts = amountsOf(replay)
      if (statuses.startsWith(DAMAGED)) throw replay.damage(rows)
      if (statuses.startsWith(UNKNOWN_LIST)) continue
      return {
        ...{ now, statuses, settingsRevision: known, cells: replay.cellsOf(rows) },
        ...{ amounts: amounts.slice(0, units.length), leasedByOthers: amounts.slice(units.length) },
        ...{ sentAt, isReplicated: acknowledged >= replicas },
      }
    }
  }

  /** A batch of the counters with the arguments for the scripts of leases: see `lua/book.lua`. */
  #batch(layers: readonly number[], call: object): Batch {
    const batch = new Batch(this.#basis)
    batch.text(JSON.stringify(call))
    batch.index(this.#deps.keys.book(layers))
    return batch
  }

  /** The units and starts of a lease's cells, by row. Lists are numbered as the batch has them: in the order of rows. */
  #startsOf(layers: readonly number[], { starts }: Lease['grant']): object[] {
    const { layout } = this.#deps.keys
    const lists: string[] = []
    let from = 0
    return layers.map((layer) => {
      const { list, size, units } = layout.rowAt(layer)
      if (!lists.includes(list)) lists.push(list)
      from += size
      return {
        list: lists.indexOf(list) + 1,
        units: units.map((unit) => unit + 1),
        starts: starts.slice(from - size, from),
      }
    })
  }

  async #within<T>(work: (server: Connection) => Promise<T>, late: (answer: T) => void): Promise<T> {
    const { connection, deadlineMs } = this.#deps
    const deadline = new Deadline(deadlineMs)
    const answered = this.#tries(work, deadline)
    answered.then(
      (answer) => {
        if (deadline.isOver) late(answer)
      },
      () => undefined,
    )
    try {
      const answer = await Promise.race([answered, deadline.settled.then(() => undefined)])
      if (answer === undefined) throw storeError(`the shared layers gave no answer within ${deadlineMs} ms`)
      this.#breaker.succeeded()
      return answer
    } catch (error) {
      if (verdictOf(error) === 'refused') this.#breaker.succeeded()
      else this.#breaker.failed()
      throw connection.usable ? error : storeError('the shared layers cannot be reached', error)
    } finally {
      deadline.met()
    }
  }

  async #tries<T>(work: (server: Connection) => Promise<T>, deadline: Deadline): Promise<T> {
    const { connection } = this.#deps
    for (;;) {
      try {
        await connection.ready()
        return await work(connection.server)
      } catch (error) {
        const verdict = verdictOf(error)
        if (verdict === 'refused') throw notDone(refusal(error, 'the shared layers'))
        if (verdict === 'in-doubt')
          throw storeError('the connection to the shared layers broke before the answer', error)
        if (deadline.isOver) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
      if (deadline.isOver) throw storeError('the shared layers gave no answer in time')
    }
  }
}

/**
 * A script's reply, and how many replicas have received its writes. Both commands go out together, so that nothing
 * comes between them.
 */
async function waited(
  server: Connection,
  { sha, text }: Script,
  args: readonly Word[],
  replicas: number,
  timeoutMs: number,
): Promise<readonly [Reply, number]> {
  const call = async (command: 'EVALSHA' | 'EVAL', what: string): Promise<readonly [Reply, number]> => {
    const answer = server.send(command, what, ...args)
    if (replicas === 0) return [await answer, 0]
    const acknowledged = server.send('WAIT', replicas, timeoutMs)
    acknowledged.catch(() => undefined)
    return [await answer, (await acknowledged) as number]
  }
  try {
    return await call('EVALSHA', sha)
  } catch (error) {
    if (!isReplyOf(error, 'NOSCRIPT')) throw error
    return await call('EVAL', text)
  }
}

function amountsOf(replay: Replay): number[] {
  return replay.found().toString().split(' ').map(Number)
}
