import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { quotaFetch } from '@scoregw/quota-fetch'
import { openTimers } from '@scoregw/server-kit'
import { afterEach, describe, expect, test, vi } from 'vitest'

test('a body that its reader cancels is settled, even without an abort signal', async () => {
  const quota = createQuota({ policy: scoreGatewayPolicy() })
  const metered = quotaFetch({ quota, subject: () => 'u1', settle: 'end' })
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array([1])) })
  const handler = metered.operation('write')(() => new Response(endless))
  const response = await handler(new Request('http://localhost/', { method: 'POST' }))
  expect(await quota.holds.list('u1')).toHaveLength(1)
  await response.body?.cancel()
  await vi.waitFor(async () => expect(await quota.holds.list('u1')).toEqual([]), { timeout: 15_000 })
  expect((await quota.status('u1')).limits['personal-write-1h']?.used).toBe(1)
})

test.each(['outcome', 'end', 'failures'] as const)(
  'a handler that returns nothing, as after an upgrade on Bun, is settled as a success by settle: %s',
  async (settle) => {
    const errors: unknown[] = []
    const quota = createQuota({ policy: scoreGatewayPolicy() })
    const logger = { warn: () => undefined, error: (error: unknown) => void errors.push(error) }
    const metered = quotaFetch({ quota, subject: () => 'u1', settle, logger })
    const handler = metered.operation('write')(() => undefined as unknown as Response)
    expect(await handler(new Request('http://localhost/', { method: 'POST' }))).toBeUndefined()
    expect(errors).toEqual([])
    expect(await quota.holds.list('u1')).toEqual([])
    expect((await quota.status('u1')).limits['personal-write-1h']?.used).toBe(settle === 'failures' ? 0 : 1)
    await quota.close()
  },
)

describe('unread bodies', () => {
  afterEach(() => void vi.useRealTimers())

  async function responding(chunks: number) {
    // The engine's clock goes on with the timers, so that a hold that is not kept alive would end.
    vi.useFakeTimers()
    const timers = openTimers(['reservations/handle.ts', 'http/metered-request.ts', 'http/watched-stream.ts'])
    const quota = createQuota({ policy: scoreGatewayPolicy() })
    const metered = quotaFetch({ quota, subject: () => 'u1', settle: 'end' })
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        if (sent++ < chunks) controller.enqueue(new Uint8Array([1]))
        else controller.close()
      },
    })
    const handler = metered.operation('write')(() => new Response(body))
    const response = await handler(new Request('http://localhost/', { method: 'POST' }))
    const seen = async () => [
      (await quota.holds.list('u1')).length,
      (await quota.status('u1')).limits['personal-write-1h']?.used ?? 0,
      timers(),
    ]
    return { response, seen }
  }

  test('an unread body keeps its hold for ten minutes and is then charged', async () => {
    const { seen } = await responding(3)
    await vi.advanceTimersByTimeAsync(599_000)
    expect(await seen()).toEqual([1, 1, 2])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await seen()).toEqual([0, 1, 0])
  })

  test('a slowly read body keeps its hold, with ten minutes for each chunk', async () => {
    const { response, seen } = await responding(3)
    const reader = response.body!.getReader()
    for (let chunk = 0; chunk < 3; chunk++) {
      await vi.advanceTimersByTimeAsync(599_000)
      expect((await reader.read()).done).toBe(false)
      expect(await seen()).toEqual([1, 1, 2])
    }
    expect((await reader.read()).done).toBe(true)
    expect(await seen()).toEqual([0, 1, 0])
  })
})
