import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on loopback that cuts a line in the middle of what its client sends. */
export interface CuttingProxy {
  readonly port: number
  /** After so many more bytes of clients, which still arrive, every line is cut and new ones are made as ever. */
  cutAfter(bytes: number): void
  /**
   * The next answer of the server that has a text in it is lost, and its line with it: what it answers was done.
   *
   * @param then is called just before the line is cut
   */
  loseAnswer(text: string, then?: () => void): void
  /** Bytes of clients so far. */
  sent(): number
  /** Nothing is forwarded any more, and nothing closed. */
  silence(on: boolean): void
  /** Nothing is forwarded any more on the lines that are there, and nothing closed. New ones are as ever. */
  freeze(): void
  /** New lines lead to another port of loopback. */
  leadTo(port: number): void
  /** How long everything is on its way from now on, each way, in milliseconds. */
  latency(ms: number): void
  stop(): Promise<void>
}

export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const lines = new Set<readonly [Socket, Socket]>()
  let [sent, left, isSilent] = [0, Number.POSITIVE_INFINITY, false]
  let lost: { readonly text: string; readonly then?: (() => void) | undefined } | undefined
  let port = targetPort
  const frozen = new Set<Socket>()
  let latencyMs = 0
  // Timers of one length keep their order.
  const pass = (to: Socket, data: Buffer): void => {
    if (latencyMs === 0) to.write(data)
    else setTimeout(() => to.writable && to.write(data), latencyMs)
  }

  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ port, host: '127.0.0.1', noDelay: true })
    const line = [client, server] as const
    lines.add(line)
    const end = (): void => {
      lines.delete(line)
      for (const socket of line) socket.destroy()
    }
    for (const socket of line) {
      socket.on('error', end)
      socket.on('close', end)
    }
    client.on('data', (data) => {
      if (isSilent || frozen.has(client)) return
      sent += data.length
      if (data.length < left) {
        left -= data.length
        pass(server, data)
        return
      }
      const last = data.subarray(0, left)
      left = Number.POSITIVE_INFINITY
      // What was sent arrives; nobody hears what it came to.
      client.destroy()
      if (last.length === 0) end()
      else server.end(last)
    })
    server.on('data', (data) => {
      if (lost !== undefined && data.includes(lost.text)) {
        lost.then?.()
        lost = undefined
        end()
        return
      }
      if (!isSilent && !frozen.has(client) && !client.destroyed) pass(client, data)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')

  return {
    port: (listener.address() as AddressInfo).port,
    cutAfter(bytes) {
      left = bytes
    },
    loseAnswer(text, then) {
      lost = { text, then }
    },
    sent: () => sent,
    silence(on) {
      isSilent = on
      if (!on) for (const [client] of lines) client.destroy()
    },
    freeze() {
      for (const [client] of lines) frozen.add(client)
    },
    leadTo(other) {
      port = other
    },
    latency(ms) {
      latencyMs = ms
    },
    async stop() {
      for (const line of lines) for (const socket of line) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}
