import { serve } from './serve.ts'

declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen: (at: { readonly port: number }) => void },
    handler: (request: Request, info: { readonly remoteAddr: { readonly hostname: string } }) => Promise<Response>,
  ): void
}

Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log(port) }, (request, { remoteAddr }) =>
  serve(request, remoteAddr.hostname),
)
