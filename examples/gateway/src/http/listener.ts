import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Connections } from './connections.ts'

/** How long a client may take to send a request and to read its response. */
export interface SlowLimits {
  /** For the head, in milliseconds. */
  readonly headMs: number
  /** For the whole request, in milliseconds. */
  readonly requestMs: number
  /** How often connections are checked. A slow one gets its 408 at most this much later. */
  readonly checkMs: number
  /** How long a client may read nothing while a response waits for it. */
  readonly stallMs: number
  /** How long a connection stays open after its last response, for a client that is still reading. */
  readonly lingerMs: number
}

const SLOW_LIMITS: SlowLimits = {
  headMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  stallMs: 20_000,
  lingerMs: 2_000,
}
/** How long an idle connection stays open. This is longer than in most proxies, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** Largest head of a request, in bytes. */
const MAX_HEADER_BYTES = 16_384

/** A listening server, and how to stop it. */
export interface Listener {
  readonly port: number
  /**
   * Accepts no more connections. Resolves when requests in flight are answered, or aborted after `graceMs`. Requests
   * that arrive on open connections within `idleMs` are answered with `Connection: close`; then idle connections are
   * closed.
   */
  stop(graceMs: number, idleMs?: number): Promise<void>
}

interface ListenOptions {
  /** Limits the connections of all listeners that share it. @default no limit */
  readonly connections?: Connections | undefined
  readonly slow?: SlowLimits | undefined
}

/**
 * Listens on a host and port (0: any free port).
 * Hand-written: Node limits how slowly a request arrives, but not how slowly a response is read. Packages that stop a
 * server gracefully close connections that a client is still reading.
 */
export async function listen(
  listener: RequestListener,
  host: string,
  port: number,
  { connections, slow = SLOW_LIMITS }: ListenOptions = {},
): Promise<Listener> {
  const { headMs, requestMs, checkMs, stallMs, lingerMs } = slow
  const server = createServer(
    {
      headersTimeout: headMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (req, res) => {
      // This is the rest of a request that already got a 408: its response could not be sent.
      if (req.socket.writable) listener(req, res)
      else req.socket.destroy()
    },
  )
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    connections?.take(socket)
  })
  server.on('clientError', (error, socket) => answerUnreadable(error, socket as Socket, lingerMs))
  const inFlight = trackResponses(server, lingerMs)
  server.setTimeout(stallMs, (socket) => {
    // Node also calls this for idle connections. A request in progress has nothing to send yet.
    if (isAnswering(inFlight, socket) && socket.writableLength === 0) socket.setTimeout(stallMs)
    else socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: (graceMs, idleMs = 0) => stop({ server, sockets, inFlight, lingerMs }, graceMs, idleMs),
  }
}

function isAnswering(inFlight: ReadonlySet<ServerResponse>, socket: Socket): boolean {
  return [...inFlight].some(({ req }) => req.socket === socket)
}

/** Sends what is left, then closes the connection even if the client hasn't read it. */
function closeSoon(socket: Socket, lingerMs: number, last = ''): void {
  socket.end(last)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

/** Responses that haven't been sent completely. */
function trackResponses(server: Server, lingerMs: number): ReadonlySet<ServerResponse> {
  const inFlight = new Set<ServerResponse>()
  server.on('request', (req, res) => {
    inFlight.add(res)
    if (!server.listening) res.setHeader('Connection', 'close')
    res.once('finish', () => remainders.readOn(req))
    res.once('close', () => {
      inFlight.delete(res)
      // A response whose head left before the stop hasn't announced that the connection closes.
      if (!server.listening && res.shouldKeepAlive) closeSoon(req.socket, lingerMs)
    })
  })
  return inFlight
}

interface Listening {
  readonly server: Server
  readonly sockets: ReadonlySet<Socket>
  readonly inFlight: ReadonlySet<ServerResponse>
  readonly lingerMs: number
}

async function stop(
  { server, sockets, inFlight, lingerMs }: Listening,
  graceMs: number,
  idleMs: number,
): Promise<void> {
  for (const response of inFlight) if (!response.headersSent) response.setHeader('Connection', 'close')
  const closed = new Promise<void>((resolve) => {
    // From the net server: HTTP's own `close` closes idle connections immediately, and resets those on which a request
    // is arriving.
    NetServer.prototype.close.call(server, () => resolve())
  })
  const closeUnless = (isKept: (socket: Socket) => boolean): void => {
    const answering = new Set([...inFlight].map(({ req }) => req.socket))
    for (const socket of sockets) if (!answering.has(socket) && !isKept(socket)) socket.destroy()
  }
  const idle = setTimeout(() => {
    server.closeIdleConnections()
    // Node does not count a connection as idle before it has sent something.
    closeUnless(({ bytesRead }) => bytesRead > 0)
  }, idleMs)
  // A head that is arriving gets this much time.
  const arriving = setTimeout(() => closeUnless(() => false), idleMs + lingerMs)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  for (const each of [idle, arriving, timer]) clearTimeout(each)
  server.close()
}

/** Answers what Node could not parse as a request: a head that is too large or too slow, or no HTTP. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, lingerMs: number): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = UNREADABLE[error.code ?? ''] ?? 400
  const body = JSON.stringify({ error: 'bad_request', msg: 'The request could not be read.', requestId: null })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  closeSoon(socket, lingerMs, `${head.join('\r\n')}\r\n\r\n${body}`)
}

const UNREADABLE: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }

/** How long a connection is still read if its request was answered before it had arrived completely. */
const LINGER_MS = 2_000

/**
 * Reads and discards what callers send after their response: closing a connection while data is arriving would lose the
 * response. This serves no caller, so it gets little time. Each turn of the event loop reads one of these connections,
 * and the others wait.
 */
class Remainders {
  readonly #waiting = new Set<IncomingMessage>()
  #isGoingOn = false

  /** @param req a request whose response has left */
  readOn(req: IncomingMessage): void {
    if (req.complete) return
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS)
    req.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    this.#hold(req)
    // Again: Node discards unread data one tick later.
    setImmediate(() => {
      if (this.#waiting.has(req)) req.socket.pause()
    })
    if (this.#isGoingOn) return
    this.#isGoingOn = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    const [req] = this.#waiting
    if (req === undefined) {
      this.#isGoingOn = false
      return
    }
    this.#waiting.delete(req)
    req.socket.resume()
    // After the next poll for network events.
    setImmediate(() => {
      if (!req.complete && !req.socket.destroyed) this.#hold(req)
      this.#next()
    })
  }

  #hold(req: IncomingMessage): void {
    req.socket.pause()
    this.#waiting.add(req)
  }
}

/** The instance of this process. */
const remainders: Remainders = new Remainders()
