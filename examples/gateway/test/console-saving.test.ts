import { browserTests, type Page } from '@scoregw/browser'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import {
  changeSettings,
  changesIn,
  field,
  goTo,
  screenAndAccessibilityFaults,
  section,
  settled,
  signedIn,
} from './support/console.ts'
import { ADMIN_TOKEN, ENTRY, type TestGateway, testGateway } from './support/gateway.ts'

const PHONE = { width: 390, height: 844 }
/** As long as an id may be, of letters that are as wide as can be. */
const LONG = 'W'.repeat(128)

describe.runIf(browserTests && slowTests)('saving in the console, by keyboard', () => {
  it('a limit of 0 for everyone is saved only after a summary of every change, which says that it blocks', async () => {
    const gateway = await testGateway()
    const { page, faults } = await signedIn(gateway)
    await type(page, 'Base value: Personal, write, 1 hour', '0')
    await type(page, 'Base value: Personal, read, 1 hour', '240')
    await type(page, 'Price of user.music', '7')
    const changes = [
      'Base value: Personal, read, 1 hour: 120 → 240',
      'Base value: Personal, write, 1 hour: 60 → 0: blocks everybody',
      'Price of user.music: default → 7',
    ]
    await expect.poll(() => changesIn(page)).toEqual(changes)
    await page.keyboard.press('Enter')
    const question = page.getByRole('dialog', { name: 'Save these changes?' })
    await expect.poll(() => question.locator('li').allTextContents()).toEqual(changes)
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    expect((await settingsOf(gateway)).version).toBe(0)
    await expect.poll(() => field(page, 'Base value: Personal, write, 1 hour').inputValue()).toBe('0')

    await field(page, 'Base value: Personal, write, 1 hour').press('Enter')
    await question.waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect((await settingsOf(gateway)).base.personal.write['1h']).toBe(0)
    // What is 0 already is no news.
    await type(page, 'Base value: Personal, read, 1 hour', '250')
    await expect.poll(() => changesIn(page)).toEqual(['Base value: Personal, read, 1 hour: 240 → 250'])
    await page.keyboard.press('Enter')
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect((await settingsOf(gateway)).base.personal.read['1h']).toBe(250)
    expect(faults).toEqual([])
  })

  it('a mode or a switch that makes a limit 0 blocks as well, and is said so', async () => {
    const gateway = await testGateway()
    const { base } = await settingsOf(gateway)
    const custom = structuredClone(base)
    custom.personal.write['5h'] = 0
    custom.site.read['1d'] = 0
    await changeSettings(gateway, { custom, site: { enabled: false, multiplier: 1 } })
    const { page } = await signedIn(gateway)
    await page.locator('input[name=mode]:checked').focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => page.locator('input[name=mode]:checked').inputValue()).toBe('custom')
    await page.getByRole('switch', { name: 'Site-wide limits apply' }).press('Space')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => page.getByRole('dialog').locator('li').allTextContents())
      .toEqual([
        'Mode: Normal → Custom',
        'Site-wide limits apply: off → ✓',
        'Personal, write, 5 hours: 200 → 0: blocks everybody',
        'Site-wide, read, 1 day: – → 0: blocks everybody',
      ])
  })

  it('saving doesn’t scroll, its result is in view, and it’s gone on other pages', async () => {
    const gateway = await testGateway()
    const { page } = await signedIn(gateway, '#/settings', { viewport: PHONE })
    await type(page, 'Base value: Personal, write, 5 hours', '201')
    await page.getByRole('button', { name: 'Save', exact: true }).focus()
    const before = await page.evaluate<number>('scrollY')
    await page.keyboard.press('Enter')
    const saved = page.getByText('Saved.', { exact: true })
    await saved.waitFor()
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Saved.')
    expect(await page.evaluate('scrollY')).toBe(before)
    const box = await saved.boundingBox()
    expect(box !== null && box.y >= 0 && box.y + box.height <= PHONE.height).toBe(true)
    await goTo(page, '#/users/demo')
    await expect.poll(() => saved.count()).toBe(0)
    await goTo(page, '#/settings')
    await expect.poll(() => saved.count()).toBe(0)
  })

  it('a user’s form shows the default and the stored number beside what is typed', async () => {
    const gateway = await testGateway()
    await changeSettings(gateway, { mode: 'lenient' })
    const body = { overrides: { write: { '1h': 200 } } }
    await gateway.send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body })
    const { page } = await signedIn(gateway, '#/users/demo')
    const limits = section(page, 'This user’s limits')
    const beside = (name: string): Promise<string | null> =>
      limits.locator('.value', { has: field(page, name) }).textContent()
    await expect.poll(() => beside('Read, 1 hour')).toBe('default 180')
    await expect.poll(() => beside('Write, 1 hour')).toBe('default 90')
    await type(page, 'Read, 1 hour', '5')
    await type(page, 'Write, 1 hour', '300')
    await expect.poll(() => beside('Read, 1 hour')).toBe('default 180')
    await expect.poll(() => beside('Write, 1 hour')).toBe('was 200 · default 90')
    await expect.poll(() => field(page, 'Write, 1 hour').getAttribute('aria-describedby')).not.toBeNull()
    await page.setViewportSize(PHONE)
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
  })

  it('a long id fits a phone, on every page and in every dialog', async () => {
    const gateway = await testGateway()
    const { send } = gateway
    await send('PUT', `/admin/users/${LONG}`, { token: ADMIN_TOKEN, body: { name: LONG.slice(64) } })
    const issue = { token: ADMIN_TOKEN, body: { label: LONG.slice(64) } }
    const { token } = (await send('POST', `/admin/users/${LONG}/tokens`, issue)).body
    for (let each = 0; each < 5; each++) await send('POST', '/v1/music/upsert', { token, body: { musicList: [ENTRY] } })
    const { page, faults } = await signedIn(gateway, '#/users', { viewport: PHONE })
    for (const hash of ['#/overview', '#/users', '#/refusals', '#/audit', `#/users/${LONG}`]) {
      await goTo(page, hash)
      await page.getByText(LONG).first().waitFor()
      expect([hash, await screenAndAccessibilityFaults(page)]).toEqual([hash, []])
    }
    await section(page, 'Profile').getByLabel('Role').selectOption('admin')
    await section(page, 'Profile').getByRole('button', { name: 'Save' }).press('Enter')
    for (const name of ['', 'Reset usage', 'Rotate', 'Revoke', 'Delete']) {
      if (name !== '') await page.getByRole('button', { name }).first().press('Enter')
      await page.getByRole('dialog').waitFor()
      expect([name, await screenAndAccessibilityFaults(page), await overflow(page)]).toEqual([name, [], 0])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    // Its form has input: the list of users says so.
    await goTo(page, '#/users')
    await page.getByText('Unsaved changes:').waitFor()
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })
})

/** Writes into a field as a person with a keyboard does. */
async function type(page: Page, name: string, text: string): Promise<void> {
  await settled(page)
  await field(page, name).focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}

async function settingsOf({ send }: TestGateway): Promise<ReturnType<typeof JSON.parse>> {
  return (await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })).body
}

/** By how much the content of the open dialog is wider than the dialog, in pixels. */
function overflow(page: Page): Promise<number> {
  return page.evaluate<number>(
    "(() => { const open = document.querySelector('dialog[open]'); return open.scrollWidth - open.clientWidth })()",
  )
}
