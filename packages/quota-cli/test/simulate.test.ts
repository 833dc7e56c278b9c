import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import type { Simulation } from '../src/simulate/result.ts'
import { type Ran, runCli } from './run-cli.ts'
import { fileOf, newPath, removeFiles } from './temporary.ts'

afterAll(removeFiles)

const START = Date.UTC(2026, 7, 6, 12)
const POLICY = fileOf(perHour(3))

function perHour(limit: number): object {
  return { limits: { perHour: { by: 'user', limit, per: '1h' } } }
}

function lineOf(secondsLater: number, user: string, more: object = {}): string {
  return JSON.stringify({ time: new Date(START + secondsLater * 1_000).toISOString(), user, ...more })
}

async function simulated(log: string, ...options: readonly string[]): Promise<Simulation> {
  const { code, out, err } = await runCli(['simulate', POLICY, log, '--json', ...options])
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out) as Simulation
}

function refusedOf({ policies }: Simulation): number | undefined {
  return policies[0]?.refused
}

/** Five requests of one user within a minute, of which two are refused. */
const FIVE = [0, 10, 20, 30, 40].map((second) => lineOf(second, 'ann'))

describe('quota simulate', () => {
  it('simulate reports who would have been refused, when, and by which limit', async () => {
    const simulation = await simulated(fileOf([...FIVE, lineOf(50, 'bob')].join('\n'), 'ndjson'))
    expect(simulation).toMatchObject({ lines: 6, requests: 6, from: START, until: START + 50_000 })
    expect(simulation.policies[0]).toMatchObject({
      ...{ requests: 6, admitted: 4, refused: 2, hopeless: 0 },
      cost: { charged: 4, refused: 2 },
      subjects: { all: 2, refused: 1 },
      limits: [{ name: 'perHour', unit: 'requests', limit: 3, refusals: 2, subjects: 1, firstAt: START + 30_000 }],
      refusedMost: [{ subject: 'ann', requests: 5, refused: 2, firstRefusedAt: START + 30_000 }],
    })
  })

  it('simulate prints tables and a chart', async () => {
    const { code, out } = await runCli(['simulate', POLICY, fileOf(FIVE.join('\n'), 'ndjson')])
    expect(code).toBe(0)
    for (const part of ['2 refused (40 %) of 5 requests', 'perHour', '░', '█', 'ann', '2026-08-06T12:00:30Z']) {
      expect(out).toContain(part)
    }
  })

  it('simulate writes a self-contained page that runs nothing from a log', async () => {
    const html = newPath('html')
    const evil = '<img src=x onerror=alert(1)>"\u202e'
    const log = fileOf([...FIVE, ...[1, 2, 3, 4, 5].map((second) => lineOf(second, evil))].join('\n'), 'ndjson')
    expect((await runCli(['simulate', POLICY, log, '--html', html])).out).toContain(`report written to ${html}`)
    const page = readFileSync(html, 'utf8')
    expect(page).toMatch(/^<!doctype html>/)
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(page).not.toMatch(/<img|<script|\u202e|https?:\/\//)
    expect(page.match(/<rect /g)?.length).toBeGreaterThan(3)
  })

  it('simulate compares two policies', async () => {
    const other = fileOf(perHour(4))
    const log = fileOf(FIVE.join('\n'), 'ndjson')
    const { policies, difference } = await simulated(log, '--against', other)
    expect(policies.map(({ refused }) => refused)).toEqual([2, 1])
    expect(difference).toEqual({
      ...{ both: 1, firstAlone: 1, secondAlone: 0 },
      subjects: [{ subject: 'ann', first: 2, second: 1 }],
    })
    const { out } = await runCli(['simulate', POLICY, log, '--against', other])
    expect(out).toContain('both refuse 1, only the first 1, only the second 0')
  })

  it('simulate writes each refusal as a line', async () => {
    const refusals = newPath('ndjson')
    await simulated(fileOf(FIVE.join('\n'), 'ndjson'), '--refusals', refusals)
    const lines = readFileSync(refusals, 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      {
        line: 4,
        at: START + 30_000,
        subject: 'ann',
        operation: 'request',
        refusedBy: { name: 'perHour', unit: 'requests', limit: 3, used: 3 },
      },
      { line: 5, at: START + 40_000, resetAt: START + 3_600_000, retryable: true },
    ])
  })

  it('simulate reads gzip files, and several logs as one', async () => {
    const first = fileOf(gzipSync(FIVE.slice(0, 3).join('\n')), 'ndjson.gz')
    const second = fileOf(FIVE.slice(3).join('\n'), 'ndjson')
    const { code, out } = await runCli(['simulate', POLICY, second, first, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ lines: 5, outOfOrder: 3, policies: [{ refused: 2 }] })
  })

  it('simulate leaves out limits of concurrency, and says so', async () => {
    const policy = fileOf({
      limits: {
        perHour: { by: 'user', limit: 3, per: '1h', for: 'request' },
        atOnce: { by: 'user', concurrency: 1, for: ['request', 'work'] },
      },
      operations: { request: {}, work: {} },
      plans: { pro: { atOnce: 5 } },
    })
    const lines = [
      ...FIVE.map((_, at) => lineOf(at, 'ann', { operation: 'request', plan: 'pro' })),
      lineOf(9, 'ann', { operation: 'work' }),
    ]
    const { code, out } = await runCli(['simulate', policy, fileOf(lines.join('\n'), 'ndjson')])
    expect(code).toBe(0)
    expect(out).toContain('2 refused (33.3 %) of 6 requests')
    expect(out).toContain('limits of concurrency are left out')
  })

  it('simulate doesn’t charge requests that got their tokens back', async () => {
    const log = fileOf(
      [200, 500, 429, 404, 200, 200].map((status, at) => lineOf(at, 'ann', { status })).join('\n'),
      'log',
    )
    expect(refusedOf(await simulated(log))).toBe(3)
    expect(refusedOf(await simulated(log, '--refund-from', '400'))).toBe(1)
  })
})

describe('the subject of a logged request', () => {
  const policy = fileOf({
    limits: {
      mine: { by: 'user', limit: 2, per: '1h' },
      ours: { by: 'team', limit: 3, per: '1h' },
    },
  })
  const people = [
    { user: 'ann', team: 'blue' },
    { user: 'ann', team: null },
    { user: 'ann', team: 'blue' },
    { team: 'blue' },
    { user: '', team: 'blue' },
    { team: 'blue' },
    {},
  ]
  const log = fileOf(people.map((each, at) => JSON.stringify({ time: START + at, ...each })).join('\n'), 'ndjson')

  it('a key may be of any length, and of spaces', async () => {
    const users = fileOf({ limits: { mine: { by: 'user', limit: 1, per: '1h' } } })
    const keys = ['k'.repeat(300), ' ', 'k'.repeat(300), ' ', `${'k'.repeat(300)}2`]
    const lines = keys.map((user, at) => lineOf(at, user)).join('\n')
    const { code, out } = await runCli(['simulate', users, fileOf(lines, 'ndjson')])
    expect(code).toBe(0)
    expect(out).toContain('2 refused (40 %) of 5 requests')
  })

  it('keys that are absent leave out their limits', async () => {
    const { out } = await runCli(['simulate', policy, log, '--json', '--subject', 'user=user,team=team'])
    const { policies, skipped } = JSON.parse(out) as Simulation
    expect(policies[0]).toMatchObject({
      admitted: 4,
      limits: [
        { name: 'mine', refusals: 1 },
        { name: 'ours', refusals: 1 },
      ],
      refusedMost: [{ subject: { user: 'ann', team: 'blue' } }, { subject: { user: null, team: 'blue' } }],
    })
    expect(skipped.reasons).toMatchObject([{ reason: 'no_subject', count: 1 }])
  })

  it('a request without any key of a policy isn’t decided by it', async () => {
    const users = fileOf({ limits: { mine: { by: 'user', limit: 2, per: '1h' } } })
    const options = ['--against', users, '--json', '--subject', 'user=user,team=team']
    const { out } = await runCli(['simulate', policy, log, ...options])
    const { policies } = JSON.parse(out) as Simulation
    expect(policies.map(({ requests, undecided }) => [requests, undecided])).toEqual([
      [6, 0],
      [3, 3],
    ])
  })

  it('a policy that needs several keys asks for their fields', async () => {
    const { code, err } = await runCli(['simulate', policy, log])
    expect(code).toBe(2)
    expect(err).toContain('--subject user=FIELD,team=FIELD')
  })
})

describe('the operation of a logged request', () => {
  const log = fileOf(
    [
      ['GET', '/v1/list?page=2'],
      ['POST', '/v1/list'],
      ['GET', '/health'],
      ['DELETE', '/v2'],
    ]
      .map(([method, path], at) => lineOf(at, 'ann', { method, path }))
      .join('\n'),
    'ndjson',
  )
  const policy = fileOf({
    limits: { hourly: { by: 'user', limit: 100, per: '1h' } },
    operations: { read: { category: 'reads' }, write: {} },
  })
  const operations = async (...options: readonly string[]): Promise<unknown> => {
    const { out } = await runCli(['simulate', policy, log, '--json', ...options])
    const { policies, unmetered, skipped } = JSON.parse(out) as Simulation
    const counts = policies[0]?.operations.map(({ operation, requests }) => `${operation} ${requests}`)
    return { counts, unmetered, skipped: skipped.reasons.map(({ reason, count }) => `${reason} ${count}`) }
  }

  it('a logged request is read or write by its method if the policy has these', async () => {
    expect(await operations()).toEqual({ counts: ['read 2', 'write 2'], unmetered: 0, skipped: [] })
  })

  it('the first matching route gives a logged request’s operation', async () => {
    const routes = ['GET /health = -', 'GET /v1/* = read', '* /v1/list = write']
    expect(await operations(...routes.flatMap((route) => ['--route', route]))).toEqual({
      ...{ counts: ['read 1', 'write 1'], unmetered: 1 },
      skipped: ['no_operation 1'],
    })
  })

  it('a file of routes gives a logged request’s operation', async () => {
    const map = fileOf({ routes: ['* * = write'] })
    expect(await operations('--map', map)).toMatchObject({ counts: ['write 4'] })
  })

  it.each([
    [['--route', 'GET'], /not a route: GET\n.*write it as/],
    [['--route', '* * = wriet'], /a route maps to "wriet", an operation that no policy has/],
    [['--map', fileOf({ rutes: [] })], /unknown "rutes"; known are/],
    [['--time-zone', 'Mars/Base'], /time-zone: expected a zone/],
    [['--refund-from', '99'], /refund-from: expected a status/],
    [['--format', 'xml'], /format: expected auto, ndjson, common/],
    [['--top', '0'], /Not a whole number above 0/],
    [['--against', '/nowhere'], /cannot read \/nowhere/],
    [['--html', '/nowhere/x.html'], /cannot write \/nowhere\/x.html/],
    [['--refusals', '/nowhere/x'], /cannot write \/nowhere\/x/],
  ])('an invalid %j is reported without a stack trace', async (options, message) => {
    const { code, out, err }: Ran = await runCli(['simulate', policy, log, ...options])
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(message)
    expect(err).not.toMatch(/\n\s+at /)
  })
})

describe('damaged log lines', () => {
  it('damaged lines are counted by reason and the first of each is shown', async () => {
    const lines = [
      ...FIVE,
      '{"time":"2026-08-06T12:00',
      '[]',
      '{"user":"ann"}',
      '{"time":"yesterday","user":"ann"}',
      '{"time":"2026-13-45T00:00:00Z","user":"ann"}',
      lineOf(1, ''),
      lineOf(1, '', { host: '' }),
      JSON.stringify({ time: START, user: { name: 'ann' } }),
      lineOf(1, 'ann', { operation: 'fly' }),
      lineOf(1, 'ann', { cost: 1.5 }),
      lineOf(1, 'ann', { cost: -1 }),
      lineOf(1, 'ann', { plan: 5 }),
      lineOf(1, 'y'.repeat(70_000)),
      '',
      '  \r',
      '\u001b[31mred',
    ]
    const simulation = await simulated(fileOf(lines.join('\n'), 'ndjson'))
    expect(simulation).toMatchObject({ lines: lines.length, requests: 5 })
    expect(refusedOf(simulation)).toBe(2)
    const reasons = simulation.skipped.reasons.map(({ reason, count }) => `${reason} ${count}`)
    expect(reasons.toSorted()).toEqual([
      'no_subject 2',
      'no_time 1',
      'not_an_object 1',
      'not_json 2',
      'too_long 1',
      'unknown_operation 1',
      'wrong_cost 2',
      'wrong_plan 1',
      'wrong_subject 1',
      'wrong_time 2',
    ])
    expect(simulation.skipped.count).toBe(14)
    const { out } = await runCli(['simulate', POLICY, fileOf(lines.join('\n'), 'ndjson')])
    expect(out).toContain('skipped 2 lines: not JSON, or half written (line 6, 21)')
    expect(out).not.toContain('\u001b')
  })

  it('damaged lines of a log in the other format are counted', async () => {
    const log = fileOf('10.0.0.1 - ann [06/Aug/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5\nhalf a li', 'log')
    expect(await simulated(log)).toMatchObject({ requests: 1, skipped: { reasons: [{ reason: 'not_common_log' }] } })
  })

  it('a file without a valid line is reported', async () => {
    for (const content of ['', '\n\n', Buffer.from([0, 255, 10, 254, 0, 0, 10]), '<html>\n</html>\n']) {
      const { code, out, err } = await runCli(['simulate', POLICY, fileOf(content, 'log')])
      expect([code, err]).toEqual([1, 'quota-cli: the log contains no requests\n'])
      expect(out).toContain('0 requests')
    }
  })

  it('reading ends at the maximum number of lines', async () => {
    const log = fileOf(FIVE.join('\n'), 'ndjson')
    expect(await simulated(log, '--max-lines', '4')).toMatchObject({ lines: 4, isCut: true })
    expect(await simulated(log, '--max-lines', '5')).toMatchObject({ lines: 5, isCut: false })
  })

  it('a truncated gzip file and a file that isn’t gzip are reported', async () => {
    const half = fileOf(gzipSync(FIVE.join('\n')).subarray(0, 40), 'gz')
    for (const file of [half, fileOf('plain text', 'gz')]) {
      const { code, err } = await runCli(['simulate', POLICY, file])
      expect(code).toBe(2)
      expect(err).toMatch(/is not a gzip file, or is truncated\n {2}gunzip as much/)
    }
  })
})

describe('times in logs', () => {
  it.each([
    ['2026-08-06T12:00:00Z', START],
    ['2026-08-06T12:00:00.123Z', START + 123],
    ['2026-08-06T20:00:00+08:00', START],
    ['2026-08-06 20:00:00 +0800', START],
    ['2026-08-06T08:00:00-0400', START],
    ['2026-08-06 20:00:00,5', START + 500],
    ['06/Aug/2026:12:00:00 +0000', START],
    ['06/Aug/2026:14:30:00 +0230', START],
    [START, START],
    [START / 1_000, START],
    [String(START / 1_000 + 0.25), START + 250],
    [START * 1_000, START],
    [`${START}000000`, START],
  ])('the time %s is read', async (time, at) => {
    const log = fileOf(JSON.stringify({ time, user: 'ann' }), 'ndjson')
    expect(await simulated(log, '--time-zone', 'Asia/Shanghai')).toMatchObject({ from: at })
  })

  it.each(['2026-08-06', '31/Feb/2026:12:00:00 +0000', '06/Aug/2026:25:00:00 +0000', -5, 1e300, true, {}, 'now'])(
    'the time %j is rejected',
    async (time) => {
      const log = fileOf(`${lineOf(0, 'ann')}\n${JSON.stringify({ time, user: 'ann' })}`, 'ndjson')
      expect(await simulated(log)).toMatchObject({ requests: 1, skipped: { reasons: [{ reason: 'wrong_time' }] } })
    },
  )
})

describe('long simulations', () => {
  it('a long simulation reports its progress and ends when interrupted', async () => {
    const log = fileOf(FIVE.join('\n'), 'ndjson')
    const { err } = await runCli(['simulate', POLICY, log, '--json'], { showsProgress: true })
    expect(err).toMatch(/reading 100 %.*replaying .* 0 %/s)
    const { out } = await runCli(['simulate', POLICY, log], { signal: AbortSignal.abort() })
    expect(out).toBe('')
  })
})
