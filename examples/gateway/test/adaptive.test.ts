import type { MinuteOutcomes } from '@scoregw/quota/adaptive'
import { type SqlOutcomes, sqlOutcomes } from '@scoregw/quota-sql'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { COUNTERS } from '../src/db/migrations/0010-counters.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { adaptiveDemo } from '../src/demo/adaptive-demo.ts'
import { ADMIN_TOKEN, START, type TestGateway, tempDir, testGateway } from './support/gateway.ts'
import { closedInTheEnd } from './support/test-database.ts'

const MINUTE_MS = 60_000

/** 20 calls in each of the last minutes, so many of which failed. */
function lately(clockMs: number, failed: number, minutes = 30): MinuteOutcomes[] {
  const now = Math.floor(clockMs / MINUTE_MS)
  return Array.from({ length: minutes }, (_each, index) => ({
    minute: now - minutes + index,
    calls: 20,
    codeZero: failed,
    clientError: 0,
    serverError: 0,
    businessFail: 0,
    refused: 0,
    quotaUnavailable: 0,
  }))
}

async function run({ gateway }: TestGateway, what: string): Promise<void> {
  const chore = gateway.app.chores.find((each) => each.what === what)
  if (chore === undefined) throw new Error(`no chore ${what}`)
  await chore.run()
}

async function tick(gateway: TestGateway): Promise<void> {
  await run(gateway, 'moving the adaptive factor')
}

/** As another process adds to them. */
async function outcomesIn(dataDir: string): Promise<SqlOutcomes> {
  return sqlOutcomes({ db: await closedInTheEnd(openSqlite(dataDir)), prefix: COUNTERS })
}

async function setMode({ send }: TestGateway, mode: string): Promise<void> {
  const { body, headers } = await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
  const { version: _, ...document } = body
  const options = {
    token: ADMIN_TOKEN,
    headers: { 'If-Match': headers.get('ETag') ?? '' },
    body: { ...document, mode },
  }
  expect((await send('PUT', '/admin/quota/settings', options)).status).toBe(200)
}

/** What the tests look at one by one. */
interface Shown {
  readonly factor: number
  readonly lastTick: { readonly msg: string }
  readonly preview: object
  readonly history: readonly object[]
}

async function adaptive({ send }: TestGateway): Promise<Shown> {
  const { body } = await send('GET', '/admin/quota/adaptive', { token: ADMIN_TOKEN })
  return body as Shown
}

const readLimit = async ({ send }: TestGateway): Promise<number> =>
  (await send('GET', '/me/quota')).body.windows.read[0].limit

describe('mode adaptive', () => {
  it('lowers limits when requests fail, says why, and raises them again; other processes follow', async () => {
    const dataDir = tempDir()
    const clock = manualClock(START)
    const first = await testGateway({ dataDir, clock })
    const second = await testGateway({ dataDir, clock })
    const outcomes = await outcomesIn(dataDir)
    await setMode(first, 'adaptive')
    expect(await adaptive(first)).toMatchObject({
      mode: 'adaptive',
      isActive: true,
      factor: 1,
      version: 0,
      lastTick: null,
      history: [],
    })

    await outcomes.add(lately(clock.now(), 10))
    expect((await adaptive(first)).preview).toMatchObject({ code: 'errors_high', from: 1, to: 0.9 })
    await tick(first)
    const lowered = await adaptive(first)
    expect(lowered).toMatchObject({ factor: 0.9, version: 1, history: [{ code: 'errors_high', from: 1, to: 0.9 }] })
    expect(lowered.lastTick.msg).toMatch(
      /^Lowered from 1\.00 to 0\.90: errors are surely above the high rate\. 300 of 600 requests failed in the last 30 minutes/,
    )
    await expect.poll(() => readLimit(first)).toBe(108)
    await expect.poll(() => readLimit(second)).toBe(108)
    // The other process ticks the same minute: it was moved already.
    await tick(second)
    expect(await adaptive(second)).toMatchObject({ factor: 0.9, version: 1 })

    clock.advance(36 * MINUTE_MS)
    await outcomes.add(lately(clock.now(), 0, 36))
    await tick(second)
    const raised = await adaptive(first)
    expect(raised.factor).toBe(0.95)
    expect(raised.history[0]).toMatchObject({ code: 'errors_low', from: 0.9, to: 0.95 })
    await expect.poll(() => readLimit(first)).toBe(114)
  })

  it('leaves the factor where it is in any other mode', async () => {
    const gateway = await testGateway()
    await (await outcomesIn(gateway.dataDir)).add(lately(START, 20))
    await tick(gateway)
    expect(await adaptive(gateway)).toMatchObject({ mode: 'normal', isActive: false, factor: 1, version: 0 })
    expect(await readLimit(gateway)).toBe(120)
  })

  it('does not learn from refusals and from a quota that cannot be asked', async () => {
    const gateway = await testGateway()
    await setMode(gateway, 'adaptive')
    const minutes = lately(START, 0).map((each) => ({
      ...each,
      calls: 40,
      clientError: 20,
      refused: 20,
      serverError: 20,
      quotaUnavailable: 20,
    }))
    await (await outcomesIn(gateway.dataDir)).add(minutes)
    expect((await adaptive(gateway)).preview).toMatchObject({ code: 'quiet', counts: { calls: 0, errors: 0 } })
  })

  it('keeps the factor over a restart', async () => {
    const first = await testGateway()
    const { dataDir, clock } = first
    await setMode(first, 'adaptive')
    await (await outcomesIn(dataDir)).add(lately(START, 20))
    await tick(first)
    await first.stop()
    const second = await testGateway({ dataDir, clock })
    await expect.poll(() => readLimit(second)).toBe(108)
  })
})

describe('the demonstration', () => {
  it.runIf(process.env.QUOTA_TEST_DEEP === '1')('reports each move and its reason', { timeout: 300_000 }, async () => {
    const lines: string[] = []
    await adaptiveDemo((line) => lines.push(line))
    const factors = lines.flatMap((line) => /factor (\d\.\d\d)/.exec(line)?.[1] ?? [])
    expect(Math.min(...factors.map(Number))).toBe(0.75)
    expect(factors.at(-1)).toBe('1.00')
    expect(lines.filter((line) => line.includes('Lowered'))).toHaveLength(3)
    expect(lines.at(-1)).toMatch(/^08:30 {2}\d+ of \d+ requests$/)
  })
})
