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
import { lines, turns } from './turns.ts'

/** How long a client may take to send a request, and to read its answer. */
export interface SlowLimits {
  /** For the head. */
  readonly headMs: number
  /** For the whole. */
  readonly requestMs: number
  /** How often connections are checked: so much later, at most, a slow one is answered with 408. */
  readonly checkMs: number
  /** How long a client may read nothing of an answer that waits for it. */
  readonly stallMs: number
  /** How long a connection stays open after its last answer, for a client that is still reading it. */
  readonly lingerMs: number
}

const SLOW_LIMITS: SlowLimits = {
  headMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  stallMs: 20_000,
  lingerMs: 2_000,
}
/** How long an idle connection is kept. Longer than most proxies keep theirs, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** Largest head of a request, in bytes. */
const MAX_HEADER_BYTES = 16_384

/** A server that listens, and how to make it stop. */
export interface Listener {
  readonly port: number
  /**
   * No new connections; resolves when requests in flight are answered, or were broken off after `graceMs`. What comes on
   * kept connections within `idleMs` is answered with `Connection: close`; then those that are idle are closed.
   */
  stop(graceMs: number, idleMs?: number): Promise<void>
}

interface ListenOptions {
  /** Limits the connections of all listeners that share it. @default none are limited */
  readonly connections?: Connections | undefined
  readonly slow?: SlowLimits | undefined
}

/**
 * Listens on a host and port (0: any free one).
 *
 * Hand-written: Node limits how slowly a request comes, not how slowly an answer is read. Packages that stop a server
 * gracefully close connections that a client is still reading.
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
      // The rest of a request that was answered with 408 already: its answer could not be sent.
      if (req.socket.writable) turns.run(lines.of(req), () => listener(req, res))
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
    // Node calls this for idle connections, too. A request that is worked on has nothing to send yet.
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

/** Sends what is left and closes the connection, whether the client has read it or not. */
function closeSoon(socket: Socket, lingerMs: number, last = ''): void {
  socket.end(last)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

/** The responses that have not been sent to their end. */
function trackResponses(server: Server, lingerMs: number): ReadonlySet<ServerResponse> {
  const inFlight = new Set<ServerResponse>()
  server.on('request', (req, res) => {
    inFlight.add(res)
    if (!server.listening) res.setHeader('Connection', 'close')
    res.once('finish', () => remainders.readOn(req))
    res.once('close', () => {
      inFlight.delete(res)
      // A response whose head had left before the stop has not announced that the connection closes.
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
    // Of the server beneath: that of HTTP closes idle connections at once, and resets those a request is arriving on.
    NetServer.prototype.close.call(server, () => resolve())
  })
  const closeUnless = (isKept: (socket: Socket) => boolean): void => {
    const answering = new Set([...inFlight].map(({ req }) => req.socket))
    for (const socket of sockets) if (!answering.has(socket) && !isKept(socket)) socket.destroy()
  }
  const idle = setTimeout(() => {
    server.closeIdleConnections()
    // To Node a connection that has not sent anything yet is not idle.
    closeUnless(({ bytesRead }) => bytesRead > 0)
  }, idleMs)
  // A head that is arriving gets this much time.
  const arriving = setTimeout(() => closeUnless(() => false), idleMs + lingerMs)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  for (const each of [idle, arriving, timer]) clearTimeout(each)
  server.close()
}

/** Answers what Node could not read as a request: too large a head, too slow, or no HTTP at all. */
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

/** How long a connection whose request was answered before it had arrived is read on. */
const LINGER_MS = 2_000

/**
 * Reads and discards what callers still send after their answer: a connection that is closed while
 * something is on its way would lose the answer. It serves no caller, so it gets little time: of all such connections one is
 * read in each turn of the event loop, as much as the network has of it, and the others are not listened to meanwhile.
 */
class Remainders {
  readonly #waiting = new Set<IncomingMessage>()
  #isGoingOn = false

  /** @param req whose answer has left */
  readOn(req: IncomingMessage): void {
    if (req.complete) return
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS)
    req.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    this.#hold(req)
    // Once more: Node discards unread data a tick later.
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
    // Behind the next look at the network.
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

/** Those of this process. */
const remainders: Remainders = new Remainders()
