import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, browserTests, launchBrowser, type Page } from '@scoregw/browser'
import axe from 'axe-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../markdown.ts'
import { builtPages, type SiteServer, serveSite } from './built-site.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** A page of each kind: axe examines them in every run, and all pages in the deep one, which keeps pictures of these. */
const KINDS = [
  '/',
  '/playground',
  '/guide/getting-started',
  '/guide/comparison',
  '/guide/benchmarks',
  '/api/@scoregw/quota/prometheus/',
  '/api/@scoregw/quota/functions/createQuota',
  '/zh/',
  '/guide/no-such-page',
]
/** What has to fit the screen: what people wrote, and of what is made from comments a page of each kind. */
const pages = new Set([...KINDS, ...builtPages().filter((path) => deep || !path.startsWith('/api/'))])
const WIDTHS = [320, 390, 600, 768, 960, 1280, 1440, 1920]
/** The narrowest of each layout: without a sidebar, with it, and with the page's own contents beside. What fits here fits. */
const NARROWEST = [320, 960, 1280]

let site: SiteServer
let browser: Browser

/** What sticks out of the window: a page is never wider than it, whatever it holds. */
const WIDER = `(() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth
  return wide > 0 ? wide : 0
})()`

/** How many entries of the sidebar are marked as the page's, and whether the reader doesn't see one. */
const ENTRIES = `[...document.querySelectorAll('.VPSidebar .is-within > .item')].map((each) => {
  const { top, bottom } = each.getBoundingClientRect()
  return top < 0 || bottom > innerHeight + 1
})`

/** Texts of the figures that are smaller than 11 pixels as they are shown. */
const SMALL = `[...document.querySelectorAll('svg.factors text, .decisions *')].filter((each) => {
  const svg = each.closest('svg')
  const scale = svg === null ? 1 : svg.getBoundingClientRect().width / svg.viewBox.baseVal.width
  return parseFloat(getComputedStyle(each).fontSize) * scale < 11
}).map((each) => each.textContent)`

async function picture(page: Page, name: string): Promise<void> {
  const folder = join(root, 'docs/.artifacts')
  mkdirSync(folder, { recursive: true })
  // The longest pages are some 50,000 pixels high on a phone.
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, animations: 'disabled', timeout: 120_000 })
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

describe.runIf(browserTests)('the built site', () => {
  beforeAll(async () => {
    ;[site, browser] = await Promise.all([serveSite(), launchBrowser()])
  })
  afterAll(async () => {
    await Promise.all([browser?.close(), site?.stop()])
  })

  it.each(deep ? (['light', 'dark'] as const) : (['dark'] as const))(
    'the pages fit the screen, and axe finds no fault in the %s theme',
    async (colorScheme) => {
      const context = await browser.newContext({ colorScheme, reducedMotion: 'reduce' })
      // VitePress loads ahead what the links of a page lead to, if it can see them.
      await context.addInitScript('delete window.IntersectionObserver')
      const queue = [...pages]
      const faultsOf = async (): Promise<string[]> => {
        const page = await context.newPage()
        const faults: string[] = []
        for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
          faults.push(...(await faultsOfPage(page, path, colorScheme)).map((fault) => `${path} ${fault}`))
        }
        return faults
      }
      const faults = await Promise.all([faultsOf(), faultsOf()])
      await context.close()
      expect(faults.flat()).toEqual([])
    },
    deep ? 3_600_000 : 900_000,
  )
})

async function faultsOfPage(page: Page, path: string, colorScheme: string): Promise<string[]> {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(site.url + path)
  await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined')
  const faults = deep || KINDS.includes(path) ? await violations(page) : []
  const areHidden = await page.evaluate<boolean[]>(ENTRIES)
  if (areHidden.includes(true)) faults.push('has its entry of the sidebar out of view')
  if (path.startsWith('/api/@') && areHidden.length !== 1) faults.push(`has ${areHidden.length} entries in the sidebar`)
  for (const width of deep || KINDS.includes(path) ? WIDTHS : NARROWEST) {
    await page.setViewportSize({ width, height: 900 })
    const wider = await page.evaluate<number>(WIDER)
    if (wider > 0) faults.push(`is ${wider} pixels wider than ${width}`)
    const small = await page.evaluate<string[]>(SMALL)
    faults.push(...small.map((text) => `at ${width}: too small: ${text}`))
    if (!deep || !KINDS.includes(path)) continue
    await picture(page, `${path.slice(1).replaceAll('/', '-') || 'index'}-${width}-${colorScheme}`)
  }
  return faults
}
