/// <reference path="../lua.d.ts" />
import { createHash } from 'node:crypto'
import type { Clock, StoreSchema } from '@scoregw/quota'
import type { Redis } from 'ioredis'
import type { OwnClient } from '../client/client-types.ts'
import { Breaker } from '../store/breaker.ts'
import { Deadline } from '../store/deadline.ts'
import { isUnknownScript, notDone, storeError, verdictOf } from '../store/errors.ts'
import { cellsOfRows } from '../store/packing.ts'
import grant from './grant.lua'
import { type Lease, MAX_LEASE_MS, type Moment, momentBy } from './lease.ts'
import giveBack from './return.lua'

/** How long rows outlive their windows, in milliseconds, as in every other script. */
const GRACE_MS = 60_000
/**
 * How long a lease that was not returned is remembered, in milliseconds: a return is sent when the lease ends. Every
 * grant reads and writes all that are remembered, those that were spent as well.
 */
const REMEMBERED_MS = 5_000
/** How long a process counts as one of those that share, after it last asked, in milliseconds. */
const COUNTED_MS = 5_000
/** Pause before a call that was not carried out is made again, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** What a grant is asked for. */
export interface GrantRequest {
  readonly costs: readonly number[]
  /** Tokens wanted beyond the costs, at the most. */
  readonly wanted: number
  /** Tokens of its leases that the process has not spent. */
  readonly idle: number
  readonly limits: readonly number[]
  readonly settingsVersion: number
  readonly mayOpen: boolean
  readonly leaseId: string
}

export interface GrantReply {
  readonly now: number
  /** One a cost: see `grant.lua`. */
  readonly letters: string
  /** Charged and leased in all. */
  readonly tokens: number
  /** Tokens of other processes' leases that may still be unspent. */
  readonly heldByOthers: number
  /** Cells of the rows before the grant. */
  readonly cells: Float64Array
  readonly sentAt: Moment
  /** Whether every replica has it. */
  readonly isReplicated: boolean
}

type RawGrant = readonly [Buffer, Buffer, Buffer, Buffer, readonly (Buffer | null)[]]

export interface SiteCallsParts {
  /** Of its own: `WAIT` holds up what comes behind it. */
  readonly connection: OwnClient
  /** How many replicas could take the place of the site's server. */
  readonly replicas: (redis: Redis) => Promise<number>
  readonly schema: StoreSchema
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** Tells processes apart. */
  readonly process: string
}

/** Which rows a call is about. */
export interface SiteKeys {
  readonly settingsVersion: string
  readonly book: string
  readonly rows: readonly string[]
}

interface Script {
  readonly text: string
  readonly sha: string
}

const GRANT = script(grant)
const RETURN = script(giveBack)

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** Asks the site's server for tokens, and gives tokens back. */
export class SiteCalls {
  readonly #parts: SiteCallsParts
  readonly #breaker = new Breaker(() => performance.now())

  constructor(parts: SiteCallsParts) {
    this.#parts = parts
  }

  /**
   * Sent until it is carried out or nobody knows whether it was; within the deadline.
   *
   * @param late hears of a reply that comes after the deadline
   * @throws {QuotaError} `store_error`
   */
  async grant(keys: SiteKeys, request: GrantRequest, late: (reply: GrantReply) => void): Promise<GrantReply> {
    if (!this.#breaker.admits()) throw notDone(storeError('the site gave no answers for a while and is not asked now'))
    const all = [keys.settingsVersion, keys.book, ...keys.rows]
    const { testClock, process } = this.#parts
    const args = () => [this.#grantArgs(request), process, request.leaseId]
    let sentAt = momentBy(testClock)
    const work = async (redis: Redis): Promise<GrantReply> => {
      const replicas = await this.#parts.replicas(redis)
      sentAt = momentBy(testClock)
      const words = [String(all.length), ...all, ...args()]
      const [raw, acknowledged] = await waited<RawGrant>(redis, GRANT, words, replicas, this.#parts.deadlineMs)
      const [now, letters, tokens, held, rows] = raw
      return {
        now: Number(now),
        letters: letters.toString(),
        tokens: Number(tokens),
        heldByOthers: Number(held),
        cells: cellsOfRows(rows, this.#parts.schema.windows.length),
        sentAt,
        isReplicated: acknowledged >= replicas,
      }
    }
    return this.#within(work, late)
  }

  /**
   * Sent once, whatever becomes of it.
   * @returns how many tokens were credited
   * @throws {QuotaError} `store_error`
   */
  async giveBack(keys: SiteKeys, lease: Lease['terms'], tokens: number): Promise<number> {
    const { connection, schema } = this.#parts
    await connection.ready()
    const all = [keys.book, ...keys.rows]
    const numbers = JSON.stringify([schema.windows.length, tokens, ...lease.starts])
    return evaluate<number>(connection.redis, RETURN, [String(all.length), ...all, numbers, lease.id])
  }

  #grantArgs({ limits, costs, wanted, idle, settingsVersion, mayOpen }: GrantRequest): string {
    const { schema, testClock } = this.#parts
    const lengths = schema.windows.map(({ lengthMs }) => lengthMs)
    const clock = testClock === undefined ? [-1, 0] : [testClock.now(), 1]
    const kept = [REMEMBERED_MS, COUNTED_MS, MAX_LEASE_MS]
    const finite = limits.map((limit) => (limit === Number.POSITIVE_INFINITY ? '1e999' : limit))
    const head = [...clock, GRACE_MS, lengths.length, ...lengths, settingsVersion, mayOpen ? 1 : 0, wanted, idle]
    return `[${[...head, ...kept, ...finite, ...costs].join()}]`
  }

  async #within<T>(work: (redis: Redis) => Promise<T>, late: (answer: T) => void): Promise<T> {
    const { connection, deadlineMs } = this.#parts
    const deadline = new Deadline(deadlineMs, () => undefined)
    const answered = this.#tries(work, deadline)
    answered.then(
      (answer) => {
        if (deadline.isOver) late(answer)
      },
      () => undefined,
    )
    try {
      const answer = await Promise.race([answered, deadline.settled.then(() => undefined)])
      if (answer === undefined) throw storeError(`the site gave no answer within ${deadlineMs} ms`)
      this.#breaker.succeeded()
      return answer
    } catch (error) {
      if (verdictOf(error) === 'refused') this.#breaker.succeeded()
      else this.#breaker.failed()
      throw connection.usable ? error : storeError('the site cannot be reached', error)
    } finally {
      deadline.met()
    }
  }

  async #tries<T>(work: (redis: Redis) => Promise<T>, deadline: Deadline): Promise<T> {
    const { connection } = this.#parts
    for (;;) {
      try {
        await connection.ready()
        return await work(connection.redis)
      } catch (error) {
        const verdict = verdictOf(error)
        if (verdict === 'refused') throw notDone(storeError('the site refused the work', error))
        if (verdict === 'in-doubt') throw storeError('the connection to the site broke before the answer', error)
        if (deadline.isOver) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
      if (deadline.isOver) throw storeError('the site gave no answer in time')
    }
  }
}

/** A script's reply, and how many replicas have what it wrote. Both go out together, so that nothing comes between. */
async function waited<T>(
  redis: Redis,
  { sha, text }: Script,
  args: readonly string[],
  replicas: number,
  timeoutMs: number,
): Promise<readonly [T, number]> {
  const call = (command: 'EVALSHA' | 'EVAL', what: string): Promise<readonly [T, number]> => {
    const answer = redis.callBuffer(command, what, ...args) as unknown as Promise<T>
    if (replicas === 0) return answer.then((reply) => [reply, 0])
    const acknowledged = redis.wait(replicas, timeoutMs)
    acknowledged.catch(() => undefined)
    return answer.then(async (reply) => [reply, await acknowledged])
  }
  try {
    return await call('EVALSHA', sha)
  } catch (error) {
    if (!isUnknownScript(error)) throw error
    return await call('EVAL', text)
  }
}

async function evaluate<T>(redis: Redis, { sha, text }: Script, args: readonly string[]): Promise<T> {
  try {
    return (await redis.call('EVALSHA', sha, ...args)) as T
  } catch (error) {
    if (!isUnknownScript(error)) throw error
    return (await redis.call('EVAL', text, ...args)) as T
  }
}
