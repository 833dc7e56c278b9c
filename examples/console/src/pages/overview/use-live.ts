import { useEffect, useState } from 'preact/hooks'
import type { Api, Overview } from '../../api/api.ts'
import { ApiError } from '../../api/api-error.ts'
import { useApi } from '../../session.ts'

/** After this much silence the stream counts as down, even if the connection looks open. */
const SILENCE_MS = 5_000
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 10_000

export interface Live {
  readonly data: Overview | undefined
  /** When events stopped, epoch milliseconds; `undefined` while they arrive. */
  readonly downSince: number | undefined
  readonly error: ApiError | undefined
}

/** Follows the overview while the page is visible. If the stream is down, it reconnects. */
export function useLive(): Live {
  const api = useApi()
  const [live, setLive] = useState<Live>({ data: undefined, downSince: undefined, error: undefined })
  const [isLooked, setLooked] = useState(document.visibilityState === 'visible')

  useEffect(() => {
    const look = (): void => setLooked(document.visibilityState === 'visible')
    addEventListener('visibilitychange', look)
    return () => removeEventListener('visibilitychange', look)
  }, [])

  useEffect(() => {
    if (!isLooked) return
    const end = new AbortController()
    void follow({
      listen: (signal) => overviewEvents(api, signal),
      end: end.signal,
      onData: (data) => setLive({ data, downSince: undefined, error: undefined }),
      onDown: (since, error) => setLive((before) => ({ ...before, downSince: before.downSince ?? since, error })),
    })
    return () => end.abort()
  }, [api, isLooked])

  return live
}

interface Following {
  listen(signal: AbortSignal): AsyncIterable<Overview>
  readonly end: AbortSignal
  onData(data: Overview): void
  onDown(since: number, error: ApiError | undefined): void
}

/** Follows the stream until it is stopped. If the stream ends normally, it reconnects immediately. */
async function follow({ listen, end, onData, onDown }: Following): Promise<void> {
  let heardAt = Date.now()
  let waitMs = FIRST_WAIT_MS
  while (!end.aborted) {
    const before = heardAt
    const error = await heard(listen, end, (data) => {
      heardAt = Date.now()
      waitMs = FIRST_WAIT_MS
      onData(data)
    })
    if (end.aborted) return
    if (error === undefined && heardAt > before) continue
    onDown(heardAt, error instanceof ApiError && error.code !== 'unreachable' ? error : undefined)
    await pause(waitMs, end)
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)
  }
}

/** Reads until the stream ends, falls silent, or is stopped. Returns what went wrong, if anything. */
async function heard(listen: Following['listen'], end: AbortSignal, onData: Following['onData']): Promise<unknown> {
  const own = new AbortController()
  const stop = (): void => own.abort()
  end.addEventListener('abort', stop)
  let timer = setTimeout(stop, SILENCE_MS)
  try {
    for await (const data of listen(own.signal)) {
      if (end.aborted) break
      onData(data)
      clearTimeout(timer)
      timer = setTimeout(stop, SILENCE_MS)
    }
    return undefined
  } catch (error) {
    return error
  } finally {
    clearTimeout(timer)
    end.removeEventListener('abort', stop)
  }
}

function pause(ms: number, end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      end.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    end.addEventListener('abort', done)
  })
}

/** Yields the overview each second, until the gateway ends the stream or the signal is aborted. */
async function* overviewEvents(api: Api, signal: AbortSignal): AsyncGenerator<Overview> {
  const options = { parseAs: 'stream', signal } as const
  const { data, response } = await api.read((client) => client.GET('/admin/overview/events', options))
  if (data === null) throw new ApiError('internal_error', response.status)
  for await (const event of eventsOf(data)) yield JSON.parse(event) as Overview
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
