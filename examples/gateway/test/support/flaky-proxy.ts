import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenDone } from './shared.ts'

/** The outcome of a request: handed on; the answer lost on its way; turned away before it arrives. */
export type Fate = 'pass' | 'lose' | 'away'

/** A proxy before a service that applies a list of faults to requests, one after the other, and then forwards. */
export async function flakyProxy(target: string, fates: readonly Fate[]): Promise<string> {
  const left = [...fates]
  const server = createServer((req, res) => {
    const fate = left.shift() ?? 'pass'
    if (fate === 'away') {
      req.resume()
      res.writeHead(503, { 'Retry-After': '2', 'Content-Type': 'application/json' }).end('{"error":"away"}')
      return
    }
    const { method, url, headers } = req
    const forwarded = request(`${target}${url}`, { method, headers }, (answer) => {
      // It has been worked on, to its end, and nobody is notified of it.
      if (fate === 'lose') answer.resume().on('end', () => res.destroy())
      else {
        res.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(res)
      }
    })
    forwarded.on('error', () => res.destroy())
    req.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenDone(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
