import { type Browser, browserTests, launchBrowser } from '@scoregw/browser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SiteServer, serveSite } from './built-site.ts'

/** What people type, and the pages that answer it. */
const WANTED: Readonly<Record<string, string | readonly string[]>> = {
  concurrency: '/guide/concurrency',
  'monthly quota': '/guide/calendar-limits',
  'billing cycle': '/guide/calendar-limits',
  'fake clock': '/guide/testing',
  testing: '/guide/testing',
  whitelist: '/guide/settings',
  allowlist: '/guide/settings',
  hierarchy: ['/guide/concepts', '/guide/recipes'],
  organization: ['/guide/recipes', '/guide/plans'],
  'per team': '/guide/recipes',
  tenants: '/guide/recipes',
  openai: '/guide/ai-sdk',
  anthropic: '/guide/ai-sdk',
  'ai sdk': '/guide/ai-sdk',
  mcp: '/guide/mcp',
  elysia: '/guide/fetch',
  nuxt: '/guide/fetch',
  nestjs: '/guide/nest',
  'next.js': ['/guide/recipes', '/guide/fetch'],
  vercel: '/guide/fetch',
  'node-redis': '/guide/redis',
  valkey: '/guide/redis',
  burst: ['/guide/token-buckets', '/guide/algorithms'],
  'sliding window': '/guide/algorithms',
  'token bucket': '/guide/algorithms',
  'retry-after': '/guide/refusals',
  headers: ['/guide/refusals', '/guide/http-options'],
  cloudflare: '/guide/edge',
  migrate: '/guide/coming-from',
  'express-rate-limit': ['/guide/coming-from', '/guide/comparison'],
  503: ['/guide/failure-policy', '/guide/troubleshooting'],
  playground: '/playground',
}

let site: SiteServer
let browser: Browser

describe.runIf(browserTests)('the site’s search', () => {
  beforeAll(async () => {
    ;[site, browser] = await Promise.all([serveSite(), launchBrowser()])
  })
  afterAll(async () => {
    await Promise.all([browser?.close(), site?.stop()])
  })

  it('the search shows the page that answers a query as its first or second hit', async () => {
    const page = await browser.newPage()
    await page.goto(`${site.url}/guide/concepts`)
    await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined')
    await page.locator('button.DocSearch-Button').first().click()
    const faults: string[] = []
    for (const [query, wanted] of Object.entries(WANTED)) {
      // The list is of this query once it differs from that of a query that finds nothing.
      await page.locator('#localsearch-input').fill('qqqq')
      await page.waitForFunction('document.querySelector(".VPLocalSearchBox .no-results") !== null')
      await page.locator('#localsearch-input').fill(query)
      await page.locator('.VPLocalSearchBox .result').first().waitFor()
      const hits = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.VPLocalSearchBox .result')].slice(0, 2).map((each) => each.getAttribute('href'))`,
      )
      if (!hits.some((href) => [wanted].flat().includes(href.split('#')[0] ?? ''))) {
        faults.push(`${query}: ${wanted}, not ${hits.join(' ')}`)
      }
    }
    await page.close()
    expect(faults).toEqual([])
  })
})
