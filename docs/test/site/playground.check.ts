import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Browser, browserTests, launchBrowser, type Page } from '@scoregw/browser'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { PRESETS } from '../../.vitepress/theme/playground/presets.ts'
import { root } from '../markdown.ts'
import { basePath, fileOf, type SiteServer, serveSite } from './built-site.ts'

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

/** What a limit's meter says. */
const meter = (page: Page, name: string): Promise<string | null> =>
  page.locator(`[data-meter="${name}"]`).getAttribute('aria-valuetext')

async function startFrom(page: Page, preset: string): Promise<void> {
  await page.locator('[data-field=preset]').selectOption(preset)
  // Shown once the calendar is loaded, and what it begins with has been played.
  for (const { name } of PRESETS[preset]?.limits ?? []) await page.locator(`[data-meter="${name}"]`).waitFor()
  await beginAgain(page)
}

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
  ])('the playground on %s plays a limit, shows the 429, and is shared by its address', async (_, screen) => {
    const page = await opened(screen)
    await beginAgain(page)
    await expect.poll(() => meter(page, 'api')).toBe('0 of 20 requests, not open')

    // The limit is lowered: the second request is refused, with the real body.
    await setField(page, '[data-field="limits.0.amount"]', '1')
    await page.locator('[data-ask="a request"]').click()
    await expect.poll(() => meter(page, 'api')).toBe('1 of 1 requests, ends in 15 min')
    await page.locator('[data-ask="a request"]').click()
    const answer = await shown(page, 'answer')
    expect(answer).toMatch(/^HTTP\/1\.1 429 Too Many Requests\n/)
    expect(answer).toContain('Retry-After: 900')
    const body = JSON.parse(answer.slice(answer.indexOf('{'))) as { error: string; quota: object }
    expect(body).toMatchObject({ error: 'quota_exceeded', quota: { limit: 1, used: 1, requested: 1, name: 'api' } })

    // A caller that waits as long as the answer says is admitted: no other sends requests meanwhile.
    for (const subject of ['ann', 'bob']) await setField(page, `[data-field=rate-${subject}]`, '0')
    await page.locator('[data-do=wait]').click()
    await expect.poll(() => shown(page, 'now')).toBe('2026-08-06 14:21:26')
    await expect.poll(() => meter(page, 'api')).toBe('0 of 1 requests, not open')

    // Traffic and a day: requests come by themselves, and most are refused.
    await setField(page, '[data-field=rate-ann]', '10')
    await page.locator('[data-turn="86400000"]').click()
    expect(Number((await shown(page, 'refused')).replaceAll(',', ''))).toBeGreaterThan(100)
    await picture(page, `playground-${screen.width}`)

    // The code, the answer and the address that are copied hold what was changed; the button that was clicked says so.
    await page.locator('[data-do=copy-code]').click()
    await expect.poll(() => page.locator('[data-do=copy-code]').textContent()).toContain('Copied')
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('limit: 1,')
    await page.locator('[data-do=copy-answer]').click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('429 Too Many Requests')
    await page.locator('[data-do=copy-address]').click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(page.url())
    const other = await opened(screen, new URL(page.url()).hash)
    await expect.poll(() => other.locator('[data-field="limits.0.amount"]').inputValue()).toBe('1')
    await expect.poll(() => other.locator('[data-field=rate-bob] + output').textContent()).toBe('none')
    await expect.poll(() => other.locator('[data-field=rate-ann] + output').textContent()).toBe('60 an hour')
  })

  it.each(Object.keys(PRESETS))('the playground plays the preset "%s"', async (preset) => {
    const page = await opened({ width: 1440, height: 900 })
    await page.locator('[data-field=preset]').selectOption(preset)
    await expect.poll(() => shown(page, 'answer')).toMatch(/^HTTP\/1\.1 429 /)
    const names = PRESETS[preset]?.limits.map(({ name }) => name) ?? []
    await expect.poll(() => page.locator('[data-meter]').count()).toBe(names.length)
    for (const name of names) expect(await shown(page, 'code')).toContain(`${name}: {`)
    await picture(page, `playground-preset-${Object.keys(PRESETS).indexOf(preset)}`)
  })

  it('the playground counts requests, money and tokens in one decision', async () => {
    const page = await opened({ width: 390, height: 844 })
    await startFrom(page, 'A language model: requests, tokens, money')
    await page.locator('[data-ask=report]').click()
    await expect.poll(() => meter(page, 'tokens')).toBe('30,000 of 100,000 tokens, ends in 1 h')
    await expect.poll(() => meter(page, 'budget')).toMatch(/^\$0\.12 of \$2\.00 usd, ends in 25 d/)
    await expect.poll(() => meter(page, 'teamTokens')).toMatch(/^30,000 of 150,000 tokens/)
    for (let count = 0; count < 3; count++) await page.locator('[data-ask=report]').click()
    // What was refused is charged nowhere.
    await expect.poll(() => meter(page, 'tokens')).toBe('90,000 of 100,000 tokens, ends in 1 h')
    await expect.poll(() => meter(page, 'budget')).toMatch(/^\$0\.36 /)
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

  it('the playground starts with one limit, and a refusal on the first screen of a desktop', async () => {
    const page = await opened({ width: 1440, height: 900 })
    await expect.poll(() => shown(page, 'now')).toBe('2026-08-06 14:46:26')
    await expect.poll(() => shown(page, 'answer')).toMatch(/^HTTP\/1\.1 429 /)
    await expect.poll(() => page.locator('[data-meter]').count()).toBe(1)
    const topOf = async (name: string): Promise<number> =>
      (await page.locator(`[data-show=${name}]`).boundingBox())?.y ?? Number.POSITIVE_INFINITY
    expect(await topOf('answer')).toBeLessThan(800)
    expect(await topOf('code')).toBeLessThan(700)
  })

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
    await expect.poll(() => page.locator('[data-field=rate-ann]').getAttribute('aria-valuetext')).toBe('10 a minute')
    await page.locator('[data-turn="3600000"]').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => shown(page, 'refused')).not.toBe('0')
    // Every button, field and region that scrolls is reached by Tab.
    const reached = await page.evaluate<number>(
      "[...document.querySelectorAll('.playground :is(button, input, select, pre)')].filter((each) => each.tabIndex < 0).length",
    )
    expect(reached).toBe(0)
  })

  it('the playground names a fault at its field, and plays on what was there before', async () => {
    const page = await opened({ width: 1440, height: 900 }, '#v1.e30')
    await expect.poll(() => page.locator('.notice').textContent()).toMatch(/^Not playable: /)
    await beginAgain(page)
    const field = page.locator('[data-field="limits.0.amount"]')
    await field.fill('abc')
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    const fault = page.locator('.cards [role=alert]')
    await expect.poll(() => fault.textContent()).toContain('got "abc"')
    await expect.poll(() => fault.getAttribute('id')).toBe('pg-fault-limits.0.amount')
    await expect.poll(() => field.getAttribute('aria-describedby')).toBe('pg-fault-limits.0.amount')
    await page.locator('[data-ask="a request"]').click()
    await expect.poll(() => meter(page, 'api')).toBe('1 of 20 requests, ends in 15 min')
    await field.fill('1,000')
    await fault.waitFor({ state: 'detached' })
    await expect.poll(() => meter(page, 'api')).toBe('1 of 1,000 requests, ends in 15 min')
  })

  it('the playground’s own code is less than 100 kB, and with framework and styles less than 180 kB', async () => {
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
    const sizes = needed.map(
      (path) => [path, gzipSync(readFileSync(fileOf(path.slice(basePath().length - 1)) ?? '')).byteLength] as const,
    )
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0)
    console.log(`the playground loads ${total} bytes`, Object.fromEntries(sizes))
    expect(sizes.length).toBeGreaterThan(5)
    expect(
      Math.max(...sizes.flatMap(([path, bytes]) => (path.includes('/playground.md.') ? [bytes] : []))),
    ).toBeLessThan(102_400)
    expect(total).toBeLessThan(184_320)
  })
})
