import { manualClock } from '@scoregw/quota-testkit'
import Database from 'libsql'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sharedCheck } from '../src/health/health.ts'
import { START, testGateway } from './support/gateway.ts'

describe('/readyz', () => {
  it('/readyz writes to the database once a second, for all requests and services together', async () => {
    const { gateway, clock } = await testGateway()
    const prepare = vi.spyOn(Database.prototype, 'prepare')
    onTestFinished(() => prepare.mockRestore())
    const writes = (): number => prepare.mock.calls.filter(([text]) => text.includes('room_on_disk (probe')).length
    const { gateway: own, sync, charts } = gateway.ports
    const services = [own, sync, charts].map((port) => `http://127.0.0.1:${port}/readyz`)
    const ask = async (): Promise<void> => {
      const answers = await Promise.all([...services, ...services, ...services].map((url) => fetch(url)))
      expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(200))
    }
    await ask()
    await ask()
    expect(writes()).toBe(1)
    clock.advance(999)
    await ask()
    expect(writes()).toBe(1)
    clock.advance(1)
    await ask()
    expect(writes()).toBe(2)
    // A clock that steps back.
    clock.set(START - 60_000)
    await ask()
    expect(writes()).toBe(3)
  })
})

describe('shared checks', () => {
  /** A check whose calls end when the test lets them, and how often it was called. */
  function checkOf(isRemembered: boolean) {
    const clock = manualClock(START)
    const calls: { resolve(): void; reject(reason: Error): void }[] = []
    const begin = (): Promise<void> => new Promise((resolve, reject) => calls.push({ resolve, reject }))
    return { clock, calls, check: sharedCheck({ name: 'a store', check: begin }, clock, isRemembered).check }
  }

  it.each([true, false])('concurrent callers share one check and its failure (remembered: %s)', async (remembered) => {
    const { calls, check } = checkOf(remembered)
    const asked = Promise.allSettled([check(), check(), check()])
    calls[0]?.reject(new Error('away'))
    expect((await asked).map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
    expect(calls).toHaveLength(1)
  })

  it('a check runs again immediately, or after a second if it is remembered', async () => {
    for (const [remembered, times] of [
      [false, 2],
      [true, 1],
    ] as const) {
      const { calls, check, clock } = checkOf(remembered)
      for (const _ of [1, 2]) {
        const asked = check()
        calls.at(-1)?.resolve()
        await asked
      }
      expect(calls).toHaveLength(times)
      clock.advance(1_000)
      void check()
      expect(calls).toHaveLength(times + 1)
    }
  })

  it('a caller after a second doesn’t wait for the earlier check', () => {
    const { calls, check, clock } = checkOf(true)
    void check()
    clock.advance(1_000)
    void check()
    expect(calls).toHaveLength(2)
  })
})
