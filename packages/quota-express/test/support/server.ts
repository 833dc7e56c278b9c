import { once } from 'node:events'
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Express } from 'express'
import { onTestFinished } from 'vitest'

/** An answer as a client sees it. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly rawHeaders: readonly string[]
  readonly body: string
}

export interface Served {
  readonly port: number
  ask(path: string, options?: RequestOptions & { readonly body?: string }): Promise<Answer>
  /** A raw connection, for requests that a client library would not make. */
  dial(): Promise<Socket>
}

/** Serves an app on a free port until the test ends. */
export async function serve(app: Express): Promise<Served> {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  onTestFinished(async () => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    async ask(path, { body, ...options } = {}) {
      const asked = request({ host: '127.0.0.1', port, path, agent, ...options })
      asked.end(body)
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      return {
        status: answer.statusCode!,
        headers: answer.headers as Record<string, string | undefined>,
        rawHeaders: answer.rawHeaders,
        body: await text(answer),
      }
    },
    async dial() {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    },
  }
}

/** Everything a connection sends until it is closed by the server. */
export async function readAll(socket: Socket): Promise<string> {
  return text(socket)
}

/** A promise with its ends in hand. */
export function latch<T = void>(): { promise: Promise<T>; open: (value: T) => void; fail: (error: unknown) => void } {
  let open!: (value: T) => void
  let fail!: (error: unknown) => void
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  // A failure may come before anybody waits for it.
  promise.catch(() => undefined)
  return { promise, open, fail }
}
