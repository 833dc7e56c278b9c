import type { NodeRedisClient, Reply, Word } from './connection.ts'
import { type Driver, type DriverEvents, type DriverTimes, retryDelayMs, Silence } from './driver.ts'
import { isError, needsNewConnection, notConnected } from './errors.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, clearTimeout } = globalThis

/** The members of node-redis' client that are used. */
interface Client {
  readonly isOpen: boolean
  readonly isReady: boolean
  readonly options: { readonly socket?: object } | undefined
  duplicate(overrides: object): Client
  on(event: 'connect' | 'error', listener: (error: unknown) => void): void
  connect(): Promise<unknown>
  sendCommand(args: readonly (string | Buffer)[], options: object): Promise<Reply>
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>
  destroy(): void
}

/** Settings that the caller's client has for its own use, and settings that would delay commands. */
const OPTIONS = {
  // The client has read it into its other options, which may have changed since.
  url: undefined,
  disableOfflineQueue: true,
  commandsQueueMaxLength: undefined,
  RESP: undefined,
  commandOptions: undefined,
  clientSideCache: undefined,
  emitInvalidate: undefined,
  maintNotifications: 'disabled',
  readonly: false,
  pingInterval: undefined,
}

/** Simple strings (`+`) and strings (`$`) of a reply as bytes. */
const AS_BYTES = { typeMapping: { 43: Buffer, 36: Buffer } }

/**
 * A node-redis connection. It never sends a command again, and makes one write per tick. Each attempt to connect uses
 * the caller's options as they are then.
 */
export class NodeRedisDriver implements Driver {
  readonly #theirs: Client
  readonly #events: DriverEvents
  readonly #silence: Silence
  readonly #connectTimeoutMs: number
  #client!: Client
  /** The only way to abort a socket that is still connecting. */
  #abort!: AbortController
  /** Connected, but the server has not answered the client's first commands yet. */
  #isGreeting = false
  #isClosed = false
  #attempts = 0
  #timer: NodeJS.Timeout | undefined
  #inFlight = 0
  #received = 0

  constructor(client: NodeRedisClient, events: DriverEvents, times: DriverTimes) {
    this.#theirs = client as unknown as Client
    this.#events = events
    this.#connectTimeoutMs = times.connectTimeoutMs
    this.#silence = new Silence(times.silenceMs, {
      isReady: () => this.isReady,
      inFlight: () => this.#inFlight + (this.#isGreeting ? 1 : 0),
      received: () => this.#received,
      giveUp: (error) => this.#giveUp(error),
    })
    this.#duplicate()
    void this.#connect()
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  async send(command: string, words: readonly Word[]): Promise<Reply> {
    if (!this.isReady) throw notConnected(undefined)
    const args = [command, ...words.map((word) => (Buffer.isBuffer(word) ? word : String(word)))]
    const reply = this.#client.sendCommand(args, AS_BYTES)
    this.#inFlight++
    this.#silence.watch()
    try {
      return await reply
    } catch (error) {
      throw this.#named(error)
    } finally {
      this.#inFlight--
      this.#received++
    }
  }

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    try {
      await this.#client.subscribe(channel, onMessage)
    } catch (error) {
      throw this.#named(error)
    }
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#silence.end()
    this.#destroy()
  }

  #duplicate(): void {
    this.#abort = new AbortController()
    const connectTimeout = this.#connectTimeoutMs
    const socket = {
      ...this.#theirs.options?.socket,
      connectTimeout,
      socketTimeout: undefined,
      reconnectStrategy: false,
    }
    const client = this.#theirs.duplicate({ ...OPTIONS, socket: { ...socket, signal: this.#abort.signal } })
    client.on('connect', () => {
      if (client !== this.#client) return
      this.#isGreeting = true
      this.#events.onConnected()
      this.#silence.watch()
    })
    client.on('error', (error) => this.#broke(client, error))
    this.#client = client
  }

  async #connect(): Promise<void> {
    const client = this.#client
    try {
      await client.connect()
      if (client !== this.#client || !client.isReady) return
      this.#isGreeting = false
      this.#attempts = 0
      this.#events.onReady()
    } catch (error) {
      this.#broke(client, error)
    }
  }

  /** A client reports one break several times; the first report has the reason. */
  #broke(client: Client, error: unknown): void {
    if (client !== this.#client || this.#isClosed || this.#timer !== undefined) return
    this.#events.onError(error)
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        // After a reply that it could not read, it is still open.
        if (client.isOpen) this.#destroy()
        // A socket keeps its listener on the signal, so each connection has its own signal.
        this.#duplicate()
        void this.#connect()
      },
      retryDelayMs(++this.#attempts),
    )
    this.#isGreeting = false
    this.#events.onClosed()
  }

  #giveUp(error: Error): void {
    this.#destroy()
    this.#broke(this.#client, error)
  }

  #destroy(): void {
    if (this.#client.isOpen) this.#client.destroy()
    this.#abort.abort()
  }

  /**
   * The client's own errors are sentences, or have a system error code. A server's errors begin with a word in
   * capitals.
   */
  #named(error: unknown): unknown {
    if (!isError(error) || 'code' in error || !/^[A-Z]{2,}( |$)/.test(error.message)) return error
    error.name = 'ReplyError'
    if (needsNewConnection(error)) this.#giveUp(error)
    return error
  }
}
