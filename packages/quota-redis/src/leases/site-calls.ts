import type { Clock } from '@scoregw/quota'
import { Breaker, type Layout, notDone } from '@scoregw/quota/store'
import { damagedRow, isReplyOf, refusal, storeError, verdictOf } from '../line/errors.ts'
import type { Line, Reply } from '../line/line.ts'
import type { Script } from '../lua/script.ts'
import { jsonLimit } from '../operations/batch.ts'
import { DAMAGE } from '../operations/codes.ts'
import { unpackRows } from '../operations/row-bytes.ts'
import { SpanNumbers } from '../operations/span-numbers.ts'
import { Deadline } from '../store/deadline.ts'
import { type Lease, MAX_LEASE_MS, type Moment, momentBy } from './lease.ts'
import type { Terms } from './site-answer.ts'
import { grantScript, returnScript } from './site-scripts.ts'

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
export interface GrantRequest extends Terms {
  readonly costs: readonly number[]
  /** Tokens wanted beyond the costs, at the most. */
  readonly wanted: number
  /** Tokens of its leases that the process has not spent. */
  readonly idle: number
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
  readonly leasedByOthers: number
  /** Of the settings that the site knows, if it was asked. */
  readonly settingsRevision: string
  /** Cells of the rows before the grant. */
  readonly cells: Float64Array
  readonly sentAt: Moment
  /** Whether every replica has it. */
  readonly isReplicated: boolean
}

type RawGrant = readonly [
  now: Buffer,
  letters: Buffer,
  tokens: Buffer,
  leasedByOthers: Buffer,
  rows: readonly (Buffer | null)[],
  revision: Buffer,
]

export interface SiteCallsParts {
  /** Of its own: `WAIT` holds up what comes behind it. */
  readonly line: Line
  /** How many replicas could take the place of the site's server. */
  readonly replicas: (server: Line) => Promise<number>
  readonly layout: Layout
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
  /** Tells processes apart. */
  readonly process: string
}

/** Which rows a call is about. */
export interface SiteKeys {
  readonly settings: string
  readonly lists: string
  readonly book: string
  readonly rows: readonly string[]
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
   * @throws {QuotaError} `store_error`, `damaged_row`
   */
  async grant(keys: SiteKeys, request: GrantRequest, late: (reply: GrantReply) => void): Promise<GrantReply> {
    if (!this.#breaker.admits()) throw notDone(storeError('the site gave no answers for a while and is not asked now'))
    const { testClock, layout, deadlineMs, process } = this.#parts
    const work = async (server: Line): Promise<GrantReply> => {
      const replicas = await this.#parts.replicas(server)
      const sentAt = momentBy(testClock)
      const words = [
        ...this.#keys(keys),
        this.#numbers(request, keys.rows.length),
        layout.list,
        process,
        request.leaseId,
      ]
      const [raw, acknowledged] = await waited(server, grantScript(layout), words, replicas, deadlineMs)
      const [now, letters, tokens, leasedByOthers, rows, revision] = raw as unknown as RawGrant
      const { cells, damaged } = unpackRows(rows, layout, Number(now))
      if (letters.includes(DAMAGE) || damaged.length > 0) throw notDone(damagedRow(keys.rows[damaged[0] ?? 0]))
      return {
        now: Number(now),
        letters: letters.toString(),
        tokens: Number(tokens),
        leasedByOthers: Number(leasedByOthers),
        settingsRevision: revision.toString('latin1'),
        cells,
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
    const { line, layout } = this.#parts
    await line.ready()
    // What goes back goes by starts, whatever periods there are by now.
    const numbers = `[${[...this.#head(new SpanNumbers(layout)), tokens, ...lease.starts].join()}]`
    const words = [...this.#keys(keys), numbers, layout.list, lease.id]
    return (await evaluate(line.server, returnScript(layout), words)) as number
  }

  #keys({ settings, lists, book, rows }: SiteKeys): string[] {
    return [String(3 + rows.length), settings, lists, book, ...rows]
  }

  #head(spans: SpanNumbers): number[] {
    const { layout, testClock } = this.#parts
    return [testClock?.now() ?? -1, layout.hash, ...layout.lengthsMs, ...spans.numbers]
  }

  #numbers(request: GrantRequest, rows: number): string {
    const { limits, costs, wanted, idle, settingsRevision, periods, mayOpen } = request
    const spans = new SpanNumbers(this.#parts.layout)
    const ofRows = spans.of(periods, rows)
    const follows = settingsRevision === undefined ? 0 : JSON.stringify(settingsRevision)
    const times = [REMEMBERED_MS, COUNTED_MS, MAX_LEASE_MS]
    const asked = [follows, mayOpen ? 1 : 0, wanted, idle, ...times, ...ofRows, ...limits.map(jsonLimit), ...costs]
    return `[${[...this.#head(spans), ...asked].join()}]`
  }

  async #within<T>(work: (server: Line) => Promise<T>, late: (answer: T) => void): Promise<T> {
    const { line, deadlineMs } = this.#parts
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
      throw line.usable ? error : storeError('the site cannot be reached', error)
    } finally {
      deadline.met()
    }
  }

  async #tries<T>(work: (server: Line) => Promise<T>, deadline: Deadline): Promise<T> {
    const { line } = this.#parts
    for (;;) {
      try {
        await line.ready()
        return await work(line.server)
      } catch (error) {
        const verdict = verdictOf(error)
        if (verdict === 'refused') throw notDone(refusal(error, 'the site'))
        if (verdict === 'in-doubt') throw storeError('the connection to the site broke before the answer', error)
        if (deadline.isOver) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
      if (deadline.isOver) throw storeError('the site gave no answer in time')
    }
  }
}

/** A script's reply, and how many replicas have what it wrote. Both go out together, so that nothing comes between. */
async function waited(
  server: Line,
  { sha, text }: Script,
  args: readonly string[],
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

async function evaluate(server: Line, { sha, text }: Script, args: readonly string[]): Promise<Reply> {
  try {
    return await server.send('EVALSHA', sha, ...args)
  } catch (error) {
    if (!isReplyOf(error, 'NOSCRIPT')) throw error
    return await server.send('EVAL', text, ...args)
  }
}
