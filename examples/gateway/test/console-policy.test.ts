import { DEFAULTS, PRICES } from 'example-console/limits'
import { describe, expect, it } from 'vitest'
import { policy } from '../src/quota/policy.ts'
import { ADMIN_TOKEN, testGateway } from './support/gateway.ts'

describe('what the console knows of the limits', () => {
  it('its default settings are the gateway’s', async () => {
    const { send } = await testGateway()
    const { status, body } = await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
    expect([status, body]).toEqual([200, expect.objectContaining({ version: 0, ...DEFAULTS })])
  })

  it('its default prices are the gateway’s', () => {
    const prices = Object.entries(PRICES).flatMap(([category, costs]) =>
      Object.entries(costs).map(([name, cost]) => [name, { category, cost }]),
    )
    expect(Object.fromEntries(prices)).toEqual(policy.operations)
  })
})
