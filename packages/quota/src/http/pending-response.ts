import type { NodeRequest } from './node/response-gate.ts'

/** The response to a request before its decision: Node's `ServerResponse`, or an object like it. */
export interface PendingResponse {
  /** Whether the head was sent, so that nobody else can answer the request. */
  readonly headersSent: boolean
  /** Whether the response was ended. */
  readonly writableEnded: boolean
  /** Events of the response, if it emits any. */
  once?(event: 'close' | 'finish', listener: () => void): unknown
  off?(event: 'close' | 'finish', listener: () => void): unknown
}

/** Calls `listener` once when the response ends, unless the returned function is called first. */
export function whenEnded(response: PendingResponse | undefined, listener: () => void): () => void {
  response?.once?.('finish', listener)
  response?.once?.('close', listener)
  return () => {
    response?.off?.('finish', listener)
    response?.off?.('close', listener)
  }
}

/** Calls `listener` once when the connection ends, unless the returned function is called first. */
export function whenGone(connection: AbortSignal | NodeRequest | undefined, listener: () => void): () => void {
  if (connection !== undefined && 'aborted' in connection && 'addEventListener' in connection) {
    if (connection.aborted) listener()
    connection.addEventListener('abort', listener)
    return () => connection.removeEventListener('abort', listener)
  }
  // In HTTP/2, many requests share a socket, and each has its own stream.
  const closing = connection?.stream ?? connection?.socket
  closing?.once('close', listener)
  return () => void closing?.off('close', listener)
}
