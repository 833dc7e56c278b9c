import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { USER_HEADER } from './apps.ts'

/** What every app answers with, so that the end of a response is its end. */
const BODY = '{"ok":true}'

const HEAD = 'HTTP/1.1 200 '

/**
 * Connections that stay open and ask one request after the other, each as soon as it is answered. A load generator that
 * reconnects for each turn has the server accept connections in place of answering requests.
 */
export class Connections {
  readonly #lines: readonly Line[]
  readonly #requests: readonly Buffer[]
  #next = 0

  private constructor(sockets: readonly Socket[], users: number) {
    this.#requests = Array.from({ length: users }, (_, index) =>
      Buffer.from(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n${USER_HEADER}: user-${index}\r\n\r\n`),
    )
    this.#lines = sockets.map((socket) => new Line(socket, () => this.#request()))
  }

  static async to(port: number, connections: number, users: number): Promise<Connections> {
    const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1').setNoDelay(true))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    return new Connections(sockets, users)
  }

  /** Asks so many requests over each connection; an error when any was not answered with 200. */
  async ask(each: number): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.ask(each)))
  }

  close(): void {
    for (const line of this.#lines) line.close()
  }

  /** The next user's. */
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

  ask(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = resolve
      this.#failed = reject
      this.#left = count
      this.#socket.write(this.#next())
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #heard(part: string): void {
    this.#text += part
    if (!this.#text.endsWith(BODY)) return
    const isAnswered = this.#text.startsWith(HEAD)
    if (!isAnswered) this.#failed(new Error(`answered with ${this.#text}`))
    this.#text = ''
    if (--this.#left > 0 && isAnswered) this.#socket.write(this.#next())
    else this.#done()
  }
}
