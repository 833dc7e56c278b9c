import { outliveLostConnections } from '../postgres/pool.ts'

/** A connection over which a server notifies of changes, as pg's `PoolClient` is. */
export interface ListenClient {
  query(text: string): PromiseLike<unknown>
  on(event: 'notification', listener: (message: { readonly channel: string }) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  /** @param destroy the connection is not to be used again */
  release(destroy?: boolean): void
  /** What it reads from, where it shows that. */
  readonly connection?: { readonly stream?: { destroy?(): void; unref?(): void } }
}

/** Where it comes from: a `Pool` of pg. */
export interface ListenPool {
  connect(): Promise<ListenClient>
  /** Hears of connections that end while nobody has them. */
  on?(event: 'error', listener: () => void): unknown
}

/** Pause before a server is sent again for a connection, in milliseconds: twice as long each time. */
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 5_000

const LISTENERS = new WeakMap<ListenPool, Listener>()

/**
 * Receives notifications over one connection of a pool, for all listeners in this process. A connection that breaks is
 * made again; all listeners are woken then, since a message may have been lost.
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
    else if (wakes.size === 1) void this.#ask(this.#client, [channel])
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
    // As long as there is other work: to listen is no reason to live on.
    client.connection?.stream?.unref?.()
    if (this.#wakes.size === 0) this.#rest()
    else void this.#ask(client, [...this.#wakes.keys()])
  }

  /** Those who wait for a channel are woken once it is listened to: earlier notifications are not repeated. */
  async #ask(client: ListenClient, channels: readonly string[]): Promise<void> {
    try {
      await client.query(channels.map((channel) => `listen ${channel}`).join('; '))
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
    // What it listens to is its own: no one else is to be given it.
    client?.release(true)
  }
}

/** A function that listens to a channel of a pool; `undefined`: there is no pool. */
export function listenTo(
  pool: ListenPool | undefined,
  channel: string,
): ((wake: () => void) => () => void) | undefined {
  return pool && ((wake) => Listener.on(pool).listen(channel, wake))
}
