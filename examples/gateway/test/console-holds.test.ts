import { browserTests } from '@scoregw/browser'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { goTo, screenAndAccessibilityFaults, section, signedIn } from './support/console.ts'
import { ADMIN_TOKEN, ENTRY, testGateway } from './support/gateway.ts'

describe.runIf(browserTests && slowTests)('holds in the console', () => {
  it('a user’s page shows an open hold and releases it', async () => {
    const gateway = await testGateway()
    const { send } = gateway
    const { page, faults } = await signedIn(gateway, '#/users/demo')
    const holds = section(page, 'Open holds')
    await section(page, 'Current usage').getByRole('meter').first().waitFor()
    await expect.poll(() => holds.count()).toBe(0)
    // An upload in parts holds its price until it is sent.
    const { sessionId } = (await send('POST', '/v1/upsert/session', { body: {} })).body.businessData
    const part = { body: { sessionId, musicList: [ENTRY] } }
    expect((await send('POST', '/v1/music/upsert', part)).status).toBe(200)
    await goTo(page, '#/users')
    await goTo(page, '#/users/demo')
    await holds.getByText('music.upsert: 15 tokens').waitFor()
    await section(page, 'Current usage').getByText('including 15 held').first().waitFor()
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    await holds.getByRole('button', { name: 'Release the hold for music.upsert' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Release', exact: true }).click()
    await expect.poll(() => holds.count()).toBe(0)
    const { body } = await send('GET', '/admin/users/demo/quota/holds', { token: ADMIN_TOKEN })
    expect(body).toEqual({ items: [] })
    expect(faults).toEqual([])
  })
})
