import { gzipSync } from 'node:zlib'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { HttpError } from '../src/http/http-error.ts'
import { divingFish } from '../src/sources/diving-fish.ts'
import { Forwarder, type ForwarderOptions } from '../src/sources/forwarder.ts'
import { lxns } from '../src/sources/lxns.ts'
import type { ScoreSource } from '../src/sources/score-source.ts'
import { START } from './support/gateway.ts'
import {
  type Answering,
  fishError,
  fishRecord,
  fishRecords,
  held,
  json,
  lxError,
  lxScore,
  lxScores,
  nobody,
  raw,
  silence,
  sourceServer,
  text,
  torn,
  tornBody,
} from './support/source-server.ts'

const TOKEN = 'player-token-0123456789'
const CREDENTIAL = { kind: 'personal', text: TOKEN } as const

type Options = Partial<Omit<ForwarderOptions, 'source' | 'baseUrl'>>

/** Short waits: whether a limit holds does not depend on its length. */
const options = (more: Options): Omit<ForwarderOptions, 'source' | 'baseUrl'> => ({
  timeoutMs: 5_000,
  random: () => 0,
  ...more,
})
const lxAt = (origin: string, more: Options = {}): ScoreSource =>
  lxns(new Forwarder({ source: 'lx', baseUrl: `${origin}/api/v0`, ...options(more) }), manualClock(START))
const fishAt = (origin: string, more: Options = {}): ScoreSource =>
  divingFish(new Forwarder({ source: 'fish', baseUrl: origin, ...options(more) }), manualClock(START))

async function failure(promise: Promise<unknown>): Promise<HttpError> {
  const error = await promise.then(
    () => new Error('did not fail'),
    (reason: unknown) => reason,
  )
  if (error instanceof HttpError) return error
  throw error
}

interface Fault {
  readonly code: string
  readonly upstreamStatus?: number | undefined
  readonly isForwardingFailed?: boolean
  readonly asked?: unknown
}

/** Calls LXNS, and compares the error with the expected one. */
async function expectFault(answers: Answering[], expected: Fault, more?: Options): Promise<HttpError> {
  const server = await sourceServer(...answers)
  const error = await failure(lxAt(server.origin, more).fetchScores(CREDENTIAL))
  const { code, source, upstreamStatus, isForwardingFailed } = error
  expect({ code, source, upstreamStatus, isForwardingFailed, asked: server.requests.length }).toEqual({
    source: 'lx',
    upstreamStatus: undefined,
    isForwardingFailed: false,
    asked: 1,
    ...expected,
  })
  expect(`${error.message} ${(error.cause as Error | undefined)?.message}`).not.toContain(TOKEN)
  return error
}

describe('requests to a source', () => {
  it('a source request has the credential in the source’s field and path', async () => {
    const lx = await sourceServer(lxScores(lxScore()))
    const fish = await sourceServer(fishRecords(fishRecord()))
    expect((await lxAt(lx.origin).fetchScores(CREDENTIAL)).plays).toHaveLength(1)
    const { nickname, rating, plays } = await fishAt(fish.origin).fetchScores(CREDENTIAL)
    expect({ nickname, rating, plays: plays.length }).toEqual({ nickname: 'ＰＬＡＹＥＲ', rating: 15_123, plays: 1 })
    expect(lx.requests).toMatchObject([
      { method: 'GET', path: '/api/v0/user/maimai/player/scores', headers: { 'x-user-token': TOKEN } },
    ])
    expect(fish.requests).toMatchObject([
      { method: 'GET', path: '/player/records', headers: { 'import-token': TOKEN } },
    ])
  })

  it.each([301, 302, 303, 307, 308])('a source request follows no redirect (%i)', async (status) => {
    const other = await sourceServer(lxScores(lxScore()))
    const location = `${other.origin}/api/v0/user/maimai/player/scores`
    await expectFault([text('', status, { Location: location })], {
      code: 'source_bad_response',
      upstreamStatus: status,
    })
    expect(other.requests).toEqual([])
  })
})

describe('rejections by a source', () => {
  it('LXNS rejects a credential in the head or in the body', async () => {
    const expected = { code: 'source_credential_rejected' }
    await expectFault([lxError(401, 'unauthorized')], { ...expected, upstreamStatus: 401 })
    await expectFault([lxError(403, 'forbidden')], { ...expected, upstreamStatus: 403 })
    await expectFault([json({ success: false, code: 401 })], { ...expected, upstreamStatus: 401 })
  })

  it('Diving-Fish rejecting a credential is distinguished from its other errors with that status', async () => {
    const server = await sourceServer(fishError('导入token有误'), fishError('别的'), fishError('导入token有误', 200))
    const fish = fishAt(server.origin)
    const codes: string[] = []
    for (let n = 0; n < 3; n++) codes.push((await failure(fish.fetchScores(CREDENTIAL))).code)
    expect(codes).toEqual(['source_credential_rejected', 'source_bad_response', 'source_credential_rejected'])
  })

  it('Diving-Fish reports a private profile', async () => {
    const server = await sourceServer(fishError('已设置隐私', 403))
    const error = await failure(fishAt(server.origin).fetchScores(CREDENTIAL))
    expect(error).toMatchObject({ code: 'source_privacy', status: 422, source: 'fish', upstreamStatus: 403 })
  })

  it('a firewall in front of a source says nothing about the player', async () => {
    const page = text('<html>blocked</html>', 403, { 'Content-Type': 'text/html' })
    await expectFault([page], { code: 'source_bad_response', upstreamStatus: 403 })
  })

  it.each([
    [{ 'Retry-After': '17' }, 17],
    [{ 'Retry-After': new Date(START + 90_000).toUTCString() }, 90],
    [{ 'Retry-After': new Date(START - 90_000).toUTCString() }, 1],
    [{ 'Retry-After': '0' }, 1],
    [{ 'Retry-After': '99999999999999999999' }, 3_600],
    [{ 'Retry-After': 'soon' }, 60],
    [{}, 60],
  ])('a source’s rate limit with %o means a wait of %i s', async (headers, seconds) => {
    const expected = { code: 'source_rate_limited', upstreamStatus: 429 }
    const error = await expectFault([lxError(429, 'too many requests', headers)], expected)
    expect(error).toMatchObject({
      status: 502,
      retryAfterSeconds: seconds,
      headers: { 'Retry-After': String(seconds) },
    })
  })
})

describe('invalid source responses', () => {
  it.each<[string, Answering]>([
    ['a page', text('<html></html>', 200, { 'Content-Type': 'text/html' })],
    ['broken JSON', text('{"success":true,"data":[')],
    ['nothing', text('')],
    ['a success without data', json({ success: true, code: 200 })],
    ['a success without a list', json({ success: true, code: 200, data: {} })],
    ['an error without a code', json({ success: false, message: 'no' })],
    ['another form', json([])],
    ['more records than there are charts', lxScores(...Array<number>(10_001).fill(0))],
  ])('%s is an invalid response', async (_name, answer) => {
    await expectFault([answer], { code: 'source_bad_response', upstreamStatus: 200 })
  })

  it('a status without meaning, such as 404, is an invalid response', async () => {
    await expectFault([lxError(404, 'not found')], { code: 'source_bad_response', upstreamStatus: 404 })
    await expectFault([text('', 204)], { code: 'source_bad_response', upstreamStatus: 204 })
  })

  it('a response that isn’t HTTP or isn’t compressed as announced is an invalid response', async () => {
    await expectFault([raw('220 mail.example.com ready\r\n')], { code: 'source_bad_response' })
    await expectFault([text('not gzip', 200, { 'Content-Encoding': 'gzip' })], { code: 'source_bad_response' })
  })

  it('a body longer than announced is cut off and invalid', async () => {
    const body = JSON.stringify({ success: true, data: [] })
    const answer = raw(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length - 1}\r\n\r\n${body}`)
    await expectFault([answer], { code: 'source_bad_response', upstreamStatus: 200 })
  })
})

describe('oversized source responses', () => {
  const maxBytes = 10_000
  /** Goes on for as long as it is read. */
  function endless(chunk: Uint8Array, headers: Record<string, string>, counted: (bytes: number) => void): Answering {
    return (_req, res) => {
      res.writeHead(200, headers)
      let bytes = 0
      const more = (): void => {
        if (res.destroyed || bytes > 50_000_000) return
        bytes += chunk.byteLength
        counted(bytes)
        res.write(chunk, more)
      }
      more()
    }
  }

  it('an oversized response is aborted while it arrives', async () => {
    let sent = 0
    const answer = endless(Buffer.alloc(8_192, 32), {}, (bytes) => {
      sent = bytes
    })
    await expectFault([answer], { code: 'source_bad_response' }, { maxBytes })
    expect(sent).toBeLessThan(50_000_000)
  })

  it('the size is measured after decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, 32))
    expect(bomb.byteLength).toBeLessThan(20_000)
    await expectFault(
      [text(bomb, 200, { 'Content-Encoding': 'gzip' })],
      { code: 'source_bad_response' },
      { maxBytes: 100_000 },
    )
  })

  it('one byte above the limit is too large', async () => {
    const body = JSON.stringify({ success: true, data: [] })
    const server = await sourceServer(text(gzipSync(body), 200, { 'Content-Encoding': 'gzip' }))
    const fits = await lxAt(server.origin, { maxBytes: body.length }).fetchScores(CREDENTIAL)
    expect(fits).toEqual({ fetched: 0, plays: [], faults: [] })
    await expectFault([text(body)], { code: 'source_bad_response' }, { maxBytes: body.length - 1 })
  })
})

describe('the second try', () => {
  it.each<[string, Answering]>([
    ['502', lxError(502, 'bad gateway')],
    ['503', text('<html></html>', 503)],
    ['504', lxError(504, 'too slow')],
    ['a torn connection', torn],
    ['a torn body', tornBody],
    ['a body shorter than announced', raw('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{')],
  ])('a source is tried again after %s', async (_name, passing) => {
    const server = await sourceServer(passing, lxScores(lxScore()))
    expect((await lxAt(server.origin).fetchScores(CREDENTIAL)).plays).toHaveLength(1)
    expect(server.requests).toHaveLength(2)
  })

  it('the second try is the last and gives the result', async () => {
    const bad = lxError(503, 'maintenance')
    await expectFault([bad], { code: 'source_error', upstreamStatus: 503, asked: 2 })
    await expectFault([bad, lxError(401, 'no')], { code: 'source_credential_rejected', upstreamStatus: 401, asked: 2 })
    await expectFault([bad, torn], { code: 'source_unreachable', isForwardingFailed: true, asked: 2 })
    await expectFault([torn, tornBody], { code: 'source_unreachable', isForwardingFailed: true, asked: 2 })
  })

  it('an error that would repeat isn’t tried again', async () => {
    for (const status of [500, 501]) {
      await expectFault([lxError(status, 'broken')], { code: 'source_error', upstreamStatus: status })
    }
  })

  it('the second try waits a random part of its maximum', async () => {
    const server = await sourceServer(torn, lxScores())
    // The longest wait is an hour, of which chance takes nothing: a fixed wait would run into the time limit.
    await lxAt(server.origin, { retryDelayMs: 3_600_000, random: () => 0 }).fetchScores(CREDENTIAL)
    expect(server.requests).toHaveLength(2)
  })

  it('the second try comes within the time limit or not at all', async () => {
    const more = { timeoutMs: 100, retryDelayMs: 3_600_000, random: () => 0.999 }
    const expected = { code: 'source_timeout', isForwardingFailed: true, asked: expect.any(Number) }
    await expectFault([torn, lxScores()], expected, more)
  })
})

describe('the time limit of a source', () => {
  const timeoutMs = 100
  /** However often it was asked by then: a busy machine may not have come to it. */
  const expected = { code: 'source_timeout', isForwardingFailed: true, asked: expect.any(Number) }

  it('the time limit covers head, body and both tries together', async () => {
    const started: Answering = (_req, res) => {
      res.writeHead(200).write('{"success":true,')
    }
    await expectFault([silence], expected, { timeoutMs })
    await expectFault([started], expected, { timeoutMs })
    await expectFault([torn, silence], expected, { timeoutMs })
  })

  it('the time limit applies to a body that trickles', async () => {
    let timer: NodeJS.Timeout | undefined
    const trickle: Answering = (_req, res) => {
      res.writeHead(200)
      timer = setInterval(() => res.write(' '), 10)
    }
    await expectFault([trickle], expected, { timeoutMs })
    clearInterval(timer)
  })
})

describe('a missing source', () => {
  it('a source that can’t be reached is reported as unreachable', async () => {
    const error = await failure(lxAt(await nobody()).fetchScores(CREDENTIAL))
    expect(error).toMatchObject({ code: 'source_unreachable', status: 502, isForwardingFailed: true })
    expect((error.cause as Error).message).toBe('ECONNREFUSED')
  })
})

describe('aborting a source request', () => {
  it('an aborted source request ends with the abort’s reason', async () => {
    const never = held(lxScores())
    const server = await sourceServer(never.answer)
    const abort = new AbortController()
    const fetching = lxAt(server.origin).fetchScores(CREDENTIAL, abort.signal)
    await expect.poll(() => server.requests.length).toBe(1)
    abort.abort(new Error('stopping'))
    await expect(fetching).rejects.toThrow('stopping')
    await expect(lxAt(server.origin).fetchScores(CREDENTIAL, abort.signal)).rejects.toThrow('stopping')
    expect(server.requests).toHaveLength(1)
  })
})
