export type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core'
export { browserTests, launchBrowser, sharedBrowser } from './launch-browser.ts'
