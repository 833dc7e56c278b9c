import { browserTests, type Page } from '@scoregw/browser'
import { describe, expect, it } from 'vitest'
import { accessibilityFaults } from './support/accessibility.ts'
import { field, goTo, openTab, save, section, settled, signedIn } from './support/console.ts'
import { ADMIN_TOKEN, ENTRY, type TestGateway, testGateway } from './support/gateway.ts'
import { shared } from './support/shared.ts'
import { sourceGateway } from './support/source-gateway.ts'
import { held, lxScores } from './support/source-server.ts'

const read = async ({ send }: Pick<TestGateway, 'send'>, path: string): Promise<unknown> =>
  (await send('GET', `/admin/${path}`, { token: ADMIN_TOKEN })).body

/** What a checker of accessibility says, and whether the page fits on a phone. */
async function faultsOf(page: Page): Promise<string[]> {
  const found = await accessibilityFaults(page)
  const viewport = page.viewportSize()
  await page.setViewportSize({ width: 360, height: 740 })
  const fits = await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')
  if (viewport !== null) await page.setViewportSize(viewport)
  return fits ? found : [...found, 'the page is wider than a phone']
}

describe.runIf(browserTests)('limits of every kind in the console', () => {
  describe('shadowed limits, plans, thresholds, months, slots and holds', () => {
    const opened = shared(async () => {
      const env = { QUOTA_MONTHLY_LIMIT: 'read=2000,write=800', QUOTA_MAX_CONCURRENT_IMPORTS: '1' }
      const gateway = await sourceGateway({ env })
      return { gateway, ...(await signedIn(gateway)) }
    })

    it('the settings list calendar and concurrency limits', async () => {
      const { page } = opened()
      const rows = page.locator('.limits tbody').first().locator('tr:not(.group) th')
      await expect
        .poll(() => rows.allTextContents())
        .toEqual([...['1 hour', '5 hours', '1 day'], ...['calendar month', 'concurrent imports']])
    })

    it('a shadowed limit is marked in the base values', async () => {
      const { page } = opened()
      const rows = page.locator('.limits tbody').first().locator('tr:not(.group) th')
      await openTab(page, 'Shadow')
      await page.getByRole('switch', { name: 'Personal, 1 hour: not enforced' }).check()
      await page.getByRole('switch', { name: 'Site-wide: no limit is enforced' }).check()
      await openTab(page, 'Base values')
      await expect.poll(async () => (await rows.allTextContents())[0]).toBe('1 hournot enforced')
    })

    it('a plan name typed before the first frame of its tab is added', async () => {
      const { page } = opened()
      // The page has unsaved changes, so nothing else is drawn again. Microtasks after the field appeared: no frame was painted between.
      await page.evaluate(`new Promise((resolve) => {
        const type = async (input) => {
          input.value = 'early'
          input.dispatchEvent(new Event('input', { bubbles: true }))
          for (let turn = 0; turn < 10; turn++) await undefined
          input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
          resolve()
        }
        const observer = new MutationObserver(() => {
          const label = [...document.querySelectorAll('label')].find((each) => each.textContent === 'New plan name')
          if (label === undefined) return
          observer.disconnect()
          void type(document.getElementById(label.htmlFor))
        })
        observer.observe(document.body, { childList: true, subtree: true })
        ;[...document.querySelectorAll('nav.tabs a')].find((each) => each.textContent.startsWith('Plans')).click()
      })`)
      await page.getByRole('button', { name: 'Remove plan early' }).click()
    })

    it('shadowed limits, plans and thresholds are saved', async () => {
      const { gateway, page } = opened()
      await openTab(page, 'Plans')
      await field(page, 'New plan name').fill('pro')
      await field(page, 'New plan name').press('Enter')
      await field(page, 'Plan pro: Personal, write, 1 hour').fill('600')
      await field(page, 'Plan pro: Personal, read, concurrent imports').fill('5')
      await field(page, 'New plan name').fill('team')
      await page.getByRole('button', { name: 'Add plan' }).click()
      await openTab(page, 'Thresholds')
      await field(page, 'Alert thresholds').fill('80 %, 95%，100')
      await save(page)
      const settings = await read(gateway, 'quota/settings')
      expect(settings).toMatchObject({
        shadow: { personal: ['1h'], site: 'all' },
        plans: { pro: { personal: { write: { '1h': 600 }, read: { imports: 5 } } }, team: {} },
        thresholds: [{ share: 0.8 }, { share: 0.95 }, { left: 100 }],
      })
    })

    it('a plan can be removed, and an invalid threshold is marked', async () => {
      const { gateway, page } = opened()
      await openTab(page, 'Plans')
      await page.getByRole('button', { name: 'Remove plan team' }).click()
      await openTab(page, 'Thresholds')
      await field(page, 'Alert thresholds').fill('soon')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(1)
      await field(page, 'Alert thresholds').fill('')
      await save(page)
      expect(await read(gateway, 'quota/settings')).toMatchObject({ plans: { pro: {} }, thresholds: null })
      expect(await read(gateway, 'quota/settings')).not.toHaveProperty('plans.team')
      expect(await faultsOf(page)).toEqual([])
    })

    it('a user’s page sets a plan with its end and marks shadowed limits', async () => {
      const { gateway, page } = opened()
      await goTo(page, '#/users/demo')
      const quota = section(page, 'This user’s limits')
      await quota.getByLabel('Plan', { exact: true }).selectOption('pro')
      await quota.getByLabel('The plan applies until').fill('2030-01-02T03:04')
      await save(quota)
      const at = await page.evaluate<string>('new Date("2030-01-02T03:04").toISOString()')
      expect(await read(gateway, 'users/demo/quota')).toMatchObject({
        plan: 'pro',
        until: { overrides: null, plan: at },
      })
      await settled(page)
      const usage = section(page, 'Current usage')
      await expect.poll(() => usage.locator('.not-enforced').count()).toBe(2 + 8)
    })

    it('a user’s page shows an open hold and releases it', async () => {
      const { gateway, page, faults } = opened()
      const usage = section(page, 'Current usage')
      const waiting = held(lxScores())
      gateway.lx.answer(waiting.answer)
      const importing = gateway.updateLx()
      const holds = section(page, 'Open holds')
      await holds.getByText('source.lx: 5 tokens and a slot').waitFor({ timeout: 20_000 })
      await usage.getByText('including 5 held').first().waitFor({ timeout: 20_000 })
      expect(await faultsOf(page)).toEqual([])
      await holds.getByRole('button', { name: 'Release the hold for source.lx' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Release', exact: true }).click()
      await holds.getByText('No open holds.').waitFor()
      expect(await read(gateway, 'users/demo/quota/holds')).toEqual({ items: [] })
      waiting.release()
      await importing
      expect(faults).toEqual([])
    })
  })

  it('the console shows a bucket’s burst, its rest, and when it is full, in both languages', async () => {
    const gateway = await testGateway({
      env: { QUOTA_MINUTE_LIMIT: 'read=60,write=50', QUOTA_MINUTE_BURST: '0.6' },
    })
    const { page, faults } = await signedIn(gateway)
    const rows = page.locator('.limits tbody').first().locator('tr:not(.group) th')
    await expect.poll(async () => (await rows.allTextContents())[0]).toBe('1 minute, burst of 60 %')
    expect((await gateway.send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })).status).toBe(200)
    await goTo(page, '#/users/demo')
    const bars = section(page, 'Current usage').locator('.bar', { hasText: 'Personal · 1 minute, burst of 60 %' })
    const textsOf = async (): Promise<string[]> =>
      (await bars.allTextContents()).map((text) => text.replace(/(again ).*/, '$1').trim())
    const name = 'Personal · 1 minute, burst of 60 %'
    await expect
      .poll(textsOf)
      .toEqual([
        `${name}0 of 3636 left; 60 refill evenly over this timefull`,
        `${name}15 of 3015 left; 50 refill evenly over this timefull again`,
      ])
    await page.getByLabel('Language').selectOption('zh-CN')
    await page.locator('.bar', { hasText: '个人 · 1 分钟，突发 60 %' }).first().waitFor()
    await page.getByText('剩余 15；在此时间内匀速恢复 50').waitFor()
    await page.getByText('恢复全满').first().waitFor()
    expect(await faultsOf(page)).toEqual([])
    expect(faults).toEqual([])
  })
})
