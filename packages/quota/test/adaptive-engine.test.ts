import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  adaptiveTicker,
  type FactorState,
  type FactorStore,
  initialFactor,
  type MemoryFactor,
  memoryFactor,
  memoryOutcomes,
  outcomeRecorder,
  type VersionedFactor,
} from '../src/adaptive.ts'
import { memorySettings } from '../src/index.ts'
import { MAX_LIMIT } from '../src/internal.ts'
import { flatLimits, type GatewayEngine, gateway, type SyncGatewayOptions, testClock } from './support.ts'

/** Writes a factor, as a tick would. */
function move(store: MemoryFactor, factorHundredths: number): void {
  const { version, minute } = store.read() ?? { version: 0, minute: 0 }
  const state: FactorState = { ...initialFactor(), factorHundredths }
  expect(store.compareAndSet(version, minute + 1, state)).toBe(true)
}

async function adaptive(options: Partial<SyncGatewayOptions> = {}): Promise<GatewayEngine & { factor: MemoryFactor }> {
  const factor = memoryFactor()
  const made = gateway({ adaptive: { factor }, ...options })
  await made.quota.settings.update({ mode: 'adaptive' })
  return { ...made, factor }
}

function limits({ quota }: GatewayEngine, subject = 'u'): (number | string)[] {
  const ofWrites = Object.values(quota.statusSync(subject).limits).filter(({ name }) => name.includes('-write-'))
  return ofWrites.map(({ limit }) => limit)
}

/** A factor store that answers later, as a test lets it. */
function laterFactor() {
  const inner = memoryFactor()
  const asked: ((answer: VersionedFactor | undefined | Error) => void)[] = []
  const store: FactorStore = {
    ...inner,
    sync: false,
    read: () =>
      new Promise((resolve, reject) => {
        asked.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)))
      }),
  }
  return { inner, asked, store }
}

describe('adaptive mode', () => {
  it('adaptive mode requires a factor store', async () => {
    await expect(gateway().quota.settings.update({ mode: 'adaptive' })).rejects.toMatchObject({
      faults: [{ path: 'mode', message: 'not available: this engine has no adaptive factor' }],
    })
    expect(() => gateway({ adaptive: {} as never })).toThrowError(/adaptive.factor: missing; expected a factor store/)
  })

  it('adaptive limits start at factor 1 and follow each change immediately in every layer', async () => {
    const engine = await adaptive()
    expect(limits(engine)).toEqual([60, 200, 600, 1500, 5000, 18000])
    move(engine.factor, 85)
    expect(limits(engine)).toEqual([51, 170, 510, 1275, 4250, 15300])
    move(engine.factor, 150)
    expect(limits(engine)).toEqual([90, 300, 900, 2250, 7500, 27000])
  })

  it('an engine starts with the stored factor', async () => {
    const factor = memoryFactor()
    move(factor, 75)
    expect(limits(await adaptive({ adaptive: { factor } }))[0]).toBe(45)
  })

  it('an engine ignores a stored factor of another version', async () => {
    const factor = memoryFactor()
    factor.compareAndSet(0, 1, { ...initialFactor(), factorHundredths: 75, format: 2 } as unknown as FactorState)
    expect(limits(await adaptive({ adaptive: { factor } }))[0]).toBe(60)
  })

  it('decisions use the limits that the factor scales', async () => {
    const engine = await adaptive()
    move(engine.factor, 75)
    expect(engine.quota.consumeSync({ subject: 'u', operation: 'write', cost: 46 }).allowed).toBe(false)
    move(engine.factor, 80)
    expect(engine.quota.consumeSync({ subject: 'u', operation: 'write', cost: 46 }).allowed).toBe(true)
  })

  it('the factor and a layer multiplier multiply without rounding errors', async () => {
    const engine = await adaptive()
    const anyBase = fc.integer({ min: 0, max: MAX_LIMIT })
    const [anyFactor, anyMultiplier] = [fc.integer({ min: 75, max: 150 }), fc.integer({ min: 25, max: 400 })]
    await fc.assert(
      fc.asyncProperty(anyBase, anyFactor, anyMultiplier, async (base, factor, multiplier) => {
        const shared = { site: { multiplier: multiplier / 100 } }
        await engine.quota.settings.update({ limits: flatLimits(base, base), shared })
        move(engine.factor, factor)
        const exact = (by: number): number => {
          const limit = Number((BigInt(base) * BigInt(factor) * BigInt(by)) / 10_000n)
          return base > 0 ? Math.max(1, limit) : 0
        }
        expect(limits(engine)).toEqual([100, 100, 100, multiplier, multiplier, multiplier].map(exact))
      }),
      { numRuns: 50 },
    )
  })

  it('the factor scales the limits of a subject except its overrides', async () => {
    const engine = await adaptive()
    await engine.quota.subjects.set('u', { limits: { 'personal-write-5h': 7 }, bypass: { site: true } })
    expect(limits(engine)).toEqual([60, 7, 600])
    move(engine.factor, 75)
    expect(limits(engine)).toEqual([45, 7, 450])
  })

  it('other modes ignore the factor, and its latest value applies when adaptive mode returns', async () => {
    const engine = await adaptive()
    for (const mode of ['conservative', 'normal', 'lenient', 'custom'] as const) {
      await engine.quota.settings.update({ mode, custom: flatLimits(9, 9) })
      const before = limits(engine)
      move(engine.factor, mode === 'normal' ? 130 : 120)
      expect(limits(engine)).toEqual(before)
    }
    await engine.quota.settings.update({ mode: 'adaptive' })
    expect(limits(engine)[0]).toBe(72)
  })

  it('a moved factor keeps the settings version, so an administrator’s conditional update succeeds', async () => {
    const engine = await adaptive()
    const { version } = await engine.quota.settings.get()
    const onSettings = vi.fn()
    engine.quota.on('settings', onSettings)
    move(engine.factor, 90)
    expect(engine.quota.statusSync('u').settingsVersion).toBe(version)
    expect(onSettings).not.toHaveBeenCalled()
    const { settings } = await engine.quota.settings.update({ prices: { write: 7 } }, { ifVersion: version })
    expect(settings.version).toBe(version + 1)
    expect(limits(engine)[0]).toBe(54)
  })

  it('the engine warns about operations whose price is above a limit at the lowest factor', async () => {
    const { quota } = await adaptive()
    const { warnings } = await quota.settings.update({ limits: { 'personal-write-1h': 19 } })
    expect(warnings.map(({ message }) => message)).toEqual([
      'the effective limit of 14 tokens at factor 0.75 is below the price of write, big',
    ])
  })
})

describe('engines that share a factor', () => {
  it('every engine on a factor store follows its changes until it is closed', async () => {
    const [factor, settingsStore] = [memoryFactor(), memorySettings()]
    const close = vi.fn()
    const shared = { settingsStore, adaptive: { factor: { ...factor, close } } }
    const [one, other] = [await adaptive(shared), await adaptive(shared)]
    move(factor, 90)
    expect([limits(one)[0], limits(other)[0]]).toEqual([54, 54])
    await one.quota.close()
    expect(close).toHaveBeenCalledTimes(1)
    const read = vi.spyOn(shared.adaptive.factor, 'read')
    move(factor, 80)
    expect(limits(other)[0]).toBe(48)
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('the ticker lowers the factor of every engine when the service’s outcomes get worse', async () => {
    const clock = testClock()
    const outcomes = memoryOutcomes()
    const engine = await adaptive({ clock })
    const ticker = adaptiveTicker({ outcomes, factorStore: engine.factor, clock, settings: engine.quota.settings })
    const recorder = outcomeRecorder({ store: outcomes, clock })
    for (let call = 0; call < 1_000; call++) recorder.record({ httpStatus: call % 10 === 0 ? 502 : 200 })
    await recorder.close()
    clock.at += 60_000
    await ticker.tick()
    expect(limits(engine)[0]).toBe(54)
    await engine.quota.settings.update({ mode: 'normal' })
    clock.at += 300_000
    expect(await ticker.tick()).toEqual({ status: 'idle' })
    expect(engine.factor.read()?.version).toBe(1)
  })
})

describe('an asynchronous factor store', () => {
  const at = (version: number, factorHundredths: number): VersionedFactor => ({
    version,
    minute: version,
    state: { ...initialFactor(), factorHundredths },
  })

  it('decisions use factor 1 until the first read ends, and ready() waits for that read', async () => {
    const { asked, store } = laterFactor()
    const engine = await adaptive({ adaptive: { factor: store } })
    expect(limits(engine)[0]).toBe(60)
    let ready = false
    const waiting = engine.quota.ready().then(() => {
      ready = true
    })
    await new Promise(setImmediate)
    expect(ready).toBe(false)
    asked[0]!(at(1, 80))
    await waiting
    expect(limits(engine)[0]).toBe(48)
  })

  it('a change during a read makes the engine read the factor again', async () => {
    const { inner, asked, store } = laterFactor()
    const engine = await adaptive({ adaptive: { factor: store } })
    move(inner, 90)
    move(inner, 80)
    expect(asked).toHaveLength(1)
    asked[0]!(undefined)
    await new Promise(setImmediate)
    asked[1]!(at(2, 80))
    await engine.quota.ready()
    expect(limits(engine)[0]).toBe(48)
    expect(asked).toHaveLength(2)
  })

  it('the last factor stays in force when a read fails, until the next change is read', async () => {
    const { inner, asked, store } = laterFactor()
    const engine = await adaptive({ adaptive: { factor: store } })
    asked[0]!(at(1, 80))
    await engine.quota.ready()
    for (const [read, after] of [
      [new Error('gone'), 48],
      [at(3, 90), 54],
    ] as const) {
      move(inner, 100)
      asked.at(-1)!(read)
      await engine.quota.ready()
      expect(limits(engine)[0]).toBe(after)
    }
    expect(asked).toHaveLength(3)
  })

  it('a factor store that throws synchronously causes no engine error', async () => {
    const inner = memoryFactor()
    const read = vi.fn<() => VersionedFactor | undefined>().mockImplementationOnce(() => {
      throw new Error('gone')
    })
    const engine = await adaptive({ adaptive: { factor: { ...inner, read: () => read() ?? inner.read() } } })
    expect(limits(engine)[0]).toBe(60)
    move(inner, 80)
    expect(limits(engine)[0]).toBe(48)
  })

  it.each([74, 151, 99.5, Number.NaN, '100'])('the engine ignores a stored factor of %s', async (wrong) => {
    const engine = await adaptive()
    move(engine.factor, 90)
    move(engine.factor, wrong as number)
    expect(limits(engine)[0]).toBe(54)
  })
})
