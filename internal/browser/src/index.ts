export type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core'
export { browserTests, launchBrowser } from './launch-browser.ts'
