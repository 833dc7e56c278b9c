import { storeError } from '../step/store-error.ts'
import { isAnswer } from './errors.ts'
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './pool.ts'
import type { PostgresStatements } from './statements.ts'

export type Row = readonly unknown[]

/** Connections with an error listener: without one, a connection that breaks while idle ends the process. */
const LISTENED = new WeakSet<object>()
/** Makes the server find rows by their keys, however small it thinks the tables are. */
const PLANNING = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'].map(
  (name) => `set local ${name} = off;`,
)

/** The dependencies of a {@link Session}. */
export interface SessionDeps {
  readonly pool: PostgresPool
  readonly statements: PostgresStatements
  readonly prefix: string
  readonly deadlineMs: number
}

/** Where a step runs: in its own transaction, or as a part of the caller's. */
export interface StepSession {
  /** Runs a statement. Rows are arrays. */
  run(statement: keyof PostgresStatements, values: unknown[]): Promise<readonly Row[]>
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

  private constructor(client: PostgresClient, deps: SessionDeps) {
    this.#client = client
    this.#deps = deps
  }

  static async open(deps: SessionDeps): Promise<Session> {
    const client = await deps.pool.connect()
    if (!LISTENED.has(client)) {
      LISTENED.add(client)
      client.on('error', ignored)
    }
    return new Session(client, deps)
  }

  /** Runs text under its own name, so that the server parses it once per connection. Rows are arrays. */
  async query(name: string, text: string, values: unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.#send({ name: `${this.#deps.prefix} ${name}`, text, values, rowMode: 'array' })
    return rows as Row[]
  }

  run(statement: keyof PostgresStatements, values: unknown[]): Promise<readonly Row[]> {
    return this.query(statement, this.#deps.statements[statement], values)
  }

  /** Begins a transaction that waits, and keeps its locks, no longer than a deadline, even if this process hangs. */
  begin(): Promise<PostgresResult> {
    const { deadlineMs } = this.#deps
    return this.#send({
      text: `begin isolation level read committed; set local statement_timeout = ${deadlineMs};
        set local idle_in_transaction_session_timeout = ${2 * deadlineMs};
        set local plan_cache_mode = force_generic_plan; ${PLANNING.join(' ')}`,
    })
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

/** A connection for concurrent work, so that statements of one process never wait for each other's locks. */
export class SharedConnection {
  readonly #deps: SessionDeps
  #lease: { readonly opening: Promise<Session>; users: number } | undefined

  constructor(deps: SessionDeps) {
    this.#deps = deps
  }

  /** Works on the shared connection, or on another one if others wait for the pool's, so that they get theirs. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const isShared = this.#lease !== undefined && this.#deps.pool.waitingCount === 0
    const lease = isShared ? this.#lease! : { opening: Session.open(this.#deps), users: 0 }
    this.#lease = lease
    lease.users++
    let isBroken = false
    let session: Session | undefined
    try {
      session = await lease.opening
      return await work(session)
    } catch (error) {
      isBroken = !isAnswer(error)
      throw error
    } finally {
      lease.users--
      const isOver = isBroken || lease.users === 0
      if (isOver && this.#lease === lease) this.#lease = undefined
      if (isOver) session?.release(isBroken)
    }
  }
}

/** Works on its own connection. */
export function onSession<T>(deps: SessionDeps, work: (session: Session) => Promise<T>): Promise<T> {
  return new SharedConnection(deps).use(work)
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
export function arrayOf(list: readonly (string | number | null)[]): unknown {
  const text = JSON.stringify(list)
  return OTHERWISE.test(text) ? list : `{${text.slice(1, -1)}}`
}

function ignored(): void {
  // The next query reports the error.
}
