import { join } from 'node:path'
import { type Browser, browserTests, launchBrowser, type Page } from '@scoregw/browser'
import { manualClock } from '@scoregw/quota-testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addOutcomes,
  badWeek,
  changeSettings,
  goTo,
  openConsole,
  picture,
  seriousFaults,
  settled,
  signIn,
  tickUntil,
} from './support/console.ts'
import { ADMIN_TOKEN, HOUR_MS, START, type TestGateway, testGateway } from './support/gateway.ts'

const PAGES = ['settings', 'users', 'users/demo', 'errors', 'credentials', 'audit'] as const
const isDeep = process.env.QUOTA_TEST_DEEP === '1'
const LOOKS = [
  ['en', 'light'],
  ['zh-CN', 'dark'],
  ['en', 'dark'],
  ['zh-CN', 'light'],
] as const

/** How much of the pages moved without anybody having done anything: Chromium's measure, 0.1 of which is "good". */
const LAYOUT_SHIFT = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    resolve(list.getEntries().filter((entry) => !entry.hadRecentInput).reduce((sum, { value }) => sum + value, 0))
  }).observe({ type: 'layout-shift', buffered: true })
  setTimeout(resolve, 300, 0)
})`
const DOCS_PICTURE = join(import.meta.dirname, '../../../docs/gateway/console.png')

describe.runIf(browserTests)('the pages of the console', { timeout: 120_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  }, 60_000)
  afterAll(() => browser?.close())

  it('are accessible and fit, in both languages and both appearances', async () => {
    const gateway = await busyGateway(30 * 60_000)
    const { page, faults } = await openConsole(browser, gateway, { viewport: { width: 1280, height: 900 } })
    await signIn(page)
    await page.locator('nav.pages').waitFor()
    for (const name of PAGES) await goTo(page, `#/${name}`)
    expect(await page.evaluate(LAYOUT_SHIFT)).toBeLessThan(0.1)
    for (const name of PAGES) {
      await goTo(page, `#/${name}`)
      await each(page, name.replace('/', '-'))
    }
    await page.setViewportSize({ width: 360, height: 740 })
    for (const name of PAGES) {
      await goTo(page, `#/${name}`)
      expect([name, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([name, true])
      if (isDeep) await picture(page, `phone-${name.replace('/', '-')}`)
    }
    const { page: signInPage } = await openConsole(browser, gateway)
    await each(signInPage, 'sign-in')
    expect(faults).toEqual([])
  })

  it.runIf(process.env.CONSOLE_PICTURE === '1')('gives the picture of the documentation', async () => {
    const gateway = await busyGateway(60_000)
    const { page } = await openConsole(browser, gateway, { viewport: { width: 1180, height: 760 } })
    await signIn(page)
    await page.locator('nav.pages').waitFor()
    await goTo(page, '#/errors')
    await pointAtBurst(page)
    await page.screenshot({ path: DOCS_PICTURE })
  })

  /** A page in some languages and appearances: a picture of each, and what a checker of accessibility says. */
  async function each(page: Page, name: string): Promise<void> {
    for (const [language, theme] of isDeep ? LOOKS : [lookOf(name)]) {
      await page.locator('header select').nth(0).selectOption(language)
      await page.locator('header select').nth(1).selectOption(theme)
      await settled(page)
      await picture(page, `${name}-${language}-${theme}`)
      expect([name, language, theme, await seriousFaults(page)]).toEqual([name, language, theme, []])
    }
  }
})

/** One of the four, so that a quick run sees each of them somewhere. */
function lookOf(name: string): (typeof LOOKS)[number] {
  return LOOKS[[...PAGES, 'sign-in'].indexOf(name.replace('-demo', '/demo')) % LOOKS.length] ?? LOOKS[0]
}

/** A gateway with a week of traffic and a bad time in it, which the adaptive factor answered to; and some changes. */
async function busyGateway(stepMs: number): Promise<TestGateway> {
  const badFrom = START - 40 * HOUR_MS
  const gateway = await testGateway({ clock: manualClock(badFrom - HOUR_MS) })
  await changeSettings(gateway, {
    mode: 'adaptive',
    shadow: { personal: ['1d'] },
    plans: { pro: { personal: { write: { '1h': 600 } } } },
  })
  await addOutcomes(gateway, badWeek(START, badFrom, 200))
  await tickUntil(gateway, badFrom + 8 * HOUR_MS, Math.min(stepMs, 10 * 60_000))
  await tickUntil(gateway, START, stepMs)
  const send = (method: string, path: string, body: object): Promise<unknown> =>
    gateway.send(method, path, { token: ADMIN_TOKEN, body })
  await send('PUT', '/admin/users/carol', { name: 'Carol', qq: 123_456_789 })
  await send('PUT', '/admin/users/demo/quota', { overrides: { write: { '1h': 120 } }, plan: 'pro' })
  await send('POST', '/admin/bots', { name: 'nightly' })
  await send('POST', '/admin/users/demo/tokens', { label: 'phone' })
  for (let count = 0; count < 10; count++) await gateway.send('POST', '/v1/user/music')
  return gateway
}

/** The pointer is on the middle of the bad time. */
async function pointAtBurst(page: Page): Promise<void> {
  const box = await page.locator('.plot .u-over').boundingBox()
  if (box === null) throw new Error('there is no chart')
  await page.mouse.move(box.x + box.width * (1 - 38 / 168), box.y + box.height / 2)
  await settled(page)
}
