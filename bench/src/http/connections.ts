import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { USER_HEADER } from './apps.ts'

/** The callers of an app, and the expected answer. */
export interface Load {
  /** Callers, distinguished by a header. */
  readonly users: number
  /** The status that every answer must have. */
  readonly status: number
}

/**
 * Connections that stay open and send one request after the other. A load generator that reconnects each turn would
 * measure the accepting of connections. Each connection has its own loopback address, as real callers have.
 */
export class Connections {
  readonly #lines: readonly Line[]
  readonly #requests: readonly Buffer[]
  readonly #status: string
  #next = 0

  private constructor(sockets: readonly Socket[], { users, status }: Load) {
    this.#requests = Array.from({ length: users }, (_, index) =>
      Buffer.from(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n${USER_HEADER}: user-${index}\r\n\r\n`),
    )
    this.#status = `HTTP/1.1 ${status} `
    this.#lines = sockets.map((socket) => new Line(socket, () => this.#request()))
  }

  static async to(port: number, connections: number, load: Load): Promise<Connections> {
    const sockets = Array.from({ length: connections }, (_, index) =>
      connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${index + 1}`, noDelay: true }),
    )
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    return new Connections(sockets, load)
  }

  /** Sends so many requests over each connection. Throws if an answer has another status. */
  async ask(each: number, { anyStatus = false } = {}): Promise<void> {
    const start = anyStatus ? 'HTTP/1.1 ' : this.#status
    await Promise.all(this.#lines.map((line) => line.ask(each, start)))
  }

  close(): void {
    for (const line of this.#lines) line.close()
  }

  /** The next user's request. */
  #request(): Buffer {
    this.#next = (this.#next + 1) % this.#requests.length
    return this.#requests[this.#next] as Buffer
  }
}

/** One connection. */
class Line {
  readonly #socket: Socket
  readonly #next: () => Buffer
  #left = 0
  #start = ''
  #text = ''
  #done: () => void = () => undefined
  #failed: (error: Error) => void = () => undefined

  constructor(socket: Socket, next: () => Buffer) {
    this.#socket = socket
    this.#next = next
    socket.on('data', (bytes) => this.#heard(bytes.toString('latin1')))
    socket.on('error', (error) => this.#failed(error))
    socket.on('close', () => this.#failed(new Error('the server closed a connection')))
  }

  /** @param start the first bytes of every response */
  ask(count: number, start: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = resolve
      this.#failed = reject
      this.#left = count
      this.#start = start
      this.#socket.write(this.#next())
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #heard(part: string): void {
    this.#text += part
    if (!isWhole(this.#text)) return
    const isAnswered = this.#text.startsWith(this.#start)
    if (!isAnswered) this.#failed(new Error(`answered with ${this.#text}`))
    this.#text = ''
    if (--this.#left > 0 && isAnswered) this.#socket.write(this.#next())
    else this.#done()
  }
}

/** Whether a response is complete: by the length in its head, or by its last chunk. */
function isWhole(text: string): boolean {
  const bodyAt = text.indexOf('\r\n\r\n') + 4
  if (bodyAt < 4) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
  return length === undefined
    ? text.endsWith('0\r\n\r\n')
    : Buffer.byteLength(text, 'latin1') >= bodyAt + Number(length)
}
