import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'
import { whenDone } from './shared.ts'

export interface SigningKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

export async function signingKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** A server of keys, whose answers the test chooses. */
export interface KeyServer {
  readonly url: string
  /** How often it was asked. */
  asked(): number
  answer(listener: RequestListener): void
  keys(...keys: readonly JWK[]): void
}

export async function keyServer(): Promise<KeyServer> {
  let asked = 0
  let current: RequestListener = (_req, res) => res.writeHead(500).end()
  const server = createServer((req, res) => {
    asked++
    current(req, res)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  whenDone(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    asked: () => asked,
    answer(listener) {
      current = listener
    },
    keys(...keys) {
      current = (_req, res) => res.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys }))
    },
  }
}
