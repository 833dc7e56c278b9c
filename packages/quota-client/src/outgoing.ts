import type { OutgoingRequest } from './options.ts'

type Fetch = typeof globalThis.fetch

const SAFE_TO_REPEAT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?json)/i

/** A call's request, as its key and its retries see it. */
export interface Outgoing {
  readonly request: Omit<OutgoingRequest, 'body'>
  /** The body, if it is text. A promise for that of a `Request`, of which a copy is read. */
  readonly body: string | Promise<string> | undefined
  readonly signal: AbortSignal | undefined
  /** Whether it can be sent again: it is idempotent by method or key, and its body can be read again. */
  readonly isRepeatable: boolean
}

/** Reads the arguments of a `fetch`. */
export function outgoing(input: Parameters<Fetch>[0], init: RequestInit | undefined): Outgoing {
  const given = typeof input === 'object' && 'headers' in input ? input : undefined
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  const method = (init?.method ?? given?.method ?? 'GET').toUpperCase()
  const headers = new Headers(init?.headers ?? given?.headers)
  const body = init?.body ?? undefined
  const isStream = isReadable(body) || (body === undefined && isReadable(given?.body))
  return {
    request: {
      url: new URL(given?.url ?? String(input), location?.href),
      method,
      headers,
    },
    body: body === undefined ? textOf(given) : textIn(body),
    signal: init?.signal ?? given?.signal,
    isRepeatable: (SAFE_TO_REPEAT.has(method) || headers.has('idempotency-key')) && !isStream,
  }
}

function textIn(body: unknown): string | undefined {
  const isForm = Object.prototype.toString.call(body) === '[object URLSearchParams]'
  return typeof body === 'string' || isForm ? String(body) : undefined
}

function textOf(request: Request | undefined): Promise<string> | undefined {
  const isText = TEXT.test(request?.headers.get('content-type') ?? '')
  return isText && isReadable(request?.body) ? request?.clone().text() : undefined
}

/** Whether a value is a stream, of any realm or implementation. */
function isReadable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'getReader' in value
}
