/** One connection of a {@link PostgresPool}, as pg's `PoolClient` is. */
export interface PostgresClient {
  query(query: PostgresQuery): PromiseLike<PostgresResult>
  on(event: 'error', listener: (error: Error) => void): unknown
  /** @param destroy the connection is not to be used again */
  release(destroy?: boolean): void
  /** Whether it sends queries before those that went before are answered. */
  readonly pipeline?: boolean
  /** What it writes to, where it shows that. */
  readonly connection?: { readonly stream?: { cork?(): void; uncork?(): void; destroy?(): void } }
}

export interface PostgresQuery {
  readonly text: string
  /** Under which the server keeps what it parsed. */
  readonly name?: string
  readonly values?: unknown[]
  readonly rowMode?: 'array'
}

export interface PostgresResult {
  readonly command: string
  readonly rows: unknown[]
}

/** Where connections come from: a `Pool` of pg, or anything that has its `connect`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  /** How many wait for a connection, where it shows that. */
  readonly waitingCount?: number
  /** Which database it connects to, where it shows that. */
  readonly options?: {
    readonly connectionString?: string | undefined
    readonly host?: string | undefined
    readonly port?: number | undefined
    readonly database?: string | undefined
  }
  /** Reports connections that end while nobody has them, and new ones. */
  on?(event: 'error' | 'connect', listener: () => void): unknown
}

/**
 * Server, database and prefix of a store, in a text that is the same for two stores that share counters. It has no
 * credentials.
 *
 * @returns `undefined` where the pool doesn't show its database
 */
export function placeOf({ options }: PostgresPool, prefix: string): string | undefined {
  if (options === undefined) return undefined
  const { connectionString: text = '', host = '', port = '', database = '' } = options
  if (!URL.canParse(text)) return `postgres ${host}:${port} ${database} ${prefix}`
  const url = new URL(text)
  return `postgres ${url.hostname}:${url.port} ${url.pathname.slice(1)} ${prefix}`
}

const HEARD = new WeakSet<object>()

/**
 * Listens to a pool's errors about idle connections that end: they are made again when they are needed, and a pool of
 * pg without a listener ends the process.
 */
export function outliveLostConnections(pool: { on?(event: 'error', listener: () => void): unknown }): void {
  if (HEARD.has(pool)) return
  HEARD.add(pool)
  pool.on?.('error', () => undefined)
}
