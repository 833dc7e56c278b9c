import type { Redis, RedisOptions } from 'ioredis'
import type { Reply, Word } from './connection.ts'
import { type Driver, type DriverEvents, type DriverTimes, type Place, retryDelayMs, Silence } from './driver.ts'
import { needsNewConnection } from './errors.ts'

/**
 * Lets a lost reply fail the call once. With ioredis' defaults a command whose reply is lost is sent again, which would
 * charge twice.
 */
const OPTIONS: RedisOptions & { readonly replyMapping: 'legacy' } = {
  autoResendUnfulfilledCommands: false,
  // 0: commands in flight when the connection breaks reject immediately. Otherwise they may never settle.
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  autoResubscribe: false,
  // After the process was paused, a socket timeout would destroy a connection whose replies arrived but were not read
  // yet.
  socketTimeout: undefined,
  disconnectTimeout: 50,
  keepAlive: 5_000,
  noDelay: true,
  enableReadyCheck: true,
  maxLoadingRetryTime: 50,
  lazyConnect: false,
  // The caller's client may set these for itself; the scripts could not see them.
  keyPrefix: '',
  stringNumbers: false,
  replyMapping: 'legacy',
  commandTimeout: undefined,
  readOnly: false,
  monitor: false,
}

/** Errors of commands that were not sent because the connection broke. The error of that came before. */
const OF_BROKEN_CONNECTION = /^Stream isn't writeable|^Reached the max retries per request/

/** The options that differ from the caller's. */
function ownOptions(connectTimeoutMs: number, place: Place | undefined): RedisOptions {
  return {
    ...OPTIONS,
    connectTimeout: connectTimeoutMs,
    ...(place === undefined ? {} : { host: place.host, port: place.port }),
    reconnectOnError(error) {
      place?.onErrorReply(error)
      // `true` does not resend the command.
      return needsNewConnection(error)
    },
  }
}

/**
 * An ioredis connection, version 5 or 6. Each attempt to connect uses the caller's options as they are then, because a
 * program may change them, for example after its password was rotated.
 */
export class IoredisDriver implements Driver {
  readonly redis: Redis
  readonly #silence: Silence
  #isSubscribed = false

  constructor(
    client: Redis,
    { onConnected, onReady, onError, onClosed }: DriverEvents,
    times: DriverTimes,
    place: Place | undefined,
  ) {
    const options = (): RedisOptions => ({
      ...(place ?? client).options,
      ...ownOptions(times.connectTimeoutMs, place),
      retryStrategy,
    })
    const retryStrategy = (attempt: number): number => {
      Object.assign(redis.options, options())
      return retryDelayMs(attempt)
    }
    const redis = client.duplicate(options())
    this.redis = redis
    this.#silence = new Silence(times.silenceMs, {
      inFlight: () => (redis.stream === undefined || redis.stream.destroyed ? 0 : redis.commandQueue.length),
      isReady: () => redis.status === 'ready',
      received: () => redis.stream.bytesRead,
      giveUp: (error) => redis.stream.destroy(error),
    })
    redis.on('connect', () => {
      onConnected()
      this.#silence.watch()
    })
    redis.on('error', (error) => {
      if (!OF_BROKEN_CONNECTION.test(error.message)) onError(error)
    })
    redis.on('ready', onReady)
    for (const event of ['close', 'end']) redis.on(event, onClosed)
  }

  get isReady(): boolean {
    return this.redis.status === 'ready'
  }

  send(command: string, words: readonly Word[]): Promise<Reply> {
    const reply = this.redis.callBuffer(command, words as Word[]) as Promise<Reply>
    // Before whoever called: no error has the whole script with it when it's printed.
    reply.catch((error: Error) => Reflect.deleteProperty(error, 'command'))
    if (this.isReady) this.#silence.watch()
    return reply
  }

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    if (!this.#isSubscribed) this.redis.on('message', (_channel, message: string) => onMessage(message))
    this.#isSubscribed = true
    await this.redis.subscribe(channel)
  }

  close(): void {
    this.#silence.end()
    this.redis.disconnect()
  }
}
