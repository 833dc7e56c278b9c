import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Redis } from 'ioredis'

/**
 * A fault of one request. The connection breaks before the command is carried out (`broken`) or after it (`lost`); a
 * 502 after it; the answer ends in the middle; it is sent twice; the command is carried out twice, as by a repeating
 * proxy; a redirect to the front itself, after it; the answer to the previous request; invalid JSON; an error that
 * repeats the token.
 */
export type FrontFault =
  | 'broken'
  | 'lost'
  | 'status-502'
  | 'half'
  | 'answered-twice'
  | 'done-twice'
  | 'redirect'
  | 'answer-before'
  | 'no-json'
  | 'repeats-token'

/** A front for a real Redis that speaks Upstash's REST protocol. */
export interface HttpFront {
  readonly url: string
  readonly token: string
  /** Faults of the next requests in order; `undefined` for none. */
  readonly faults: (FrontFault | undefined)[]
  /** Names of the executed commands, and bytes of bodies. */
  readonly seen: { commands: string[]; requests: number; bytesIn: number; bytesOut: number }
  /** Stops executing and answering from now on. */
  silence(): void
  stop(): Promise<void>
}

const TOKEN = 'secret-token'

export interface HttpFrontOptions {
  /** Lua before each script, such as `local struct = nil` for a database without that library. */
  readonly lua?: string
  /** The longest script, in characters. */
  readonly maxScript?: number
  /** The Redis user that carries commands out. @default the server's default user */
  readonly user?: { readonly username: string; readonly password: string }
}

export async function startHttpFront(redisPort: number, options: HttpFrontOptions = {}): Promise<HttpFront> {
  const { lua = '', maxScript = Number.POSITIVE_INFINITY, user } = options
  const redis = new Redis({ port: redisPort, maxRetriesPerRequest: 0, ...user })
  const token = TOKEN
  const faults: (FrontFault | undefined)[] = []
  const seen: HttpFront['seen'] = { commands: [], requests: 0, bytesIn: 0, bytesOut: 0 }
  let isSilent = false
  let before = ''

  async function carriedOut([name = '', script = '', ...args]: readonly string[], isBase64: boolean): Promise<object> {
    seen.commands.push(name)
    if (lua !== '' && /^evalsha$/i.test(name)) return { error: 'NOSCRIPT No matching script' }
    if (script.length > maxScript) return { error: 'ERR max request size exceeded' }
    const words = [/^eval$/i.test(name) && lua !== '' ? `${lua}\n${script}` : script, ...args]
    try {
      return { result: shown(await redis.callBuffer(name, ...(script === '' ? [] : words)), isBase64) }
    } catch (error) {
      return { error: (error as Error).message }
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    seen.requests++
    seen.bytesIn += body.length
    if (isSilent) return
    const fault = faults.shift()
    if (fault === 'broken') throw new Error('not carried out')
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end(JSON.stringify({ error: 'WRONGPASS invalid or missing auth token' }))
      return
    }
    const words = (JSON.parse(body.toString()) as unknown[]).map(String)
    const isBase64 = request.headers['upstash-encoding'] === 'base64'
    if (fault === 'done-twice') await carriedOut(words, isBase64)
    const answer = await carriedOut(words, isBase64)
    const text = fault === 'answer-before' ? before : JSON.stringify(answer)
    before = text
    seen.bytesOut += text.length
    answered({ fault, request, response, text, status: 'error' in answer ? 400 : 200 })
  }

  const server = createServer(
    (request, response) => void serve(request, response).catch(() => request.socket.destroy()),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    faults,
    seen,
    silence: () => {
      isSilent = true
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      redis.disconnect()
    },
  }
}

interface Answer {
  readonly fault: FrontFault | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly text: string
  readonly status: number
}

/** Sends an answer, or its faulty form. */
function answered({ fault, request: { socket }, response, text, status }: Answer): void {
  const length = Buffer.byteLength(text)
  const whole = `HTTP/1.1 ${status} OK\r\ncontent-length: ${length}\r\n\r\n${text}`
  const faulty: Partial<Record<FrontFault, () => unknown>> = {
    lost: () => socket.destroy(),
    'status-502': () => response.writeHead(502).end('bad gateway'),
    half: () => socket.end(whole.slice(0, -text.length / 2)),
    'answered-twice': () => socket.write(whole + whole),
    redirect: () => response.writeHead(307, { location: '/' }).end(),
    'no-json': () => response.writeHead(200).end('<html>'),
    'repeats-token': () => response.writeHead(400).end(JSON.stringify({ error: `no user ${TOKEN}` })),
  }
  const asItIs = () => response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  ;(fault === undefined ? asItIs : (faulty[fault] ?? asItIs))()
}

function shown(reply: unknown, isBase64: boolean): unknown {
  if (Array.isArray(reply)) return reply.map((each) => shown(each, isBase64))
  if (!Buffer.isBuffer(reply)) return reply
  return isBase64 && reply.toString() !== 'OK' ? reply.toString('base64') : reply.toString()
}
