import { browserTests } from '@scoregw/browser'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import {
  confirmedSave,
  openConsole,
  save,
  screenAndAccessibilityFaults,
  section,
  signedIn,
  signIn,
} from './support/console.ts'
import { ADMIN_TOKEN, testGateway } from './support/gateway.ts'

describe.runIf(browserTests && slowTests)('accounts in the console', () => {
  it('the console disables, enables and deletes accounts after a confirmation', async () => {
    const gateway = await testGateway()
    const { send } = gateway
    const { token } = (await send('POST', '/admin/users/kay/tokens', { token: ADMIN_TOKEN, body: {} })).body
    const statusNow = async (): Promise<number> => (await send('GET', '/me/quota', { token })).status
    const { page, faults } = await signedIn(gateway, '#/users/kay')
    const profile = section(page, 'Profile')
    const disabled = profile.getByRole('switch', { name: 'Disabled' })

    await disabled.check()
    await profile.getByRole('button', { name: 'Save', exact: true }).click()
    const question = page.getByRole('dialog', { name: 'Save these changes?' })
    await question.getByText('the gateway rejects this user’s tokens and JWTs from the next request on').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await statusNow()).toBe(200)
    await confirmedSave(page, profile)
    expect(await statusNow()).toBe(403)
    await expect.poll(() => page.locator('main > p .tag').textContent()).toBe('Disabled')
    expect(await screenAndAccessibilityFaults(page)).toEqual([])

    // To enable somebody is harmless.
    await disabled.uncheck()
    await save(profile)
    expect(await statusNow()).toBe(200)

    // Somebody else was faster: nothing is deleted unseen.
    await send('PUT', '/admin/users/kay', { token: ADMIN_TOKEN, body: { role: 'admin' } })
    const remove = page.getByRole('button', { name: 'Delete this user' })
    await remove.click()
    const deletion = page.getByRole('dialog', { name: 'Delete kay?' })
    await deletion.getByRole('button', { name: 'Delete permanently' }).click()
    await deletion.getByRole('alert').waitFor()
    expect(await statusNow()).toBe(200)
    await deletion.getByRole('button', { name: 'Cancel' }).click()
    await section(page, 'Ticket credits').getByLabel('Balance').fill('5')
    await remove.click()
    await deletion.getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(2)
    // What was typed into the forms of a user who is no more is not unsaved.
    await expect.poll(() => page.getByText('Unsaved changes:').count()).toBe(0)
    expect(await statusNow()).toBe(401)
    expect(faults).toEqual([])
  })

  it('a disabled account can’t sign in and is marked in the list', async () => {
    const gateway = await testGateway()
    const { send } = gateway
    await send('PUT', '/admin/users/mo', { token: ADMIN_TOKEN, body: { role: 'admin', disabled: true } })
    const { token } = (await send('POST', '/admin/users/mo/tokens', { token: ADMIN_TOKEN, body: {} })).body
    const { page } = await openConsole(gateway)
    await signIn(page, token)
    await page.getByRole('alert').getByText('its user is disabled').waitFor()
    await signIn(page)
    await page.locator('nav.pages').waitFor()
    await page.evaluate("location.hash = '#/users'")
    const row = page.locator('main tbody tr').filter({ hasText: 'mo' })
    await expect.poll(() => row.locator('.tag').allTextContents()).toEqual(['Administrator', 'Disabled'])
  })
})
