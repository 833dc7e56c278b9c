import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { lines } from './lines.ts'
import { remainders } from './read-on.ts'
import { turns } from './turns.ts'

/** How long a client may take to send a request. */
export interface SlowLimits {
  /** For the head. */
  readonly headMs: number
  /** For the whole. */
  readonly requestMs: number
  /** How often connections are looked at: so much later, at most, a slow one is answered with 408. */
  readonly checkMs: number
}

const SLOW_LIMITS: SlowLimits = { headMs: 10_000, requestMs: 30_000, checkMs: 5_000 }
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

/** Listens on a host and port (0: any free one). */
export async function listen(
  listener: RequestListener,
  host: string,
  port: number,
  { headMs, requestMs, checkMs }: SlowLimits = SLOW_LIMITS,
): Promise<Listener> {
  const server = createServer(
    {
      headersTimeout: headMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (req, res) => turns.run(lines.of(req), () => listener(req, res)),
  )
  server.on('clientError', answerUnreadable)
  const inFlight = trackResponses(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: (graceMs, idleMs = 0) => stop(server, inFlight, graceMs, idleMs),
  }
}

/** The responses that have not been sent to their end. */
function trackResponses(server: Server): ReadonlySet<ServerResponse> {
  const inFlight = new Set<ServerResponse>()
  server.on('request', (req, res) => {
    inFlight.add(res)
    if (!server.listening) res.setHeader('Connection', 'close')
    res.once('finish', () => remainders.readOn(req))
    res.once('close', () => {
      inFlight.delete(res)
      // A response whose head had left before the stop has not announced that the connection closes.
      if (!server.listening && res.shouldKeepAlive) req.socket.end()
    })
  })
  return inFlight
}

async function stop(
  server: Server,
  inFlight: ReadonlySet<ServerResponse>,
  graceMs: number,
  idleMs: number,
): Promise<void> {
  for (const response of inFlight) if (!response.headersSent) response.setHeader('Connection', 'close')
  const closed = new Promise<void>((resolve) => {
    // Of the server beneath: that of HTTP closes idle connections at once, and resets those a request is arriving on.
    NetServer.prototype.close.call(server, () => resolve())
  })
  const idle = setTimeout(() => server.closeIdleConnections(), idleMs)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(timer)
  clearTimeout(idle)
  server.close()
}

/** Answers what Node could not read as a request: too large a head, too slow, or no HTTP at all. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
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
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const UNREADABLE: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }
