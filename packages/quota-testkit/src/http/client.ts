import { equal } from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connect2,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HttpApp } from './http-app.ts'
import { CONTROL_PATH } from './scenario.ts'

/** A response as a client sees it. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** `undefined`: the connection broke first. */
  readonly body: string | undefined
}

/** A request, without its path. */
export interface HttpAsk {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** The warnings, errors and handlers of an app so far. */
export interface HttpLog {
  readonly warnings: readonly string[]
  readonly errors: readonly string[]
  /** Limits that came near, by name, with the used tokens. */
  readonly near: readonly string[]
  /** The number of handlers that started. */
  readonly worked: number
}

/** Far less than the lifetime of a hold. */
const ENDED_WITHIN_MS = 10_000

/** One turn of the event loop: everything that the sockets have received is then read. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The body, if it arrived completely. */
function textOf(answer: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = ''
    answer.setEncoding('utf8')
    answer.on('data', (chunk: string) => {
      text += chunk
    })
    answer.on('error', () => undefined)
    answer.on('close', () => resolve(answer.complete ? text : undefined))
  })
}

/** Opens a request of `u1` over HTTP/2. */
function streamOf(
  session: ClientHttp2Session,
  path: string,
  method: string,
  headers: OutgoingHttpHeaders,
): ClientHttp2Stream {
  const given = Object.entries({ 'x-user': 'u1', ...headers }).filter(
    ([name, value]) => !(Array.isArray(value) && value.length === 0) && name.toLowerCase() !== 'connection',
  )
  const stream = session.request({ ...Object.fromEntries(given), ':path': path, ':method': method })
  stream.on('error', () => undefined)
  return stream
}

async function answerOver2(stream: ClientHttp2Stream, sent: string | undefined): Promise<HttpAnswer> {
  stream.end(sent)
  const [fields] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  const body = await new Promise<string | undefined>((resolve) => {
    let text = ''
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => {
      text += chunk
    })
    stream.on('close', () => resolve(stream.rstCode === 0 ? text : undefined))
  })
  return { status: Number(fields[':status']), headers: fields as Record<string, string | undefined>, body }
}

/** An HTTP client of one app. Requests are those of `u1` unless they name another subject. */
export class HttpClient {
  readonly #url: URL
  readonly #agent = new Agent({ keepAlive: true })
  /** Connections for control requests, which no response under test can break. */
  readonly #control = new Agent({ keepAlive: true })

  readonly #app: HttpApp | undefined
  readonly #session: ClientHttp2Session | undefined

  /**
   * @param app the served app, if it runs in this process
   * @param isHttp2 whether to speak HTTP/2
   */
  constructor(url: string, app?: HttpApp, isHttp2 = false) {
    this.#url = new URL(url)
    this.#app = app
    this.#session = isHttp2 ? connect2(url) : undefined
    this.#session?.on('error', () => undefined)
  }

  async ask(path: string, { method = 'GET', headers = {}, body }: HttpAsk = {}): Promise<HttpAnswer> {
    if (this.#session !== undefined) return answerOver2(streamOf(this.#session, path, method, headers), body)
    const { hostname, port } = this.#url
    const asked = request({
      hostname,
      port,
      path,
      agent: path.startsWith(CONTROL_PATH) ? this.#control : this.#agent,
      method,
      headers: { 'x-user': 'u1', ...headers },
    })
    // A broken response also emits an error on the request, after it was awaited.
    asked.on('error', () => undefined)
    asked.end(body)
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers as Record<string, string | undefined>,
      body: await textOf(answer),
    }
  }

  /** Opens a connection of its own, for requests that a client library would not send. */
  async dial(): Promise<Socket> {
    const socket = connect(Number(this.#url.port), this.#url.hostname)
    await once(socket, 'connect')
    // A server may reset a connection whose response broke. Tests wait for events of their own.
    socket.on('error', () => undefined)
    return socket
  }

  /** Sends a request of `u1` and doesn't wait for the response. */
  async send(path: string, fields: readonly string[] = []): Promise<Duplex> {
    if (this.#session !== undefined) {
      const headers = Object.fromEntries(fields.map((field) => field.split(': ')))
      return streamOf(this.#session, path, 'GET', headers).end()
    }
    const socket = await this.dial()
    const head = [`GET ${path} HTTP/1.1`, `Host: ${this.#url.host}`, 'x-user: u1', ...fields]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    return socket
  }

  /** The tokens that a subject has used on the first engine. */
  async used(subject = 'u1'): Promise<number> {
    return (await this.usedOfEach(subject))[0] ?? 0
  }

  /** The same for each engine of the app. */
  usedOfEach(subject = 'u1'): Promise<number[]> {
    return this.tell(`used?subject=${encodeURIComponent(subject)}`) as Promise<number[]>
  }

  /** The open holds of a subject on the first engine. */
  async held(subject = 'u1'): Promise<number> {
    return ((await this.tell(`held?subject=${encodeURIComponent(subject)}`)) as number[])[0] ?? 0
  }

  /** Waits until these subjects hold nothing. A response may settle after its last byte. */
  async untilNothingIsHeld(...subjects: readonly string[]): Promise<void> {
    const deadline = performance.now() + ENDED_WITHIN_MS
    for (const subject of subjects.length === 0 ? ['u1'] : subjects) {
      while ((await this.held(subject)) > 0 && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      equal(await this.held(subject), 0, `holds of ${subject}`)
    }
  }

  /** Waits until a threshold was crossed, and returns the limits that are near. */
  async untilNear(): Promise<readonly string[]> {
    const deadline = performance.now() + ENDED_WITHIN_MS
    for (;;) {
      const { near } = await this.log()
      if (near.length > 0 || performance.now() >= deadline) return near
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }

  log(): Promise<HttpLog> {
    return this.tell('log') as Promise<HttpLog>
  }

  /** Sends a control request to the app. */
  async tell(what: string): Promise<unknown> {
    if (this.#app !== undefined) {
      await turn()
      return this.#app.control(CONTROL_PATH + what)
    }
    const { status, body } = await this.ask(CONTROL_PATH + what)
    if (status !== 200) throw new Error(`${what}: ${status} ${body}`)
    return JSON.parse(body ?? '') as unknown
  }

  close(): void {
    this.#session?.destroy()
    this.#agent.destroy()
    this.#control.destroy()
  }
}
