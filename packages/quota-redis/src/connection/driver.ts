import type { RedisOptions } from 'ioredis'
import type { Reply, Word } from './connection.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, clearTimeout, setImmediate } = globalThis

/** A server that answers nothing for so long while connecting is disconnected, in milliseconds. */
const SILENCE_MS = 1_000
/** How often the connection is checked, in milliseconds. */
const STEP_MS = 250

/** A client library's connection to one server. The library reconnects whenever it breaks. */
export interface Driver {
  /** Connected, with credentials and database set. */
  readonly isReady: boolean
  /**
   * Writes one command once. A server's error reply rejects with an error named `ReplyError`.
   *
   * @throws {QuotaError} as a rejection, if certainly nothing was written
   */
  send(command: string, words: readonly Word[]): Promise<Reply>
  /** Receives a channel's messages until the connection breaks. Subscribing the same listener again has no effect. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>
  /** Closes everything. Commands in flight reject. */
  close(): void
}

/** Callbacks of a driver. */
export interface DriverEvents {
  /** The server accepted the connection; it is not ready yet. */
  onConnected(): void
  onReady(): void
  onError(error: unknown): void
  /** The connection broke, or an attempt to connect failed. */
  onClosed(): void
}

/** How long a driver waits, in milliseconds. */
export interface DriverTimes {
  readonly connectTimeoutMs: number
  /** For any reply, once it is connected. */
  readonly silenceMs: number
}

/** One server of a cluster, with the callbacks of its connection. */
export interface Place {
  readonly host: string
  readonly port: number
  /** Options for connections to any server of the cluster, as they are now. */
  readonly options: RedisOptions
  onErrorReply(error: Error): void
  onClosed(): void
}

/**
 * The pause before the n-th attempt to connect, from 1, in milliseconds. A server that returns is found within the
 * longest pause.
 */
export function retryDelayMs(attempt: number): number {
  return Math.min(20 * 2 ** Math.min(attempt - 1, 10), 200)
}

/** The view of a connection that {@link Silence} needs. */
interface Watched {
  /** How many replies are awaited; 0 on a closed connection. */
  inFlight(): number
  /** Grows with each byte or reply that arrives. */
  received(): number
  /** Whether it is connected, with credentials and database set. */
  isReady(): boolean
  giveUp(error: Error): void
}

/** How long a connection may be silent: a little longer than its calls wait. */
export function silenceOf(deadlineMs: number | undefined): number {
  return Math.max(SILENCE_MS, (deadlineMs ?? 0) + STEP_MS)
}

/**
 * Closes a connection on which a reply is awaited and nothing arrives. The client's own timeout compares wall clock
 * times, so after a pause of the process it fires before the waiting input is read. Here each step counts as one, even
 * if it took longer, and the socket is read before the step is counted.
 */
export class Silence {
  readonly #silenceMs: number
  readonly #watched: Watched
  #timer: NodeJS.Timeout | undefined
  #silentMs = 0
  #received = 0

  /** @param silenceMs how long a server may be silent once it is connected */
  constructor(silenceMs: number, watched: Watched) {
    this.#silenceMs = silenceMs
    this.#watched = watched
  }

  /** Starts the watch. Call it whenever a command is sent. */
  watch(): void {
    if (this.#timer !== undefined) return
    this.#silentMs = 0
    this.#received = this.#watched.received()
    this.#step()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  #step(): void {
    // Pending input is read between a timer and the immediate that the timer sets.
    this.#timer = setTimeout(() => setImmediate(() => this.#check()), STEP_MS).unref()
  }

  #check(): void {
    if (this.#watched.inFlight() === 0) {
      this.#timer = undefined
      return
    }
    const received = this.#watched.received()
    this.#silentMs = received === this.#received ? this.#silentMs + STEP_MS : 0
    this.#received = received
    const mostMs = this.#watched.isReady() ? this.#silenceMs : SILENCE_MS
    if (this.#silentMs < mostMs) {
      this.#step()
      return
    }
    this.#timer = undefined
    this.#watched.giveUp(new Error(`the server was silent for ${this.#silentMs} ms`))
  }
}
