import { connect, type Socket } from 'node:net'

/** A request in its wire format. */
export interface Wire {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The longest wait for an answer, in milliseconds. */
const PATIENCE_MS = 120_000

/**
 * Sends requests together, each over a separate connection. All connections are open before the first byte is sent.
 *
 * @returns how often each status came; 0 is no answer
 */
export async function sendAtOnce(requests: readonly Wire[]): Promise<Record<number, number>> {
  const sockets = await Promise.all(requests.map(({ url }) => connected(new URL(url))))
  const statuses = await Promise.all(requests.map((request, index) => statusOf(sockets[index] as Socket, request)))
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function connected({ hostname, port }: URL): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => resolve(socket))
    socket.once('error', reject)
  })
}

function statusOf(socket: Socket, { url, headers, body }: Wire): Promise<number> {
  return new Promise((resolve) => {
    let text = ''
    const end = (status: number): void => {
      resolve(status)
      socket.destroy()
    }
    socket.setTimeout(PATIENCE_MS, () => end(0))
    socket.setEncoding('latin1').on('data', (part) => {
      text += String(part)
      const [, status] = /^HTTP\/1\.1 (\d{3}).*?\r\n\r\n/s.exec(text) ?? []
      if (status !== undefined) end(Number(status))
    })
    socket.on('error', () => end(0)).on('close', () => end(0))
    const fields = { Host: 'bench', 'Content-Type': 'application/json', 'Content-Length': body.length, ...headers }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
    socket.write([`POST ${new URL(url).pathname} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
    socket.write(body)
  })
}
