import { describe, expect, it, vi } from 'vitest'
import { memoryStore, QuotaError } from '../src/index.ts'
import type { SyncStore, TakeReply } from '../src/store.ts'
import { asyncStore, gateway } from './support.ts'

describe('engine events', () => {
  it('listeners receive decisions and settings until they are removed', async () => {
    const { quota } = gateway()
    const heard: string[] = []
    const stop = quota.on('admitted', ({ operation }) => heard.push(`admitted ${operation}`))
    quota.on('refused', ({ refusedBy }) => heard.push(`refused ${refusedBy.name}`))
    quota.on('settings', ({ version, mode }) => heard.push(`settings ${version} ${mode}`))
    quota.consumeSync({ subject: 'u', operation: 'write' })
    quota.consumeSync({ subject: 'u', operation: 'big' })
    quota.peekSync({ subject: 'u', operation: 'write' })
    await quota.settings.update({ mode: 'lenient' })
    stop()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(heard).toEqual(['admitted write', 'refused personal-write-1h', 'settings 1 lenient'])
  })

  it('the duration event comes before the other events of its decision', async () => {
    let at = 0
    const stopwatch = vi.fn(() => at)
    const inner = memoryStore()
    let take = (call: () => TakeReply): TakeReply => call()
    const store: SyncStore = {
      sync: true,
      open(schema) {
        const counters = inner.open(schema)
        return {
          take: (request) => take(() => counters.take(request)),
          read: (request) => counters.read(request),
          settle: (request) => counters.settle(request),
          reset: (request) => counters.reset(request),
        }
      },
    }
    const { quota } = gateway({ store, stopwatch, failurePolicy: { read: 'open' } })
    const heard: unknown[] = []
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(stopwatch).not.toHaveBeenCalled()

    const stop = quota.on('decided', (event) => heard.push(event))
    quota.on('admitted', () => heard.push('admitted'))
    quota.on('degraded', () => heard.push('degraded'))
    take = (call) => {
      at += 2.5
      return call()
    }
    quota.consumeSync({ subject: 'u', operation: 'write' })
    await quota.reserve({ subject: 'u', operation: 'big', id: 'x' })
    quota.consumeSync({ subject: 'u', operation: 'free' })
    quota.peekSync({ subject: 'u', operation: 'write' })
    take = () => {
      at += 150
      throw new Error('gone')
    }
    quota.consumeSync({ subject: 'u', operation: 'read' })
    expect(() => quota.consumeSync({ subject: 'u', operation: 'write' })).toThrow(QuotaError)
    const decided = { operation: 'write', durationMs: 2.5 }
    expect(heard).toEqual([
      { ...decided, outcome: 'admitted', allowed: true },
      'admitted',
      { ...decided, operation: 'big', outcome: 'refused', allowed: false },
      { operation: 'read', outcome: 'degraded', allowed: true, durationMs: 150 },
      'degraded',
      { operation: 'write', outcome: 'degraded', allowed: false, durationMs: 150 },
      'degraded',
    ])

    stop()
    stopwatch.mockClear()
    expect(() => quota.consumeSync({ subject: 'u', operation: 'write' })).toThrow(QuotaError)
    expect(stopwatch).not.toHaveBeenCalled()
  })

  it('a listener that is added while a decision is in flight gets no duration of that decision', async () => {
    const inner = gateway()
    let resolve = (): void => undefined
    const gate = new Promise<void>((settle) => {
      resolve = settle
    })
    const { quota } = gateway({ store: asyncStore(inner.store, () => gate) })
    const first = quota.consume({ subject: 'u', operation: 'write' })
    await Promise.resolve()
    const heard: unknown[] = []
    quota.on('decided', (event) => heard.push(event))
    resolve()
    await first
    expect(heard).toEqual([])
    await quota.consume({ subject: 'u', operation: 'write' })
    expect(heard).toHaveLength(1)
  })

  it('a listener that throws or rejects doesn’t undo the decision, and the logger gets the error', async () => {
    const errors: unknown[] = []
    const { quota } = gateway({ logger: { warn: () => undefined, error: (error) => errors.push(error) } })
    quota.on('admitted', () => {
      throw new Error('listener broke')
    })
    const rejects: () => unknown = () => Promise.reject(new Error('later'))
    quota.on('admitted', rejects)
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(true)
    await new Promise(setImmediate)
    expect(errors).toEqual([new Error('listener broke'), new Error('later')])
  })
})
