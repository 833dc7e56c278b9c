import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { checkHost, PrivateAddress, publicLookup, type Resolve } from './public-address.ts'

/** How many bytes of a response are read. The content doesn't matter, only its end. */
const MAX_ANSWER_BYTES = 65_536

export interface PostOptions {
  /** How long an attempt may take, including the name lookup and the whole response, in milliseconds. */
  readonly timeoutMs: number
  /** Whether this machine and private networks are allowed. */
  readonly allowPrivate: boolean
  /** @default the machine's */
  readonly resolve?: Resolve | undefined
  /** Aborts an attempt. */
  readonly stopping?: AbortSignal | undefined
}

/** The result of an attempt: a status, or why there is none. */
export type Posted = { readonly status: number } | { readonly fault: PostFault }
type PostFault = 'private_address' | 'not_found' | 'refused' | 'timeout' | 'tls' | 'connection'

/**
 * Posts JSON. It follows no redirects, reads little of the response, and never throws. A failure is reported as a code:
 * an error's text may contain an address with a credential.
 */
export function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  { timeoutMs, allowPrivate, resolve, stopping }: PostOptions,
): Promise<Posted> {
  return new Promise((settle) => {
    try {
      checkHost(url, allowPrivate)
    } catch {
      settle({ fault: 'private_address' })
      return
    }
    const late = AbortSignal.timeout(timeoutMs)
    const signal = stopping === undefined ? late : AbortSignal.any([late, stopping])
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = send(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
      // A new connection each time, because a kept one does no lookup.
      agent: false,
      lookup: publicLookup(allowPrivate, resolve),
      signal,
    })
    request.once('error', (error) => settle({ fault: signal.aborted ? 'timeout' : faultOf(error) }))
    request.once('response', (response) => {
      const { statusCode: status = 0 } = response
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength
        if (bytes > MAX_ANSWER_BYTES) response.destroy()
      })
      // The status counts, even if the body fails.
      response.once('error', () => undefined)
      response.once('close', () => settle({ status }))
    })
    request.end(body)
  })
}

function faultOf(error: Error): PostFault {
  if (error instanceof PrivateAddress) return 'private_address'
  const { code = '' } = error as NodeJS.ErrnoException
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'not_found'
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ETIMEDOUT') return 'timeout'
  return /^(?:ERR_TLS|ERR_SSL|CERT|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code) ? 'tls' : 'connection'
}
