import { type Browser, browserTests, launchBrowser } from '@scoregw/browser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SiteServer, serveSite } from './built-site.ts'

let site: SiteServer
let browser: Browser

describe.runIf(browserTests)('the search', () => {
  beforeAll(async () => {
    ;[site, browser] = await Promise.all([serveSite(), launchBrowser()])
  })
  afterAll(async () => {
    await Promise.all([browser?.close(), site?.stop()])
  })

  it('finds what people look for, the page that is meant among the first', async () => {
    const page = await browser.newPage()
    await page.goto(`${site.url}/guide/concepts`)
    await page.waitForFunction('document.querySelector("#app")?.__vue_app__ !== undefined')
    await page.locator('button.DocSearch-Button').first().click()
    for (const [word, wanted] of [
      ['migrate', '/guide/coming-from'],
      ['nestjs', '/guide/recipes'],
      ['burst', '/guide/algorithms'],
      ['503', '/guide/troubleshooting'],
      ['playground', '/playground'],
    ] as const) {
      await page.locator('#localsearch-input').fill(word)
      // Typing is waited for, and then the list is of this word.
      const found = `[...document.querySelectorAll('.VPLocalSearchBox .result')].slice(0, 8).map((each) => each.getAttribute('href'))`
      await page.waitForFunction(`${found}.some((href) => href.startsWith(${JSON.stringify(wanted)}))`, undefined, {
        timeout: 10_000,
      })
      await expect
        .poll(() => page.evaluate<string[]>(found))
        .toEqual(expect.arrayContaining([expect.stringContaining(wanted) as string]) as string[])
    }
    await page.close()
  })
})
