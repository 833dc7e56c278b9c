import { outliveLostConnections } from '../postgres/pool.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, clearTimeout } = globalThis

/** A connection that receives a server's notifications, like pg's `PoolClient`. */
export interface ListenClient {
  query(text: string): PromiseLike<unknown>
  on(event: 'notification', listener: (message: { readonly channel: string }) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  /** @param destroy the connection must not be used again */
  release(destroy?: boolean): void
  /** The stream that it reads from, if it exposes it. */
  readonly connection?: { readonly stream?: { destroy?(): void; unref?(): void } }
}

/** Provides connections: a `Pool` of pg. */
export interface ListenPool {
  connect(): Promise<ListenClient>
  /** Reports idle connections that end. */
  on?(event: 'error', listener: () => void): unknown
}

/** The first pause before a new attempt to connect, in milliseconds. It doubles each time. */
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 5_000

const LISTENERS = new WeakMap<ListenPool, Listener>()

/**
 * Receives notifications over one connection of a pool, for all listeners in this process. If the connection breaks, it
 * is made again, and all listeners are woken, since a message may have been lost.
 */
class Listener {
  readonly #pool: ListenPool
  readonly #wakes = new Map<string, Set<() => void>>()
  #client: ListenClient | undefined
  #timer: NodeJS.Timeout | undefined
  #isConnecting = false
  #pauseMs = FIRST_PAUSE_MS

  static on(pool: ListenPool): Listener {
    const listener = LISTENERS.get(pool) ?? new Listener(pool)
    LISTENERS.set(pool, listener)
    return listener
  }

  private constructor(pool: ListenPool) {
    this.#pool = pool
    outliveLostConnections(pool)
  }

  /**
   * Calls `wake` after each notification on a channel, and whenever one may have been lost, until the returned function
   * is called. The connection is released with the last listener.
   *
   * @param channel a name that needs no quotes
   */
  listen(channel: string, wake: () => void): () => void {
    const wakes = this.#wakes.get(channel) ?? new Set()
    this.#wakes.set(channel, wakes)
    wakes.add(wake)
    if (this.#client === undefined) void this.#connect()
    else if (wakes.size === 1) void this.#listen(this.#client, [channel])
    return () => {
      wakes.delete(wake)
      if (wakes.size === 0) this.#wakes.delete(channel)
      if (this.#wakes.size === 0) this.#rest()
    }
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting || this.#client !== undefined || this.#wakes.size === 0) return
    clearTimeout(this.#timer)
    this.#isConnecting = true
    try {
      this.#use(await this.#pool.connect())
    } catch {
      this.#again()
    } finally {
      this.#isConnecting = false
    }
  }

  #use(client: ListenClient): void {
    this.#client = client
    const lost = (): void => this.#lose(client)
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ channel }) => this.#wake(channel))
    // Listening doesn't keep the process alive.
    client.connection?.stream?.unref?.()
    if (this.#wakes.size === 0) this.#rest()
    else void this.#listen(client, [...this.#wakes.keys()])
  }

  /** Listens to channels, then wakes their listeners, because earlier notifications are not repeated. */
  async #listen(client: ListenClient, channels: readonly string[]): Promise<void> {
    try {
      await client.query(channels.map((channel) => `listen "${channel}"`).join('; '))
      this.#pauseMs = FIRST_PAUSE_MS
      for (const channel of channels) this.#wake(channel)
    } catch {
      this.#lose(client)
    }
  }

  #wake(channel: string): void {
    for (const wake of [...(this.#wakes.get(channel) ?? [])]) wake()
  }

  #lose(client: ListenClient): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.release(true)
    this.#again()
  }

  #again(): void {
    clearTimeout(this.#timer)
    if (this.#wakes.size === 0) return
    this.#timer = setTimeout(() => void this.#connect(), this.#pauseMs).unref()
    this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS)
  }

  #rest(): void {
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    // The connection listens to channels, so the pool must not reuse it.
    client?.release(true)
  }
}

/** A function that listens to a channel of a pool; `undefined` without a pool. */
export function listenTo(
  pool: ListenPool | undefined,
  channel: string,
): ((wake: () => void) => () => void) | undefined {
  return pool && ((wake) => Listener.on(pool).listen(channel, wake))
}
