/** The members of Node's `ServerResponse` that we use. Its subclasses also fit. */
export interface NodeResponse {
  /** The request of this response, if the framework sets it. */
  readonly req?: object | undefined
  statusCode: number
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly destroyed: boolean
  /** Present in HTTP/2, where `writeHead` sends the head. */
  readonly stream?: object | undefined
  /** `null` for a pipelined request whose turn hasn't come. */
  readonly socket?: object | null | undefined
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string | number | readonly string[]): unknown
  hasHeader(name: string): boolean
  writeHead(status: number): unknown
  write(chunk: string): boolean
  end(): unknown
  flushHeaders(): void
  destroy(): unknown
  emit(event: 'drain'): boolean
  once(event: 'close' | 'finish', listener: () => void): unknown
  off(event: 'close' | 'finish', listener: () => void): unknown
}

/** The members of Node's `IncomingMessage` that we use. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly socket: {
    readonly writable: boolean
    readonly destroyed: boolean
    once(event: 'close', listener: () => void): unknown
    off(event: 'close', listener: () => void): unknown
  }
  /** Present in HTTP/2. */
  readonly stream?: Pick<NodeRequest['socket'], 'destroyed' | 'once' | 'off'> | undefined
}

type Write = (...args: unknown[]) => boolean
type End = (...args: unknown[]) => unknown

/** The callbacks of a gate. */
interface GateOwner {
  /** Whether a head with this status has to wait. */
  holdsBack(status: number): boolean
  /** The response is about to end. @returns a promise to await before the end */
  ending(): Promise<unknown> | undefined
  /** A delayed call threw. The response is already destroyed. */
  failed(error: unknown): void
}

/**
 * Delays the bytes of a response until settlements are done. The head is fixed immediately, as without a gate. Calls
 * that would send bytes are queued and replayed in order. Writers get `false` and wait for `drain`, as with a slow
 * client.
 */
export class ResponseGate {
  readonly #res: NodeResponse
  readonly #isHead: boolean
  readonly #owner: GateOwner
  #queue: (() => boolean)[] | undefined
  /** How many promises are awaited. */
  #holds = 0
  #owesDrain = false
  #ended = false
  /** During the replay, Node's methods call each other: `end(chunk)` of HTTP/2 calls `write`. */
  #isReplaying = false

  constructor(res: NodeResponse, method: string | undefined, owner: GateOwner) {
    this.#res = res
    this.#isHead = method === 'HEAD'
    this.#owner = owner
    this.#guardWrite(res.write as Write)
    this.#guardEnd(res.end as End)
    this.#guardFlush(res.flushHeaders)
  }

  /** Delays everything sent from now on, until the promise settles. */
  hold(until: Promise<unknown>): void {
    this.#queue ??= []
    this.#holds++
    const release = (): void => {
      if (--this.#holds === 0) this.#release()
    }
    until.then(release, release)
  }

  /** Delays everything sent from now on, including a head that HTTP/2 would send immediately. */
  holdHead(until: Promise<unknown>, writeHead: () => unknown): void {
    const res = this.#res
    this.hold(until)
    // Whoever asks must not write another head.
    Object.defineProperty(res, 'headersSent', { value: true, configurable: true })
    this.#queue?.push(() => {
      Reflect.deleteProperty(res, 'headersSent')
      writeHead()
      return true
    })
  }

  #guardWrite(write: Write): void {
    const res = this.#res
    res.write = ((...args: unknown[]): boolean => {
      // An invalid chunk throws immediately, as it does without a gate.
      if (this.#isReplaying || !isChunk(args[0])) return write.apply(res, args)
      this.#fixHead(undefined)
      if (this.#queue === undefined) return write.apply(res, args)
      this.#queue.push(() => write.apply(res, args))
      this.#owesDrain = true
      return false
    }) as NodeResponse['write']
  }

  #guardEnd(end: End): void {
    const res = this.#res
    res.end = ((...args: unknown[]): unknown => {
      const chunk = typeof args[0] === 'function' ? undefined : (args[0] ?? undefined)
      if (this.#isReplaying || (chunk !== undefined && !isChunk(chunk))) return end.apply(res, args)
      this.#fixHead(byteLength(chunk, args[1]))
      const ending = this.#ended ? undefined : this.#owner.ending()
      if (ending !== undefined) this.hold(ending)
      if (this.#queue === undefined) return end.apply(res, args)
      this.#ended = true
      this.#queue.push(() => {
        end.apply(res, args)
        return true
      })
      return res
    }) as NodeResponse['end']
  }

  #guardFlush(flushHeaders: () => void): void {
    const res = this.#res
    res.flushHeaders = (): void => {
      this.#fixHead(undefined)
      if (this.#queue === undefined) {
        flushHeaders.call(res)
        return
      }
      this.#queue.push(() => {
        flushHeaders.call(res)
        return true
      })
    }
  }

  /**
   * Fixes the head that the current call would send, if it has to wait. After that it can't change.
   *
   * @param bodyLength the body's length if this call ends the response; Node would only set it in that call
   */
  #fixHead(bodyLength: number | undefined): void {
    const res = this.#res
    const status = res.statusCode
    if (res.headersSent || !this.#owner.holdsBack(status)) return
    if (bodyLength !== undefined && this.#needsLength(status)) res.setHeader('Content-Length', bodyLength)
    res.writeHead(status)
  }

  #needsLength(status: number): boolean {
    const res = this.#res
    const bodyless = this.#isHead || status === 204 || status === 304
    // HTTP/2 frames a body, and Node sets no length there.
    return !(
      bodyless ||
      res.stream !== undefined ||
      res.hasHeader('Content-Length') ||
      res.hasHeader('Transfer-Encoding') ||
      res.hasHeader('Trailer')
    )
  }

  #release(): void {
    let flowing = true
    this.#isReplaying = true
    try {
      for (const call of this.#queue ?? []) flowing = call()
    } catch (error) {
      this.#res.destroy()
      this.#owner.failed(error)
    }
    this.#isReplaying = false
    this.#queue = undefined
    if (this.#owesDrain && flowing && !this.#ended) this.#res.emit('drain')
    this.#owesDrain = false
  }
}

function isChunk(chunk: unknown): chunk is string | Uint8Array {
  // By its tag: a chunk may come from another realm.
  return typeof chunk === 'string' || Object.prototype.toString.call(chunk) === '[object Uint8Array]'
}

function byteLength(chunk: string | Uint8Array | undefined, encoding: unknown): number {
  if (chunk === undefined) return 0
  if (typeof chunk !== 'string') return chunk.byteLength
  // `Buffer` exists wherever Node's responses do.
  return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
}

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
