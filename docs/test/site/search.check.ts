import { type Browser, browserTests, launchBrowser } from '@scoregw/browser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SiteServer, serveSite } from './built-site.ts'

/** What people type, and the pages one of which has to be the first hit. */
const WANTED: Readonly<Record<string, string | readonly string[]>> = {
  createquota: '/api/@scoregw/quota/functions/createQuota',
  createQuota: '/api/@scoregw/quota/functions/createQuota',
  redisStore: '/api/@scoregw/quota-redis/functions/redisStore',
  quotaMiddleware: [
    '/api/@scoregw/quota-express/functions/quotaMiddleware',
    '/api/@scoregw/quota-fetch/hono/functions/quotaMiddleware',
  ],
  definePolicy: '/api/@scoregw/quota/functions/definePolicy',
  nextjs: ['/guide/recipes', '/guide/fetch'],
  express: '/guide/express',
  redis: '/guide/redis',
  postgres: '/guide/sql',
  concurrency: '/guide/concurrency',
  'monthly quota': '/guide/calendar-limits',
  'billing cycle': '/guide/calendar-limits',
  'fake clock': '/guide/testing',
  testing: '/guide/testing',
  whitelist: '/guide/settings',
  allowlist: '/guide/settings',
  hierarchy: ['/guide/concepts', '/guide/recipes'],
  organization: ['/guide/recipes', '/guide/plans'],
  'per team': ['/guide/plans', '/guide/recipes'],
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
  burst: '/guide/algorithms',
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

const WANTED_IN_CHINESE: Readonly<Record<string, string>> = {
  窗口: '/zh/concepts',
  限额: '/zh/concepts',
  快速上手: '/zh/getting-started',
  安装: '/zh/getting-started',
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

  it.each([
    ['English', '/guide/concepts', WANTED],
    ['Chinese', '/zh/concepts', WANTED_IN_CHINESE],
  ])('the search in %s shows the page that answers a query as its first hit', async (_, start, wantedBy) => {
    const page = await browser.newPage()
    await page.goto(site.url + start)
    await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined')
    await page.locator('button.DocSearch-Button').first().click()
    const faults: string[] = []
    for (const [query, wanted] of Object.entries(wantedBy)) {
      // The list is of this query once it differs from that of a query that finds nothing.
      await page.locator('#localsearch-input').fill('qqqq')
      await page.waitForFunction('document.querySelector(".VPLocalSearchBox .no-results") !== null')
      await page.locator('#localsearch-input').fill(query)
      await page.locator('.VPLocalSearchBox .result').first().waitFor()
      const hits = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.VPLocalSearchBox .result')].slice(0, 3).map((each) => each.getAttribute('href'))`,
      )
      const [first] = hits.map((href) => href.replace(new URL(site.url).pathname, '').replace(/#.*/, ''))
      if (!([wanted].flat() as (string | undefined)[]).includes(first)) {
        faults.push(`${query}: ${wanted}, not ${hits.join(' ')}`)
      }
    }
    await page.close()
    expect(faults).toEqual([])
  })
})
