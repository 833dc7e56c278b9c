import { once } from 'node:events'
import { createQuota } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'

/** The part of Bun that the check uses. */
declare const Bun: {
  serve(options: {
    port: number
    fetch: (request: Request, server: UpgradingServer) => Response | undefined | Promise<Response | undefined>
    websocket: { message: (socket: { send(text: string): void }, text: string) => void }
  }): { readonly port: number; stop(closesConnections: boolean): void }
}

interface UpgradingServer {
  upgrade(request: Request): boolean
}

const errors: unknown[] = []
const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1h' } } })
const logger = { warn: () => undefined, error: (error: unknown) => void errors.push(String(error)) }
const metered = quotaFetch({ quota, subject: () => 'u', logger, operation: () => 'request' })
const handler = metered((request: Request, server: UpgradingServer) => {
  // Bun's own examples return nothing after an upgrade.
  if (server.upgrade(request)) return undefined as unknown as Response
  return new Response('expected an upgrade', { status: 426 })
})
const server = Bun.serve({ port: 0, fetch: handler, websocket: { message: (socket, text) => socket.send(`${text}!`) } })
const url = `127.0.0.1:${server.port}`

const socket = new WebSocket(`ws://${url}`)
await once(socket, 'open')
socket.send('hello')
const [{ data }] = (await once(socket, 'message')) as [MessageEvent]
const { status } = await fetch(`http://${url}`)
console.log(JSON.stringify([data, status, errors]))
server.stop(true)
await quota.close()
process.exit(0)
