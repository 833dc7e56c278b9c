import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on loopback whose line can be made bad in the ways that lines go bad. */
export interface TcpProxy {
  readonly port: number
  /** Every piece of data, in either direction, arrives this much later; 0 ends it. */
  latency(ms: number): void
  /** Requests pass, replies are swallowed. When it ends, connections that lost a reply are cut. */
  dropReplies(on: boolean): void
  /**
   * The next request passes and is answered by the server (so it was executed), but its connection is cut before the
   * reply reaches the client. Resolves when that has happened. What stores ask by themselves now and then is no request.
   */
  cutAfterNextRequest(): Promise<void>
  /** Connections are accepted; nothing is forwarded or answered. When it ends, connections that lost data are cut. */
  blackHole(on: boolean): void
  /** Connections are closed as soon as they are accepted. */
  refuse(on: boolean): void
  cutAll(): void
  /** How often clients sent something after a reply: round trips, where they wait for replies. */
  roundTrips(): number
  /** How many clients are connected. */
  openSockets(): number
  stop(): Promise<void>
}

/** Of a look for holds that have ended, as it stands on the line. */
const LOOK = '\r\nended\r\n'
/** How a command begins on the line. */
const COMMAND = /\*\d+\r\n\$/g

/** Whether that is all: a request may be in the same packet. */
function isLookAlone(data: Buffer): boolean {
  return data.includes(LOOK) && data.toString('latin1').match(COMMAND)?.length === 1
}

interface Line {
  readonly client: Socket
  readonly server: Socket
  /** Whether what came last came from the server. */
  replied: boolean
  lostData: boolean
  /** Set while the reply to a request is awaited in order to cut the line. */
  cut: (() => void) | undefined
}

export async function startProxy(targetPort: number): Promise<TcpProxy> {
  const lines = new Set<Line>()
  /** When the last data for a socket arrives there. */
  const arrivals = new WeakMap<Socket, number>()
  const state = { latencyMs: 0, dropReplies: false, blackHole: false, refuse: false }
  let cutNext: (() => void) | undefined
  let roundTrips = 0

  const listener = createServer({ noDelay: true }, (client) => {
    if (state.refuse) {
      client.destroy()
      return
    }
    const line: Line = {
      client,
      server: connect({ port: targetPort, host: '127.0.0.1', noDelay: true }),
      replied: true,
      lostData: false,
      cut: undefined,
    }
    lines.add(line)
    for (const socket of [client, line.server]) {
      socket.on('error', () => destroy(line))
      socket.on('close', () => destroy(line))
    }
    client.on('data', (data) => fromClient(line, data))
    line.server.on('data', (data) => fromServer(line, data))
  })

  function fromClient(line: Line, data: Buffer): void {
    if (line.replied) roundTrips += 1
    line.replied = false
    if (state.blackHole) {
      line.lostData = true
      return
    }
    if (cutNext !== undefined && !isLookAlone(data)) {
      line.cut = cutNext
      cutNext = undefined
    }
    forward(line, line.server, data)
  }

  function fromServer(line: Line, data: Buffer): void {
    line.replied = true
    if (line.cut !== undefined) {
      line.cut()
      line.cut = undefined
      destroy(line)
    } else if (state.blackHole || state.dropReplies) {
      line.lostData = true
    } else {
      forward(line, line.client, data)
    }
  }

  /** Data never overtakes what was sent before it, also where the latency was lowered meanwhile. */
  function forward(line: Line, to: Socket, data: Buffer): void {
    const now = performance.now()
    const dueAt = Math.max(now + state.latencyMs, arrivals.get(to) ?? 0)
    arrivals.set(to, dueAt)
    if (dueAt <= now) to.write(data)
    else setTimeout(() => lines.has(line) && to.write(data), Math.ceil(dueAt - now))
  }

  function destroy(line: Line): void {
    lines.delete(line)
    // Its request was not answered: the next one is cut instead.
    cutNext ??= line.cut
    line.cut = undefined
    line.client.destroy()
    line.server.destroy()
  }

  function cutThoseThatLostData(): void {
    for (const line of lines) if (line.lostData) destroy(line)
  }

  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')

  return {
    port: (listener.address() as AddressInfo).port,
    latency(ms) {
      state.latencyMs = ms
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
    refuse(on) {
      state.refuse = on
    },
    cutAll() {
      for (const line of lines) destroy(line)
    },
    roundTrips: () => roundTrips,
    openSockets: () => lines.size,
    async stop() {
      for (const line of lines) destroy(line)
      const closed = once(listener, 'close')
      listener.close()
      await closed
    },
  }
}
