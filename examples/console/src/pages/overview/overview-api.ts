import type { components } from 'example-client/gateway-types'
import type { Api, Overview } from '../../api/api.ts'
import { ApiError } from '../../api/api-error.ts'

export type RequestHistory = components['schemas']['RequestHistoryAnswer']

/** Yields the overview each second, until the gateway ends the stream or the signal is aborted. */
export async function* overviewEvents(api: Api, signal: AbortSignal): AsyncGenerator<Overview> {
  const options = { parseAs: 'stream', signal } as const
  const { data, response } = await api.read((client) => client.GET('/admin/overview/events', options))
  if (data === null) throw new ApiError('internal_error', response.status)
  for await (const event of eventsOf(data)) yield JSON.parse(event) as Overview
}

export async function requestHistory(api: Api, range: '24h' | '7d'): Promise<RequestHistory> {
  const params = { query: { range } }
  return (await api.read((client) => client.GET('/admin/overview/requests', { params }))).data
}

/** In characters. The gateway sends no longer events. */
const MAX_EVENT = 4_000_000

/** Yields the data of a stream's events. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      if (text.length > MAX_EVENT) throw new TypeError('an event without an end')
      for (const part of parts) {
        const data = part.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
        if (data.length > 0) yield data.join('\n')
      }
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
