import { createQuota, defaultPolicy } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'
import { expect, test, vi } from 'vitest'

test('a body that its reader cancels is settled, also where no signal tells of it', async () => {
  const quota = createQuota({ policy: defaultPolicy() })
  const metered = quotaFetch({ quota, subject: () => 'u1', settle: 'end' })
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array([1])) })
  const handler = metered.operation('write')(() => new Response(endless))
  const response = await handler(new Request('http://localhost/', { method: 'POST' }))
  expect(await quota.holds.list('u1')).toHaveLength(1)
  await response.body?.cancel()
  await vi.waitFor(async () => expect(await quota.holds.list('u1')).toEqual([]))
  expect((await quota.status('u1')).windows.write?.[0]?.used).toBe(1)
})
