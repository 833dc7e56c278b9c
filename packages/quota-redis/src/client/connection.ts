import { QuotaError } from '@scoregw/quota'
import type { Redis, RedisOptions } from 'ioredis'
import type { OwnClient, OwnClientOptions } from './client-types.ts'
import { checkEviction, type RedisLogger } from './eviction-policy.ts'

/** A server among others, and what is told of it. */
export interface Place {
  readonly host: string
  readonly port: number
  onErrorReply(error: Error): void
  onClosed(): void
}

/** A server that returns is found within this time. */
const MAX_RETRY_DELAY_MS = 200
/** An attempt to connect, or a server that does not answer, is given up after this time and the line made anew. */
const SILENCE_MS = 1_000

/**
 * What makes a lost reply a single error instead of a second execution. With ioredis' own settings a command whose
 * reply is lost is sent again, so a charge is made twice.
 */
const OPTIONS: RedisOptions & { readonly replyMapping: 'legacy' } = {
  autoResendUnfulfilledCommands: false,
  // 0: whatever is under way when the connection breaks rejects at once; without it, it may never settle.
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  autoResubscribe: false,
  retryStrategy: (attempt) => Math.min(20 * 2 ** Math.min(attempt - 1, 10), MAX_RETRY_DELAY_MS),
  connectTimeout: SILENCE_MS,
  socketTimeout: SILENCE_MS,
  disconnectTimeout: 50,
  keepAlive: 5_000,
  noDelay: true,
  enableReadyCheck: true,
  maxLoadingRetryTime: 50,
  lazyConnect: false,
  // Whatever the caller's client has set for its own use, and the scripts could not see.
  keyPrefix: '',
  stringNumbers: false,
  replyMapping: 'legacy',
  commandTimeout: undefined,
  readOnly: false,
  monitor: false,
}

/** How connections are made to a server that `client` is connected to, or to another one of the same kind. */
function optionsOf(place: Place | undefined): RedisOptions {
  return {
    ...OPTIONS,
    ...(place === undefined ? {} : { host: place.host, port: place.port }),
    reconnectOnError(error) {
      place?.onErrorReply(error)
      // A former primary tells that it became a replica: look again who is who. `true` does not resend the command.
      return error.message.startsWith('READONLY')
    },
  }
}

/** Those who wait for one attempt to connect. */
export class Waiters {
  readonly promise: Promise<void>
  resolve!: () => void
  reject!: (error: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    // Those who asked hear of it; nobody else is to.
    this.promise.catch(() => undefined)
  }
}

/** A connection of our own to one server. */
export class Connection implements OwnClient {
  readonly redis: Redis
  readonly #options: Omit<OwnClientOptions, 'key'>
  readonly #logger: RedisLogger
  #usable = false
  #closed = false
  /** The server was looked at and failed the check, on the connection that stands now. */
  #refused = false
  /** The last attempt to connect failed. */
  #down = false
  #waiters: Waiters | undefined
  #lastError: unknown

  /** @param place for a server of a cluster: which one */
  constructor(client: Redis, options: Omit<OwnClientOptions, 'key'>, place?: Place) {
    this.#options = options
    this.#logger = options.logger ?? { warn: (message) => process.emitWarning(message, 'QuotaWarning') }
    this.redis = client.duplicate(optionsOf(place))
    this.redis.on('error', (error) => {
      this.#lastError = error
    })
    this.redis.on('ready', () => void this.#check())
    for (const event of ['close', 'end']) {
      this.redis.on(event, () => {
        this.#down = !this.#usable
        this.#usable = false
        this.#refused = false
        this.#fail(notConnected(this.#lastError))
        place?.onClosed()
      })
    }
  }

  get usable(): boolean {
    return this.#usable
  }

  ready(): Promise<void> {
    if (this.#usable) return Promise.resolve()
    if (this.#closed) return Promise.reject(notConnected(new Error('closed')))
    if (this.#down) return Promise.reject(notConnected(this.#lastError))
    this.#waiters ??= new Waiters()
    const { promise } = this.#waiters
    // Asked again, the server is looked at again: it may have been told better meanwhile.
    if (this.#refused) {
      this.#refused = false
      void this.#check()
    }
    return promise
  }

  askedServer(): undefined {
    return undefined
  }

  close(): void {
    this.#closed = true
    this.#usable = false
    this.redis.disconnect()
    this.#fail(notConnected(new Error('closed')))
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    const { evictionPolicy, onUsable } = this.#options
    try {
      if (evictionPolicy !== undefined) await checkEviction(this.redis, evictionPolicy, this.#logger)
    } catch (error) {
      this.#refused = this.redis.status === 'ready'
      this.#fail(error instanceof QuotaError ? error : notConnected(error))
      return
    }
    if (this.redis.status !== 'ready') return
    this.#lastError = undefined
    this.#down = false
    this.#usable = true
    this.#waiters?.resolve()
    this.#waiters = undefined
    onUsable?.(this.redis)
  }

  #fail(error: unknown): void {
    this.#waiters?.reject(error)
    this.#waiters = undefined
  }
}

/** What `send` writes goes out at once on each connection: many script calls share a packet, and a round trip. */
export function together(connections: readonly Connection[], send: () => void): void {
  const streams = connections.filter(({ usable }) => usable).map(({ redis }) => redis.stream)
  for (const stream of streams) stream.cork()
  try {
    send()
  } finally {
    for (const stream of streams) stream.uncork()
  }
}

export function notConnected(cause: unknown): QuotaError {
  const reason = cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : ''
  return new QuotaError('store_error', `not connected to Redis${reason}`, { cause })
}
