import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Browser, browserTests, launchBrowser, type Page } from '@scoregw/browser'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../markdown.ts'
import { fileOf, type SiteServer, serveSite } from './built-site.ts'

let site: SiteServer
let browser: Browser

/** The playground in a window of its own; what went wrong in it fails the test. */
async function opened(screen: { readonly width: number; readonly height: number }, hash = ''): Promise<Page> {
  const context = await browser.newContext({
    viewport: screen,
    hasTouch: screen.width < 500,
    isMobile: screen.width < 500,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const faults: string[] = []
  const page = await context.newPage()
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
  onTestFinished(async () => {
    await context.close()
    expect(faults).toEqual([])
  })
  await page.goto(`${site.url}/playground${hash}`)
  // Vue has taken over once the fields answer.
  await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined')
  return page
}

/** From the very beginning, when nothing is used. */
async function beginAgain(page: Page): Promise<void> {
  await page.locator('[data-do=restart]').click()
}

async function shown(page: Page, name: string): Promise<string> {
  return (await page.locator(`[data-show=${name}]`).textContent()) ?? ''
}

const window = (page: Page, name: string): Promise<string | null> =>
  page.locator(`[data-window="${name}"]`).getAttribute('aria-valuetext')

async function picture(page: Page, name: string): Promise<void> {
  const folder = join(root, 'docs/.artifacts')
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, animations: 'disabled' })
}

async function setField(page: Page, field: string, value: string): Promise<void> {
  await page.locator(field).fill(value)
  await page.locator(field).blur()
}

describe.runIf(browserTests)('the playground', () => {
  beforeAll(async () => {
    ;[site, browser] = await Promise.all([serveSite(), launchBrowser()])
  })
  afterAll(async () => {
    await Promise.all([browser?.close(), site?.stop()])
  })

  it.each([
    ['a desktop', { width: 1440, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
  ])(
    'the playground on %s plays limits and time, shows the 429, and is shared by its address',
    async (name, screen) => {
      const page = await opened(screen)
      await beginAgain(page)
      await expect.poll(() => window(page, 'user-write-1h')).toBe('0 of 60 tokens, not open')

      // A limit is lowered, two requests by hand: the second is refused, with the real body.
      await setField(page, '[data-limit="user-write-1h"]', '20')
      await page.locator('[data-ask=upload]').click()
      await expect.poll(() => window(page, 'user-write-1h')).toBe('15 of 20 tokens, ends in 1 h')
      await page.locator('[data-ask=upload]').click()
      const answer = await shown(page, 'answer')
      expect(answer).toMatch(/^HTTP\/1\.1 429 Too Many Requests\n/)
      expect(answer).toContain('Retry-After: 3600')
      const body = JSON.parse(answer.slice(answer.indexOf('{'))) as { error: string; quota: object }
      expect(body).toMatchObject({
        error: 'quota_exceeded',
        quota: { limit: 20, used: 15, requested: 15, name: 'user-write-1h' },
      })

      // A caller that waits as long as the answer says is admitted: no other asks meanwhile.
      for (const subject of ['ann', 'bob']) await setField(page, `[data-field=rate-${subject}]`, '0')
      await page.locator('[data-do=wait]').click()
      await expect.poll(() => shown(page, 'now')).toBe('2026-08-06 15:06:26')
      await expect.poll(() => window(page, 'user-write-1h')).toBe('0 of 20 tokens, not open')
      await page.locator('[data-ask=upload]').click()
      await expect.poll(() => window(page, 'user-write-1h')).toBe('15 of 20 tokens, ends in 1 h')

      // Traffic and a day: requests come by themselves, and some are refused.
      await setField(page, '[data-field=rate-ann]', '10')
      await page.locator('[data-turn="86400000"]').click()
      expect(Number((await shown(page, 'refused')).replaceAll(',', ''))).toBeGreaterThan(100)
      await picture(page, `playground-${screen.width}`)

      // The code and the address that are copied hold what was changed.
      await page.locator('[data-do=copy-code]').click()
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('limit: 20,')
      await page.locator('[data-do=copy-address]').click()
      const address = await page.evaluate<string>('navigator.clipboard.readText()')
      expect(address).toBe(page.url())
      const other = await opened(screen, new URL(address).hash)
      await expect.poll(() => other.locator('[data-limit="user-write-1h"]').inputValue()).toBe('20')
      await expect.poll(() => other.locator('[data-field=rate-bob] + output').textContent()).toBe('none')
      await expect.poll(() => other.locator('[data-field=rate-ann] + output').textContent()).toBe('60 an hour')
      await beginAgain(other)
      await other.locator('[data-ask=upload]').click()
      await expect.poll(() => window(other, 'user-write-1h')).toBe('15 of 20 tokens, ends in 1 h')
      expect(name).not.toBe('')
    },
  )

  it('the playground counts requests, money and tokens in one decision', async () => {
    const page = await opened({ width: 390, height: 844 })
    await beginAgain(page)
    await page.locator('[data-field=unit-5h]').selectOption('cents')
    await setField(page, '[data-field=cents-1]', '150')
    await setField(page, '[data-limit="user-write-5h"]', '200')
    await page.locator('[data-ask=upload]').click()
    await expect
      .poll(() => page.locator('.notice').textContent())
      .toBe('ann: admitted, 15 tokens, 1 request, 150 cents')
    await expect.poll(() => window(page, 'user-write-5h')).toBe('150 of 200 cents, ends in 5 h')
    await expect.poll(() => window(page, 'user-write-1d')).toBe('1 of 600 requests, ends in 1 d')
    await page.locator('[data-ask=upload]').click()
    expect(await shown(page, 'answer')).toContain('Limit reached: $2.00 per 5 hours.')
    // What was refused is charged nowhere.
    await expect.poll(() => window(page, 'user-write-1h')).toBe('15 of 60 tokens, ends in 1 h')
    await picture(page, 'playground-units')
  })

  it('the playground shows a bucket’s burst, when it is full again, and its remaining tokens over time', async () => {
    const page = await opened({ width: 390, height: 844 })
    await beginAgain(page)
    await page.locator('[data-field=burst-1h]').selectOption('0.5')
    await expect.poll(() => window(page, 'user-write-1h')).toBe('0 of 30 tokens, full')
    await page.locator('[data-ask=upload]').click()
    await expect.poll(() => window(page, 'user-write-1h')).toBe('15 of 30 tokens, full in 15 min')
    await page.locator('[data-ask=upload]').click()
    await page.locator('[data-ask=upload]').click()
    expect(await shown(page, 'answer')).toContain('60 write tokens per hour, in bursts of 30. Try again in 15 minutes.')
    await expect.poll(() => page.locator('polyline.bucket').getAttribute('points')).toBe('59.5,60')
    expect(await shown(page, 'code')).toContain('burst: { share: 0.5 },')
    await picture(page, 'playground-bucket')
  })

  it('the playground plays by itself until it is paused', async () => {
    const page = await opened({ width: 820, height: 1180 })
    await beginAgain(page)
    await page.locator('[data-field=speed]').selectOption('3600000')
    await page.locator('[data-do=play]').click()
    await page.waitForFunction("Number(document.querySelector('[data-show=refused]').textContent) > 0")
    await page.locator('[data-do=play]').click()
    const at = await shown(page, 'now')
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    await expect.poll(() => shown(page, 'now')).toBe(at)
    await page.locator('[data-do=restart]').click()
    await expect.poll(() => shown(page, 'now')).toBe('2026-08-06 14:06:26')
  })

  it.each([390, 1440])(
    'the playground starts forty minutes in, with three layers and a refusal on the first screen of %i px',
    async (width) => {
      const page = await opened({ width, height: 844 })
      await expect.poll(() => shown(page, 'now')).toBe('2026-08-06 14:46:26')
      await expect.poll(() => shown(page, 'answer')).toMatch(/^HTTP\/1\.1 429 /)
      await expect.poll(() => window(page, 'team-write-1h')).toMatch(/ of 150 tokens/)
      const box = (await page.locator('[data-show=answer]').boundingBox())!
      expect(box.y).toBeLessThan(844 - 100)
      // Nothing below moves when the refusal is gone, or comes back.
      const placeOf = async (): Promise<number | undefined> =>
        (await page.locator('.inputs section').first().boundingBox())?.y
      const heightOf = async (): Promise<number | undefined> =>
        (await page.locator('[aria-labelledby=pg-windows]').boundingBox())?.height
      const [before, height] = [await placeOf(), await heightOf()]
      await beginAgain(page)
      await expect.poll(() => page.locator('[data-show=answer]').count()).toBe(0)
      expect([await placeOf(), await heightOf()]).toEqual([before, height])
    },
  )

  it('the playground replays a random history by the seed in its address', async () => {
    const page = await opened({ width: 1440, height: 900 })
    await page.locator('[data-do=history]').click()
    await expect.poll(() => page.locator('.notice').textContent()).toMatch(/by seed \d+/)
    await expect.poll(() => page.url()).toContain('#v1.')
    const counts = async (of: Page): Promise<string[]> => [await shown(of, 'admitted'), await shown(of, 'refused')]
    const other = await opened({ width: 1440, height: 900 }, new URL(page.url()).hash)
    await expect.poll(() => shown(other, 'now')).toBe('2026-08-06 14:46:26')
    expect(await counts(other)).toEqual(await counts(page))
  })

  it('the playground can be used with only a keyboard', async () => {
    const page = await opened({ width: 1440, height: 900 })
    await page.locator('[data-field=rate-ann]').focus()
    for (let press = 0; press < 4; press++) await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.locator('[data-field=rate-ann]').getAttribute('aria-valuetext')).toBe('45 an hour')
    await page.locator('[data-turn="3600000"]').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => shown(page, 'refused')).not.toBe('0')
    // Every button, field and region that scrolls is reached by Tab.
    const reached = await page.evaluate<number>(
      "[...document.querySelectorAll('.playground :is(button, input, select, pre)')].filter((each) => each.tabIndex < 0).length",
    )
    expect(reached).toBe(0)
  })

  it('the playground names the fault of an address or field and keeps the previous scenario', async () => {
    const page = await opened({ width: 1440, height: 900 }, '#v1.e30')
    await expect.poll(() => page.locator('.notice').textContent()).toMatch(/^Not playable: /)
    await beginAgain(page)
    await setField(page, '[data-limit="user-write-1h"]', 'many')
    await page.locator('[role=alert]').waitFor()
    await page.locator('[data-ask=upload]').click()
    await expect.poll(() => window(page, 'user-write-1h')).toBe('15 of 60 tokens, ends in 1 h')
    await setField(page, '[data-limit="user-write-1h"]', '1,000')
    await page.locator('[role=alert]').waitFor({ state: 'detached' })
    await expect.poll(() => window(page, 'user-write-1h')).toBe('15 of 1,000 tokens, ends in 1 h')
  })

  it('the playground loads in less than 160 kB including framework and styles', async () => {
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    const asked = new Set<string>()
    // What the page needs; pages that its links lead to are fetched ahead when nothing else is to be done.
    page.on(
      'request',
      (request) => void (request.resourceType() !== 'other' && asked.add(new URL(request.url()).pathname)),
    )
    await page.route(/\.md\.[\w-]+\.lean\.js$/, (route) =>
      route.request().url().includes('/playground.md.') ? route.continue() : route.abort(),
    )
    await page.goto(`${site.url}/playground`, { waitUntil: 'networkidle' })
    const needed = [...asked].filter(
      (path) => !/\.md\.[\w-]+\.lean\.js$/.test(path) || path.includes('/playground.md.'),
    )
    const sizes = needed.map((path) => [path, gzipSync(readFileSync(fileOf(path) ?? '')).byteLength] as const)
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0)
    console.log(`the playground loads ${total} bytes`, Object.fromEntries(sizes))
    expect(sizes.length).toBeGreaterThan(5)
    expect(total).toBeLessThan(164_000)
  })
})
