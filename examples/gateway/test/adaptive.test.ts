import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { adaptive, lately, MINUTE_MS, outcomesIn, setMode, tick } from './support/adaptive.ts'
import { START, type TestGateway, tempDir, testGateway } from './support/gateway.ts'

const readLimit = async ({ send }: TestGateway): Promise<number> =>
  (await send('GET', '/me/quota')).body.windows.read[0].limit

describe('adaptive mode', () => {
  it('adaptive mode lowers limits when requests fail, gives the reason, and raises them later, in every process', async () => {
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
    expect(lowered.lastTick).toMatchObject({ code: 'errors_high', counts: { calls: 600, errors: 300 } })
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

  it('the factor doesn’t move in any other mode', async () => {
    const gateway = await testGateway()
    await (await outcomesIn(gateway.dataDir)).add(lately(START, 20))
    await tick(gateway)
    expect(await adaptive(gateway)).toMatchObject({ mode: 'normal', isActive: false, factor: 1, version: 0 })
    expect(await readLimit(gateway)).toBe(120)
  })

  it('the factor ignores refusals and requests without a reachable quota store', async () => {
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
    expect((await adaptive(gateway)).preview).toMatchObject({ code: 'little_traffic', counts: { calls: 0, errors: 0 } })
  })

  it('the factor survives a restart', async () => {
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
