import { QuotaError } from '@scoregw/quota'
import { Deadline } from '@scoregw/quota/store'
import { checkFormat } from '../schema/tables.ts'
import { storeError } from '../step/store-error.ts'
import { isPooled, isSpoiled } from './errors.ts'
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './pool.ts'
import type { PostgresStatements, Statement } from './statements.ts'

export type Row = readonly unknown[]

/** Connections with an error listener: without one, a connection that breaks while idle ends the process. */
const LISTENED = new WeakSet<object>()
/** Makes the server find rows by their keys, however small it thinks the tables are. */
const PLANNING = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']

/**
 * Notices that a pooler, such as PgBouncer in transaction mode, gives each transaction another session of the server.
 * Statements are then sent without a name, and the server parses them each time.
 */
export class Pooling {
  #isFound = false

  get isFound(): boolean {
    return this.#isFound
  }

  /** @param error of a statement with a name */
  notice(error: unknown): void {
    if (this.#isFound || !isPooled(error)) return
    this.#isFound = true
    const remedy =
      'use pool_mode = session, PgBouncer 1.21 or later with max_prepared_statements, or a direct connection'
    process.emitWarning(`a pooler gives each transaction another session, which makes calls slower: ${remedy}`, {
      type: 'QuotaWarning',
      code: 'transaction_pooling',
    })
  }
}

/** The dependencies of a {@link Session}. */
export interface SessionDeps {
  readonly pool: PostgresPool
  readonly pooling: Pooling
  readonly statements: PostgresStatements
  readonly deadlineMs: number
}

/** Where a step runs: in its own transaction, or as a part of the caller's. */
export interface StepSession {
  readonly statements: PostgresStatements
  /** Runs a statement, which the server usually parses once per connection. Rows are arrays. */
  run(statement: Statement, values: unknown[]): Promise<readonly Row[]>
  begin(): Promise<unknown>
  commit(): Promise<unknown>
  rollback(): Promise<unknown>
  /** Sends the statements that `work` runs before its first wait in one packet. */
  together<const T>(work: () => T): T
}

/** A pool's connection while the store uses it. */
export class Session implements StepSession {
  readonly #client: PostgresClient
  readonly #deps: SessionDeps
  /** The last query, if it must be answered before the next is sent. */
  #last: Promise<unknown> = Promise.resolve()
  #isReleased = false
  /** Whether its connection was made for it. */
  readonly isNew: boolean

  private constructor(client: PostgresClient, deps: SessionDeps, isNew: boolean) {
    this.#client = client
    this.isNew = isNew
    this.#deps = deps
  }

  static async open(deps: SessionDeps): Promise<Session> {
    const client = await deps.pool.connect()
    const isNew = !LISTENED.has(client)
    LISTENED.add(client)
    if (isNew) client.on('error', ignored)
    return new Session(client, deps, isNew)
  }

  get statements(): PostgresStatements {
    return this.#deps.statements
  }

  async run({ name, text }: Statement, values: unknown[]): Promise<readonly Row[]> {
    const { pooling } = this.#deps
    const query = { text, values, rowMode: 'array' } as const
    try {
      const { rows } = await this.#send(pooling.isFound ? query : { ...query, name })
      return rows as Row[]
    } catch (error) {
      pooling.notice(error)
      throw error
    }
  }

  /** Begins a transaction that waits, and keeps its locks, no longer than a deadline, even if this process hangs. */
  begin(): Promise<PostgresResult> {
    const { deadlineMs } = this.#deps
    const settings = {
      statement_timeout: deadlineMs,
      idle_in_transaction_session_timeout: 2 * deadlineMs,
      plan_cache_mode: 'force_generic_plan',
      ...Object.fromEntries(PLANNING.map((name) => [name, 'off'])),
    }
    // One statement sets them in a third of the time of one each.
    const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`)
    return this.#send({ text: `begin isolation level read committed; select ${set.join(', ')}` })
  }

  /** @throws {QuotaError} `store_error` if it was rolled back */
  async commit(): Promise<void> {
    const { command } = await this.#send({ text: 'commit' })
    if (command !== 'COMMIT') throw storeError('PostgreSQL rolled the transaction back')
  }

  rollback(): Promise<PostgresResult> {
    return this.#send({ text: 'rollback' })
  }

  together<const T>(work: () => T): T {
    const stream = this.#client.pipeline === true ? this.#client.connection?.stream : undefined
    stream?.cork?.()
    try {
      return work()
    } finally {
      stream?.uncork?.()
    }
  }

  /** Returns the connection. You can call it again. @param destroy it must not be used again */
  release(destroy: boolean): void {
    if (this.#isReleased) return
    this.#isReleased = true
    // A regular end would wait for the answers to earlier queries.
    if (destroy) this.#client.connection?.stream?.destroy?.()
    this.#client.release(destroy)
  }

  async #send(query: PostgresQuery): Promise<PostgresResult> {
    if (this.#client.pipeline === true) return this.#client.query(query)
    const sent = this.#last.then(() => this.#client.query(query))
    this.#last = sent.catch(ignored)
    return sent
  }
}

/** A connection while it is shared. */
interface Lease {
  readonly opening: Promise<Session>
  session: Session | undefined
  users: number
}

/** A connection for concurrent work, so that statements of one process never wait for each other's locks. */
export class SharedConnection {
  readonly #deps: SessionDeps
  #lease: Lease | undefined

  constructor(deps: SessionDeps) {
    this.#deps = deps
  }

  /** Calls get another connection from now on. */
  abandon(session: Session | undefined): void {
    if (session !== undefined && this.#lease?.session === session) this.#lease = undefined
  }

  /** Works on the shared connection, or on another one if others wait for the pool's, so that they get theirs. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const isShared = this.#lease !== undefined && this.#deps.pool.waitingCount === 0
    const lease: Lease = isShared ? this.#lease! : { opening: Session.open(this.#deps), session: undefined, users: 0 }
    this.#lease = lease
    lease.users++
    let isBroken = false
    let session: Session | undefined
    try {
      session = await lease.opening
      lease.session = session
      return await work(session)
    } catch (error) {
      isBroken = isSpoiled(error)
      throw error
    } finally {
      lease.users--
      const isOver = isBroken || lease.users === 0
      if (isOver && this.#lease === lease) this.#lease = undefined
      if (isOver) session?.release(isBroken)
    }
  }
}

/** Works on its own connection. The work is repeated if a pooler is noticed. */
export async function onSession<T>(deps: SessionDeps, work: (session: Session) => Promise<T>): Promise<T> {
  const connection = new SharedConnection(deps)
  try {
    return await connection.use(work)
  } catch (error) {
    if (!isPooled(error)) throw error
    return connection.use(work)
  }
}

/**
 * Like `Promise.all`, but when it rejects, nothing is in flight any more. It rejects with the first error, from which
 * others follow.
 */
export async function allOf<const T extends readonly unknown[]>(
  all: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(all)
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return (await Promise.all(all)) as { -readonly [K in keyof T]: Awaited<T[K]> }
}

/** Matches escapes of JSON that a PostgreSQL literal doesn't have: all except those of a quote and a backslash. */
const OTHERWISE = /\\[^"\\]/

/**
 * A list as a PostgreSQL literal, made from JSON. They differ only in brackets and control characters. Node's JSON
 * writer is several times as fast as a driver's. Lists with control characters are left to the driver.
 */
export function arrayOf(list: readonly (string | number)[]): unknown {
  const text = JSON.stringify(list)
  return OTHERWISE.test(text) ? list : `{${text.slice(1, -1)}}`
}

function ignored(): void {
  // The next query reports the error.
}

/** The last work of each transaction on its connection. */
const LAST = new WeakMap<object, Promise<unknown>>()

/** Runs a transaction's work after all work before it: savepoints nest, and share one connection. */
export function inOrder<T>(transaction: object, work: () => Promise<T>): Promise<T> {
  const done = (LAST.get(transaction) ?? Promise.resolve()).then(work)
  LAST.set(
    transaction,
    done.catch(() => undefined),
  )
  return done
}

// The first connection ------------------------------------------------------------------------------------------------

/** The default deadline of connecting, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 2_000

/** A pool's first connection. Calls wait for it, and their deadlines start after it. */
export class FirstConnection {
  readonly #connect: (over: Promise<void>) => Promise<unknown>
  readonly #connectTimeoutMs: number
  /** Runs while the connection is being made and nothing has failed yet. */
  #limit: Deadline | undefined
  #isClosed = false
  #error: unknown

  /** @param connect takes a connection of the pool, prepares the first call, and returns it; `over` ends in vain */
  constructor(connect: (over: Promise<void>) => Promise<unknown>, connectTimeoutMs: number) {
    this.#connect = connect
    this.#connectTimeoutMs = connectTimeoutMs
  }

  /** Why it was not made. */
  get error(): unknown {
    return this.#error
  }

  /**
   * Begins to connect. Set while the first connection is being made and nothing has failed yet; resolves when either is
   * over.
   */
  get opening(): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    if (this.otherVersion !== undefined && this.#limit?.isRunning === false) this.#limit = undefined
    this.#limit ??= this.#begin()
    return this.#limit.isRunning ? this.#limit.settled : undefined
  }

  /** Set if the tables have another version. The next call looks again. */
  get otherVersion(): QuotaError | undefined {
    return this.#error instanceof QuotaError && this.#error.code === 'other_version' ? this.#error : undefined
  }

  /** Adds something to prepare. The next call begins again, unless a preparation is in progress or has failed. */
  prepareMore(): void {
    if (this.#limit?.isRunning === false && this.#error === undefined) this.#limit = undefined
  }

  /** Ends all waiting for it. */
  close(): Promise<void> | undefined {
    this.#isClosed = true
    this.#limit?.met()
    return this.#limit?.settled
  }

  #begin(): Deadline {
    this.#error = undefined
    const limit = new Deadline(this.#connectTimeoutMs, () => {
      this.#error = new Error(`no connection within ${this.#connectTimeoutMs} ms`)
    })
    this.#connect(limit.settled)
      .catch((error: unknown) => {
        this.#error = error
      })
      .finally(() => limit.met())
    return limit
  }
}

/** The version of a store's tables. It is read once, before anything else. */
export class TableFormat {
  #isKnown = false

  get isKnown(): boolean {
    return this.#isKnown
  }

  /** @throws {QuotaError} `other_version`; it is read again next time */
  async check(session: Pick<StepSession, 'run' | 'statements'>): Promise<void> {
    const [[version] = []] = await session.run(session.statements.format, [])
    this.found(version)
  }

  /** @throws {QuotaError} `other_version` */
  found(version: unknown): void {
    checkFormat(Number(version))
    this.#isKnown = true
  }
}
