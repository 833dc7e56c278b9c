/** One connection of a {@link PostgresPool}, like pg's `PoolClient`. */
export interface PostgresClient {
  query(query: PostgresQuery): PromiseLike<PostgresResult>
  on(event: 'error', listener: (error: Error) => void): unknown
  /** @param destroy the connection must not be used again */
  release(destroy?: boolean): void
  /** Whether it sends queries before earlier ones are answered. */
  readonly pipeline?: boolean
  /** The stream that it writes to, if it exposes it. */
  readonly connection?: { readonly stream?: { cork?(): void; uncork?(): void; destroy?(): void } }
}

export interface PostgresQuery {
  readonly text: string
  /** The name under which the server keeps the parsed query. */
  readonly name?: string
  readonly values?: unknown[]
  readonly rowMode?: 'array'
}

export interface PostgresResult {
  readonly command: string
  readonly rows: unknown[]
}

/** Provides connections: a `Pool` of pg, or anything with its `connect`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  /** How many callers wait for a connection, if the pool exposes it. */
  readonly waitingCount?: number
  /** The database that it connects to, if the pool exposes it. */
  readonly options?: {
    readonly connectionString?: string | undefined
    readonly host?: string | undefined
    readonly port?: number | undefined
    readonly database?: string | undefined
    /** Not supported. */
    readonly binary?: boolean | undefined
  }
  /** Reports idle connections that end, and new ones. */
  on?(event: 'error' | 'connect', listener: () => void): unknown
}

/**
 * A store's server, database and table as text without credentials. It is equal for stores that share counters.
 *
 * @returns `undefined` if the pool doesn't expose its database
 */
export function placeOf({ options }: PostgresPool, table: string): string | undefined {
  if (options === undefined) return undefined
  const { connectionString: text = '', host = '', port = '', database = '' } = options
  if (!URL.canParse(text)) return `postgres ${host}:${port} ${database} ${table}`
  const url = new URL(text)
  return `postgres ${url.hostname}:${url.port} ${url.pathname.slice(1)} ${table}`
}

const LISTENED = new WeakSet<object>()

/**
 * Listens to a pool's errors about idle connections. They are made again when needed; without a listener a pool of pg
 * ends the process.
 */
export function outliveLostConnections(pool: { on?(event: 'error', listener: () => void): unknown }): void {
  if (LISTENED.has(pool)) return
  LISTENED.add(pool)
  pool.on?.('error', () => undefined)
}
