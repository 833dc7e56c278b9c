import { QuotaError } from '@scoregw/quota'
import type { Redis, RedisOptions } from 'ioredis'
import { EvictionCheck } from './eviction-policy.ts'
import type { Line, LineOptions, Reply, Word } from './line.ts'
import { SILENCE_MS, Silence } from './silence.ts'
import { Wire } from './wire.ts'

/** One server of a cluster, with the callbacks of its connection. */
export interface Place {
  readonly host: string
  readonly port: number
  onErrorReply(error: Error): void
  onClosed(): void
}

/** A server that returns is found within this time. */
const MAX_RETRY_DELAY_MS = 200
/** How long a server is trusted not to evict counters before it is asked again, in milliseconds. */
const CHECKED_MS = 10_000

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
  // It would destroy a connection whose answers have arrived but were not read, after the process stood still.
  socketTimeout: undefined,
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
      // A former primary reports that it became a replica: look up the roles again. `true` does not resend the command.
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
export class Connection implements Line {
  /** As the client has it; for the rooms of the line alone. */
  readonly redis: Redis
  readonly #options: LineOptions
  readonly #eviction: EvictionCheck | undefined
  readonly #silence: Silence
  readonly #wire: Wire
  #usable = false
  #closed = false
  /** The server was looked at and failed the check, on the connection that stands now. */
  #refused = false
  /** The last attempt to connect failed. */
  #down = false
  #waiters: Waiters | undefined
  #lastError: unknown
  /** When the server was last looked at, by a clock that never steps. */
  #checkedAtMs = 0

  /** @param place for a server of a cluster: which one */
  constructor(client: Redis, options: LineOptions, place?: Place) {
    this.#options = options
    this.redis = client.duplicate(optionsOf(place))
    this.#silence = new Silence(this.redis)
    this.#wire = new Wire(this.redis)
    const { evictionPolicy, logger } = options
    this.#eviction = evictionPolicy && new EvictionCheck(this.redis, evictionPolicy, logger)
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

  get server(): Line {
    return this
  }

  ready(): Promise<void> {
    if (this.#usable) return Promise.resolve()
    if (this.#closed) return Promise.reject(notConnected(new Error('closed')))
    if (this.#down) return Promise.reject(notConnected(this.#lastError))
    this.#waiters ??= new Waiters()
    const { promise } = this.#waiters
    // A new call checks the server again: its configuration may have been corrected meanwhile.
    if (this.#refused) {
      this.#refused = false
      void this.#check()
    }
    return promise
  }

  send(command: string, ...words: readonly Word[]): Promise<Reply> {
    if (this.#eviction !== undefined && this.#usable) this.#checkNowAndThen()
    const reply = this.#wire.send([command, ...words])
    if (this.redis.status === 'ready') this.#silence.watch()
    return reply
  }

  /** The same, of keys that are on their way to this server. */
  sendAsking(command: string, ...words: readonly Word[]): Promise<Reply> {
    // Counts for the one command that follows on the connection; where it fails, that fails as well.
    this.redis.asking().catch(() => undefined)
    return this.send(command, ...words)
  }

  asked(): undefined {
    return undefined
  }

  close(): void {
    this.#closed = true
    this.#usable = false
    this.#silence.end()
    this.redis.disconnect()
    this.#fail(notConnected(new Error('closed')))
  }

  #checkNowAndThen(): void {
    const nowMs = performance.now()
    if (nowMs - this.#checkedAtMs < (this.#options.checkedMs ?? CHECKED_MS)) return
    this.#checkedAtMs = nowMs
    void this.#check()
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    this.#checkedAtMs = performance.now()
    try {
      await this.#eviction?.look()
    } catch (error) {
      const isRefused = error instanceof QuotaError
      // A look that broke says nothing of a server that was usable before.
      if (!isRefused && this.#usable) return
      this.#refused = this.redis.status === 'ready'
      this.#usable = false
      this.#fail(isRefused ? error : notConnected(error))
      return
    }
    if (this.redis.status !== 'ready' || this.#usable) return
    this.#lastError = undefined
    this.#down = false
    this.#usable = true
    this.#waiters?.resolve()
    this.#waiters = undefined
    this.#options.onUsable?.(this)
  }

  #fail(error: unknown): void {
    this.#waiters?.reject(error)
    this.#waiters = undefined
  }
}

/** What `send` writes goes out at once on each connection: many script calls share a packet, and a round trip. */
export function inOnePacket(connections: readonly Connection[], send: () => void): void {
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
