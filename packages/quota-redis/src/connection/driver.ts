import type { RedisOptions } from 'ioredis'
import type { Reply, Word } from './connection.ts'

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
