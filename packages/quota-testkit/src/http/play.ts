import type { HttpApp, HttpCall } from './http-app.ts'
import type { HttpReply } from './scenario.ts'

/** The members used of Node's `ServerResponse`. */
export interface NodeReply {
  writeHead(status: number, headers?: Record<string, string>): unknown
  write(chunk: string): boolean
  end(chunk?: string): unknown
}

/** Sends a reply on a Node response. Throws if the handler throws immediately. */
export function playOnNode(app: HttpApp, reply: HttpReply, call: HttpCall, res: NodeReply): Promise<void> {
  app.begin(reply)
  return writeOnNode(app, reply, call, res).finally(app.working())
}

async function writeOnNode(app: HttpApp, reply: HttpReply, call: HttpCall, res: NodeReply): Promise<void> {
  await app.before(reply, call)
  res.writeHead(reply.status ?? 200, { ...reply.headers })
  if (reply.chunks === undefined) {
    res.end(reply.body)
    return
  }
  for await (const chunk of app.chunks(reply, call)) res.write(chunk)
  res.end()
}

/** Statuses whose responses have no body. */
const BODYLESS = [204, 205, 304]

/** Makes a reply a `Response`. Throws if the handler throws immediately. */
export function playAsResponse(app: HttpApp, reply: HttpReply, call: HttpCall): Promise<Response> {
  app.begin(reply)
  const done = app.working()
  return responseOf(app, reply, call, done).catch((error: unknown) => {
    done()
    throw error
  })
}

async function responseOf(app: HttpApp, reply: HttpReply, call: HttpCall, done: () => void): Promise<Response> {
  await app.before(reply, call)
  const { status = 200, headers = {}, body = null } = reply
  const isStream = reply.chunks !== undefined && !BODYLESS.includes(status)
  if (!isStream) done()
  const sent = isStream ? streamOf(app.chunks(reply, call), done) : body
  return new Response(BODYLESS.includes(status) ? null : sent, { status, headers })
}

function streamOf(chunks: AsyncGenerator<string>, done: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done: isLast } = await chunks.next()
        if (isLast !== true) {
          controller.enqueue(encoder.encode(value))
          return
        }
        controller.close()
        done()
      } catch (error) {
        controller.error(error)
        done()
      }
    },
    async cancel() {
      done()
      await chunks.return(undefined)
    },
  })
}
