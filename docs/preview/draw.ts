import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { launchBrowser } from '@scoregw/browser'

// Draws `public/preview.png`, which previews of links show.
const browser = await launchBrowser()
const page = await browser.newPage({ viewport: { width: 1200, height: 630 } })
await page.goto(pathToFileURL(join(import.meta.dirname, 'preview.html')).href)
await page.screenshot({ path: join(import.meta.dirname, '../public/preview.png') })
await browser.close()
