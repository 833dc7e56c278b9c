import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on loopback whose connection can be made bad in the ways that connections go bad. */
export interface TcpProxy {
  readonly port: number
  /** Every piece of data, in either direction, arrives this much later; 0 ends it. */
  latency(ms: number): void
  /** Requests pass, and replies arrive this much later; 0 ends it. */
  replyLatency(ms: number): void
  /** Requests pass, replies are swallowed. When it ends, connections that lost a reply are cut. */
  dropReplies(on: boolean): void
  /**
   * The next request passes and is answered by the server (so it was executed), but its connection is cut before the
   * reply reaches the client. Resolves when that has happened. What stores ask by themselves now and then is no request.
   */
  cutAfterNextRequest(): Promise<void>
  /** Connections are accepted; nothing is forwarded or answered. When it ends, connections that lost data are cut. */
  blackHole(on: boolean): void
  /** The black hole ends for new connections; the old ones stay in it, and nothing tells their clients. */
  heal(): void
  /** Connections are closed as soon as they are accepted. */
  refuse(on: boolean): void
  cutAll(): void
  /** How often clients sent something after a reply: round trips, where they wait for replies. */
  roundTrips(): number
  /** How many clients are connected. */
  openSockets(): number
  stop(): Promise<void>
}

/** Of a look for holds that have ended, as it stands on the connection. */
const LOOK = '\r\nended\r\n'
/** How a command begins on the connection. */
const COMMAND = /\*\d+\r\n\$/g

/** Whether that is all: a request may be in the same packet. */
function isLookAlone(data: Buffer): boolean {
  return data.includes(LOOK) && data.toString('latin1').match(COMMAND)?.length === 1
}

interface ProxiedConnection {
  readonly client: Socket
  readonly server: Socket
  /** Whether what came last came from the server. */
  replied: boolean
  lostData: boolean
  /** It stays in a black hole. */
  isLost: boolean
  /** Set while the reply to a request is awaited in order to cut the connection. */
  cut: (() => void) | undefined
}

export async function startProxy(targetPort: number): Promise<TcpProxy> {
  const connections = new Set<ProxiedConnection>()
  /** When the last data for a socket arrives there. */
  const arrivals = new WeakMap<Socket, number>()
  const state = { latencyMs: 0, replyLatencyMs: 0, dropReplies: false, blackHole: false, refuse: false }
  let cutNext: (() => void) | undefined
  let roundTrips = 0

  const listener = createServer({ noDelay: true }, (client) => {
    if (state.refuse) {
      client.destroy()
      return
    }
    const connection: ProxiedConnection = {
      client,
      server: connect({ port: targetPort, host: '127.0.0.1', noDelay: true }),
      replied: true,
      lostData: false,
      isLost: false,
      cut: undefined,
    }
    connections.add(connection)
    for (const socket of [client, connection.server]) {
      socket.on('error', () => destroy(connection))
      socket.on('close', () => destroy(connection))
    }
    client.on('data', (data) => fromClient(connection, data))
    connection.server.on('data', (data) => fromServer(connection, data))
  })

  function fromClient(connection: ProxiedConnection, data: Buffer): void {
    if (connection.replied) roundTrips += 1
    connection.replied = false
    if (state.blackHole || connection.isLost) {
      connection.lostData = true
      return
    }
    if (cutNext !== undefined && !isLookAlone(data)) {
      connection.cut = cutNext
      cutNext = undefined
    }
    forward(connection, connection.server, data)
  }

  function fromServer(connection: ProxiedConnection, data: Buffer): void {
    connection.replied = true
    if (connection.cut !== undefined) {
      connection.cut()
      connection.cut = undefined
      destroy(connection)
    } else if (state.blackHole || connection.isLost || state.dropReplies) {
      connection.lostData = true
    } else {
      forward(connection, connection.client, data, state.replyLatencyMs)
    }
  }

  /** Data never overtakes what was sent before it, also where the latency was lowered meanwhile. */
  function forward(connection: ProxiedConnection, to: Socket, data: Buffer, moreMs = 0): void {
    const now = performance.now()
    const dueAt = Math.max(now + state.latencyMs + moreMs, arrivals.get(to) ?? 0)
    arrivals.set(to, dueAt)
    if (dueAt <= now) to.write(data)
    else setTimeout(() => connections.has(connection) && to.write(data), Math.ceil(dueAt - now))
  }

  function destroy(connection: ProxiedConnection): void {
    connections.delete(connection)
    // Its request was not answered: the next one is cut instead.
    cutNext ??= connection.cut
    connection.cut = undefined
    connection.client.destroy()
    connection.server.destroy()
  }

  function cutThoseThatLostData(): void {
    for (const connection of connections) if (connection.lostData) destroy(connection)
  }

  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')

  return {
    port: (listener.address() as AddressInfo).port,
    latency(ms) {
      state.latencyMs = ms
    },
    replyLatency(ms) {
      state.replyLatencyMs = ms
    },
    dropReplies(on) {
      state.dropReplies = on
      if (!on) cutThoseThatLostData()
    },
    cutAfterNextRequest() {
      return new Promise((resolve) => {
        cutNext = resolve
      })
    },
    blackHole(on) {
      state.blackHole = on
      if (!on) cutThoseThatLostData()
    },
    heal() {
      state.blackHole = false
      for (const connection of connections) connection.isLost = true
    },
    refuse(on) {
      state.refuse = on
    },
    cutAll() {
      for (const connection of connections) destroy(connection)
    },
    roundTrips: () => roundTrips,
    openSockets: () => connections.size,
    async stop() {
      for (const connection of connections) destroy(connection)
      const closed = once(listener, 'close')
      listener.close()
      await closed
    },
  }
}
