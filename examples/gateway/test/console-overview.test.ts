import { type Browser, browserTests, launchBrowser, type Page } from '@scoregw/browser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConsole, picture, signedIn, signIn } from './support/console.ts'
import { ENTRY, testGateway } from './support/gateway.ts'
import { axeFaults, cutTexts, highRows } from './support/looks.ts'

const PHONE = { width: 390, height: 844 }
const DESK = { width: 1440, height: 900 }

describe.runIf(browserTests)('the overview in a browser', { timeout: 120_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  }, 60_000)
  afterAll(() => browser?.close())

  it('is the first page, goes on by itself, and says since when it does not', async () => {
    const gateway = await testGateway()
    const { page, faults } = await openConsole(browser, gateway)
    await signIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText('Nobody was refused.').waitFor()
    for (const _ of [1, 2, 3, 4, 5]) await gateway.send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
    await page.getByText('Personal, write, 1 hour').waitFor()
    expect(await page.getByRole('row', { name: /^demo 60$/ }).count()).toBe(1)
    await gateway.stop()
    await page.getByText('The line is down since').waitFor()
    expect(await page.getByText('What you see is what was known then.').count()).toBe(1)
    // The browser tells of tries that nobody answers.
    expect(faults.filter((fault) => !fault.startsWith('Failed to load resource: net::'))).toEqual([])
  })

  it('is read on a phone and on a desk, light and dark, in both languages', async () => {
    const gateway = await testGateway()
    const long = 'x'.repeat(128)
    const { app } = gateway.gateway
    for (const id of ['demo', long, 'carol']) {
      for (const _ of [1, 2, 3, 4, 5]) await app.quota.consume({ subject: id, operation: 'music.upsert' })
      await app.quota.consume({ subject: id, operation: 'user.music' })
    }
    await gateway.send('GET', '/nowhere')
    gateway.clock.advance(1_000)
    for (const [viewport, colorScheme] of [
      [PHONE, 'light'],
      [DESK, 'dark'],
    ] as const) {
      const { page, faults } = await signedIn(browser, gateway, '#/overview', { viewport, colorScheme })
      await page.getByText('carol').first().waitFor()
      for (const language of ['en', 'zh-CN']) {
        await page.locator('header select').first().selectOption(language)
        await page.getByText(language === 'en' ? 'Live, as of' : '实时，截至').waitFor()
        expect(await looksOf(page), `${viewport.width} ${language}`).toEqual([])
        await picture(page, `overview-${viewport.width}-${language}`)
      }
      expect(faults).toEqual([])
    }
  })
})

async function looksOf(page: Page): Promise<string[]> {
  return [...(await axeFaults(page)), ...(await cutTexts(page)), ...(await highRows(page))]
}
