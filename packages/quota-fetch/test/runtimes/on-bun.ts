import { serve } from './serve.ts'

interface BunServer {
  readonly port: number
  requestIP(request: Request): { readonly address: string } | null
}

declare const Bun: {
  serve(options: {
    port: number
    hostname: string
    idleTimeout: number
    fetch: (request: Request, server: BunServer) => Promise<Response>
  }): BunServer
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: (request, { requestIP }) => serve(request, requestIP.call(server, request)?.address),
})
console.log(server.port)
