import { createServer, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'

/** How long a client may take, in milliseconds. */
export interface SlowLimits {
  /** For the head of a request, and for the whole request. */
  readonly headMs: number
  readonly requestMs: number
  /** How often that is checked. A slow request gets its 408 at most this much later. */
  readonly checkMs: number
  /** How long a connection may be silent during a request, for example because its client reads nothing. */
  readonly silentMs: number
  /** How long a connection stays open after an unreadable request, or with a half request while the server stops. */
  readonly lingerMs: number
}

const SLOW_LIMITS: SlowLimits = {
  headMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  silentMs: 90_000,
  lingerMs: 2_000,
}
/** How long an idle connection stays open. This is longer than in most proxies, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000
/** Largest head of a request, in bytes. */
const MAX_HEADER_BYTES = 16_384
/** How often a stopping server looks for connections whose last response has left. */
const CLOSE_EVERY_MS = 50

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
  /** The most open connections; 0: any number. Above it, new ones are closed. @default 0 */
  readonly maxConnections?: number | undefined
  readonly slow?: SlowLimits | undefined
}

/** Listens on a host and port (0: any free port). */
export async function listen(
  listener: RequestListener,
  host: string,
  port: number,
  { maxConnections = 0, slow = SLOW_LIMITS }: ListenOptions = {},
): Promise<Listener> {
  const { headMs, requestMs, checkMs, silentMs, lingerMs } = slow
  const inFlight = new Set<ServerResponse>()
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
      if (!req.socket.writable) return void req.socket.destroy()
      inFlight.add(res)
      res.once('close', () => inFlight.delete(res))
      if (!server.listening) res.setHeader('Connection', 'close')
      listener(req, res)
    },
  )
  if (maxConnections > 0) server.maxConnections = maxConnections
  server.setTimeout(silentMs)
  server.on('clientError', (error, socket) => answerUnreadable(error, socket as Socket, lingerMs))
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async stop(graceMs, idleMs = 0) {
      for (const res of inFlight) if (!res.headersSent) res.setHeader('Connection', 'close')
      // From the net server: HTTP's own `close` closes idle connections immediately, even if a request is arriving.
      const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()))
      let closing: NodeJS.Timeout | undefined
      const idle = setTimeout(() => {
        closing = setInterval(() => server.closeIdleConnections(), CLOSE_EVERY_MS)
      }, idleMs)
      // Node doesn't count a connection as idle before it has sent a request. A head that is arriving gets this much time.
      const silent = setTimeout(() => {
        const answering = new Set([...inFlight].map(({ req }) => req.socket))
        for (const socket of sockets) if (!answering.has(socket)) socket.destroy()
      }, idleMs + lingerMs)
      const grace = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      for (const timer of [idle, silent, grace, closing]) clearTimeout(timer)
      // Ends Node's check of slow requests.
      server.close()
    },
  }
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
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

const UNREADABLE: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }
