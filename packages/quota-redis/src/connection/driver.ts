import type { Reply, Word } from './connection.ts'

/** One connection of a client library to one server, which it makes again whenever it breaks. */
export interface Driver {
  /** Connected, and past what the library does first: credentials, database. */
  readonly isReady: boolean
  /**
   * Writes one command, once. An error reply of the server rejects with an error named `ReplyError`.
   * @throws {QuotaError} as a rejection, where certainly nothing was written
   */
  send(words: readonly Word[]): Promise<Reply>
  /** Hears a channel until the connection breaks. Called again with the same listener, it does not hear twice. */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>
  /** Between the two, nothing is written. Not there where the library makes one write of a turn by itself. */
  cork?(): void
  uncork?(): void
  /** Leaves nothing open. Commands in flight reject. */
  close(): void
}

/** What a driver reports. */
export interface DriverEvents {
  onReady(): void
  onError(error: unknown): void
  /** The connection broke, or an attempt to connect failed. */
  onClosed(): void
}

/** One server of a cluster, with the callbacks of its connection. */
export interface Place {
  readonly host: string
  readonly port: number
  onErrorReply(error: Error): void
  onClosed(): void
}

/** The pause before the n-th attempt to connect, from 1, in milliseconds: a server that returns is found within the longest. */
export function retryDelayMs(attempt: number): number {
  return Math.min(20 * 2 ** Math.min(attempt - 1, 10), 200)
}
