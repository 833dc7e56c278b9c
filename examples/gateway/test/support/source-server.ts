import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenDone } from './shared.ts'

/** How a source answers one request. */
export type Answering = (req: IncomingMessage, res: ServerResponse) => void

/** A source on this machine with scripted answers. */
export interface SourceServer {
  readonly origin: string
  /** What came in so far. */
  readonly requests: { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** Answers the next requests one after another; the last of these answers all that follow. */
  answer(...answers: readonly Answering[]): void
}

export async function sourceServer(...first: readonly Answering[]): Promise<SourceServer> {
  const requests: SourceServer['requests'] = []
  let answers = first
  const server = createServer((req, res) => {
    requests.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers })
    const [next = json({ success: false, code: 500 }, 500), ...rest] = answers
    if (rest.length > 0) answers = rest
    next(req, res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenDone(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    requests,
    answer(...next) {
      answers = next
    },
  }
}

/** An address of this machine that nothing listens on. */
export async function nobody(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

/** A body as JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answering {
  return text(JSON.stringify(body), status, { 'Content-Type': 'application/json; charset=utf-8', ...headers })
}

export function text(body: string | Uint8Array, status = 200, headers: Record<string, string> = {}): Answering {
  return (_req, res) => {
    res.writeHead(status, headers).end(body)
  }
}

/** Bytes as they are in place of HTTP, after which the connection ends. */
export function raw(bytes: string): Answering {
  return (req) => {
    req.socket.end(bytes)
  }
}

/** The head and a part of the body, and then the connection is torn. */
export const tornBody: Answering = (req, res) => {
  res.writeHead(200, { 'Content-Type': 'application/json' })
  res.write('{"success":true,"data":[', () => req.socket.resetAndDestroy())
}

/** No answer at all: the connection is torn. */
export const torn: Answering = (req) => {
  req.socket.resetAndDestroy()
}

/** An answer that never comes. */
export const silence: Answering = () => undefined

/** An answer that waits to be let go. */
export function held(answer: Answering): { readonly answer: Answering; release(): void } {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  return { answer: (req, res) => released.then(() => answer(req, res)), release: () => release() }
}

/** What LXNS says of a player's scores. */
export function lxScores(...data: readonly unknown[]): Answering {
  return json({ success: true, code: 200, data })
}

export function lxError(code: number, message: string, headers?: Record<string, string>): Answering {
  return json({ success: false, code, message }, code, headers)
}

/** A score in LXNS's form. */
export function lxScore(facts: object = {}): Record<string, unknown> {
  return {
    id: 834,
    song_name: 'PANDORA PARADOXXX',
    level: '15',
    level_index: 3,
    achievements: 100.57,
    fc: 'fcp',
    fs: 'fsd',
    dx_score: 3751,
    dx_star: 3,
    dx_rating: 337.4,
    rate: 'sssp',
    type: 'standard',
    play_time: '2026-05-01T12:30:00Z',
    upload_time: '2026-05-02T08:00:00Z',
    last_played_time: '2026-05-01T12:30:00Z',
    ...facts,
  }
}

/** What Diving-Fish says of a player's records. */
export function fishRecords(...records: readonly unknown[]): Answering {
  return json({
    username: 'player',
    nickname: 'ＰＬＡＹＥＲ',
    rating: 15_123,
    additional_rating: 22,
    plate: '',
    records,
  })
}

export function fishError(message: string, status = 400, headers?: Record<string, string>): Answering {
  return json({ status: 'error', message }, status, headers)
}

/** A record in Diving-Fish's form. */
export function fishRecord(facts: object = {}): Record<string, unknown> {
  return {
    title: 'PANDORA PARADOXXX',
    level: '15',
    level_index: 3,
    level_label: 'Master',
    type: 'SD',
    song_id: 834,
    achievements: 100.57,
    dxScore: 3751,
    fc: 'fcp',
    fs: 'fsd',
    rate: 'sssp',
    ra: 337,
    ds: 15,
    ...facts,
  }
}
