import type { PostgresClient, PostgresPool, PostgresResult } from './pool.ts'
import type { PostgresStatements } from './statements.ts'

export type Row = readonly unknown[]

/** Connections whose errors are heard: without a listener one that breaks while nobody asks ends the process. */
const HEARD = new WeakSet<object>()
/** After so many plans for the values at hand the server compares their cost with that of a plan for all values. */
const PLANS_OF_VALUES = 5
/** What connections have planned. */
const PLANNED = new WeakMap<object, Set<string>>()

/** What a {@link Session} works with. */
export interface SessionParts {
  readonly pool: PostgresPool
  readonly statements: PostgresStatements
  readonly prefix: string
  readonly deadlineMs: number
}

/** Where a step is made: a transaction of its own, or a part of somebody's. */
export interface StepSession {
  /** Runs a statement. Rows are arrays. */
  run(statement: keyof PostgresStatements, values: unknown[]): Promise<readonly Row[]>
  begin(): Promise<unknown>
  /** Resolves to whether it was: after a statement that failed it is not. */
  commit(): Promise<boolean>
  rollback(): Promise<unknown>
  /** Sends what `work` asks for in one packet, as far as it asks before it waits. */
  together<T>(work: () => T): T
}

/** A connection of a pool, for as long as it is lent. */
export class Session implements StepSession {
  readonly #client: PostgresClient
  readonly #parts: SessionParts
  /** The last query, where one has to be answered before the next is sent. */
  #last: Promise<unknown> = Promise.resolve()
  #isReleased = false

  private constructor(client: PostgresClient, parts: SessionParts) {
    this.#client = client
    this.#parts = parts
  }

  get prefix(): string {
    return this.#parts.prefix
  }

  static async open(parts: SessionParts): Promise<Session> {
    const client = await parts.pool.connect()
    if (!HEARD.has(client)) {
      HEARD.add(client)
      client.on('error', ignored)
    }
    return new Session(client, parts)
  }

  /** Runs text under a name of its own. Rows are arrays. */
  async query(name: string, text: string, values: unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.#send({ name, text, values, rowMode: 'array' })
    return rows as Row[]
  }

  /** Runs a statement under its own name, so that the server plans it once a connection. Rows are arrays. */
  async run(statement: keyof PostgresStatements, values: unknown[]): Promise<readonly Row[]> {
    const { prefix, statements } = this.#parts
    const name = `${prefix} ${statement} 2`
    return this.query(name, statements[statement], values)
  }

  /**
   * Begins a transaction that neither waits nor holds its locks longer than a deadline, also where this process hangs in
   * the middle of it.
   */
  begin(): Promise<PostgresResult> {
    const { deadlineMs } = this.#parts
    return this.#send({
      text: `begin isolation level read committed; set local statement_timeout = ${deadlineMs};
        set local idle_in_transaction_session_timeout = ${2 * deadlineMs};
        set local plan_cache_mode = force_generic_plan`,
    })
  }

  async commit(): Promise<boolean> {
    const { command } = await this.#send({ text: 'commit' })
    return command === 'COMMIT'
  }

  rollback(): Promise<PostgresResult> {
    return this.#send({ text: 'rollback' })
  }

  /**
   * Has the server plan some work, once a connection: rows are found by their keys, never by a look at all of them,
   * whatever it thinks of tables that were small a moment ago. Nothing of the work stays.
   *
   * @param name of the work
   */
  async plan(name: string, work: () => readonly Promise<unknown>[]): Promise<void> {
    const planned = PLANNED.get(this.#client) ?? new Set()
    PLANNED.set(this.#client, planned)
    if (planned.has(name)) return
    const set = ['seqscan', 'hashjoin', 'mergejoin'].map((what) => `set local enable_${what} = off; `).join('')
    await allOf(
      this.together(() => [
        this.begin(),
        this.#send({ text: `${set} set local jit = off` }),
        ...work(),
        this.rollback(),
      ]),
    )
    planned.add(name)
  }

  /** Has the server plan text for whatever values come, also outside of transactions that say so. */
  planText(name: string, text: string, values: () => unknown[]): Promise<void> {
    // Five plans for values that cost much, so that the one for all values is less than those and stays.
    return this.plan(name, () => [
      this.#send({ text: 'set local plan_cache_mode = auto' }),
      ...Array.from({ length: PLANS_OF_VALUES + 1 }, () => this.query(name, text, values())),
    ])
  }

  together<T>(work: () => T): T {
    const stream = this.#client.pipeline === true ? this.#client.connection?.stream : undefined
    stream?.cork?.()
    try {
      return work()
    } finally {
      stream?.uncork?.()
    }
  }

  /** Gives the connection back; more than once does no harm. @param destroy it is not to be used again */
  release(destroy: boolean): void {
    if (this.#isReleased) return
    this.#isReleased = true
    // A farewell would wait for the answers to what was asked before.
    if (destroy) this.#client.connection?.stream?.destroy?.()
    this.#client.release(destroy)
  }

  async #send(query: Parameters<PostgresClient['query']>[0]): Promise<PostgresResult> {
    if (this.#client.pipeline === true) return this.#client.query(query)
    const sent = this.#last.then(() => this.#client.query(query))
    this.#last = sent.catch(ignored)
    return sent
  }
}

/** As `Promise.all`, but when it rejects nothing is under way any more; with the first error, from which others follow. */
export async function allOf<const T extends readonly unknown[]>(
  all: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(all)
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return (await Promise.all(all)) as { -readonly [K in keyof T]: Awaited<T[K]> }
}

function ignored(): void {
  // The next query tells.
}
