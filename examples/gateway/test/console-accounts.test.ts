import { browserTests } from '@scoregw/browser'
import { describe, expect, it } from 'vitest'
import { openConsole, screenAndAccessibilityFaults, section, signedIn, signIn } from './support/console.ts'
import { ADMIN_TOKEN, testGateway } from './support/gateway.ts'

describe.runIf(browserTests)('accounts in the console', () => {
  it('the console disables, enables and deletes accounts after a confirmation', async () => {
    const gateway = await testGateway()
    const { send } = gateway
    const { token } = (await send('POST', '/admin/users/kay/tokens', { token: ADMIN_TOKEN, body: {} })).body
    const statusNow = async (): Promise<number> => (await send('GET', '/me/quota', { token })).status
    const { page, faults } = await signedIn(gateway, '#/users/kay')
    const account = section(page, 'Account')

    await account.getByRole('button', { name: 'Disable' }).click()
    const question = page.getByRole('dialog', { name: 'Disable kay?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    expect(await statusNow()).toBe(200)
    await account.getByRole('button', { name: 'Disable' }).click()
    await question.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('The gateway rejects this user’s credentials.').waitFor()
    expect(await statusNow()).toBe(403)
    expect(await screenAndAccessibilityFaults(page)).toEqual([])

    // The other form goes on from the new state.
    await section(page, 'Profile').getByLabel('Name').fill('Kay 2')
    await section(page, 'Profile').getByRole('button', { name: 'Save', exact: true }).click()
    const stored = async (): Promise<unknown> => (await send('GET', '/admin/users/kay', { token: ADMIN_TOKEN })).body
    await expect.poll(stored).toMatchObject({ name: 'Kay 2', disabled: true })

    await account.getByRole('button', { name: 'Enable' }).click()
    await page.getByRole('dialog', { name: 'Enable kay?' }).getByRole('button', { name: 'Enable' }).click()
    await page.getByText('The gateway accepts this user’s credentials.').waitFor()
    expect(await statusNow()).toBe(200)

    // Somebody else was faster: nothing is deleted unseen.
    await send('PUT', '/admin/users/kay', { token: ADMIN_TOKEN, body: { role: 'admin' } })
    await account.getByRole('button', { name: 'Delete' }).click()
    const deletion = page.getByRole('dialog', { name: 'Delete kay?' })
    await deletion.getByRole('button', { name: 'Delete permanently' }).click()
    await deletion.getByRole('alert').waitFor()
    expect(await statusNow()).toBe(200)
    await deletion.getByRole('button', { name: 'Cancel' }).click()
    await section(page, 'Ticket credits').getByLabel('Credits', { exact: true }).fill('5')
    await account.getByRole('button', { name: 'Delete' }).click()
    await deletion.getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
    await expect.poll(() => page.locator('table.users tbody tr').count()).toBe(2)
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
    const row = page.locator('table.users tbody tr').filter({ hasText: 'mo' })
    await expect.poll(() => row.locator('.tag').allTextContents()).toEqual(['Disabled'])
  })
})
