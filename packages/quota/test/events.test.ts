import { describe, expect, it } from 'vitest'
import { fixture, HOUR } from './support.ts'

describe('events', () => {
  it('tell of decisions and of settings, until they are told to stop', async () => {
    const { quota } = fixture()
    const heard: string[] = []
    const stop = quota.on('admitted', ({ operation }) => heard.push(`admitted ${operation}`))
    quota.on('refused', ({ binding }) => heard.push(`refused ${binding.window}`))
    quota.on('settings', ({ version, mode }) => heard.push(`settings ${version} ${mode}`))
    quota.consumeSync({ subject: 'u', operation: 'write' })
    quota.consumeSync({ subject: 'u', operation: 'big' })
    quota.peekSync({ subject: 'u', operation: 'write' })
    await quota.settings.update({ mode: 'lenient' })
    stop()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(heard).toEqual(['admitted write', 'refused 1h', 'settings 1 lenient'])
  })

  it('tell once for each opening of a window that it is near its limit', () => {
    const { quota, clock } = fixture()
    const near: string[] = []
    quota.on('nearLimit', ({ window: { layer, window, used } }) => near.push(`${layer} ${window} ${used}`))
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 47 })
    expect(near).toEqual([])
    const reservation = quota.reserveSync({ subject: 'u', operation: 'write', cost: 1 })
    expect(near).toEqual(['personal 1h 48'])
    reservation.cancel()
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 13 })
    expect(near).toHaveLength(1)
    clock.at += HOUR
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 60 })
    expect(near).toEqual(['personal 1h 48', 'personal 1h 60'])
  })

  it('never undo a decision when a listener throws', async () => {
    const { quota } = fixture()
    quota.on('admitted', () => {
      throw new Error('listener broke')
    })
    const uncaught = new Promise<unknown>((resolve) => {
      const others = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => {
        for (const listener of others) process.on('uncaughtException', listener)
        resolve(error)
      })
    })
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(true)
    await expect(uncaught).resolves.toMatchObject({ message: 'listener broke' })
  })
})
