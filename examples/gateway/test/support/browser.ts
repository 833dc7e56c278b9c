import { type BrowserContext, type Page, type Request, sharedBrowser } from '@scoregw/browser'
import { whenDone } from './shared.ts'

/** A page, and what it did. */
export interface Watched {
  readonly page: Page
  /** Every request that it sent. */
  readonly requests: Request[]
  /** What the browser had to complain about: blocked by the policy, thrown by a script, written as an error. */
  readonly faults: string[]
}

export interface WatchOptions {
  readonly colorScheme?: 'light' | 'dark'
  readonly viewport?: { readonly width: number; readonly height: number }
  /** Whether the page shares nothing with other tests' pages: for settings of a whole context, such as its clock. */
  readonly isAlone?: boolean
  /** Whether fingers are what one has; implies `isAlone`. */
  readonly hasTouch?: boolean
}

/** Other tests and their servers may have the machine. */
const TIMEOUT_MS = 30_000
/** How browsers log an answer that is an error: the page may have requested one. */
const REFUSED_REQUEST = /^Failed to load resource: the server responded with a status of/
/** What the content security policy blocks is on no list that a page could be requested afterwards. */
const REPORT_BLOCKED = `addEventListener('securitypolicyviolation', (event) => {
  console.error('blocked by the policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
})`

let shared: Promise<BrowserContext> | undefined

/**
 * A page, closed with the test. Pages share a context, since one of its own takes a second of the processor's time:
 * what they could leave behind uses origin, and every gateway has a port of its own.
 */
export async function watchedPage(options: WatchOptions = {}): Promise<Watched> {
  const page = await newPage(options)
  page.setDefaultTimeout(TIMEOUT_MS)
  const requests: Request[] = []
  const faults: string[] = []
  page.on('request', (request) => requests.push(request))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !REFUSED_REQUEST.test(text)) faults.push(text)
  })
  return { page, requests, faults }
}

async function newPage({ isAlone = false, hasTouch = false, viewport, colorScheme }: WatchOptions): Promise<Page> {
  const isOwn = isAlone || hasTouch
  if (!isOwn) shared ??= newContext(false)
  const context = await (isOwn ? newContext(hasTouch) : (shared as Promise<BrowserContext>))
  const page = await context.newPage()
  whenDone(() => (isOwn ? context.close() : page.close()))
  if (viewport !== undefined) await page.setViewportSize(viewport)
  if (colorScheme !== undefined) await page.emulateMedia({ colorScheme })
  return page
}

async function newContext(hasTouch: boolean): Promise<BrowserContext> {
  const context = await (await sharedBrowser()).newContext({ hasTouch, locale: 'en-US', reducedMotion: 'reduce' })
  await context.addInitScript(REPORT_BLOCKED)
  return context
}

/** Everything that a page keeps where its scripts, or a person, could find it. */
const KEPT = `(() => {
  const own = (name) => {
    try { return JSON.stringify(window[name]) ?? '' } catch { return '' }
  }
  return [
    document.documentElement.outerHTML,
    ...[...document.querySelectorAll('input, textarea, select')].map(({ value }) => value),
    ...Object.getOwnPropertyNames(window).map(own),
    JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), JSON.stringify(history.state),
    document.cookie, location.href,
  ].join('\\n')
})()`

/** Which of some texts a page keeps, in its nodes, fields, storages, cookies, globals or address. */
export async function keptBy(page: Page, texts: readonly string[]): Promise<string[]> {
  const kept = `${await page.evaluate<string>(KEPT)}\n${JSON.stringify(await page.context().cookies())}`
  return texts.filter((text) => kept.includes(text))
}

/** Which of some texts requests carry, in their addresses, heads or bodies. */
export async function carriedBy(requests: readonly Request[], texts: readonly string[]): Promise<string[]> {
  const sent = await Promise.all(
    requests.map(async (request) => [request.url(), await request.allHeaders(), request.postData()]),
  )
  const carried = JSON.stringify(sent)
  return texts.filter((text) => carried.includes(text))
}

/** Which of some texts are anywhere in the memory of a page's scripts, reachable or not. Takes seconds. */
export async function rememberedBy(page: Page, texts: readonly string[]): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const chunks: string[] = []
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk))
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  await session.detach()
  const heap = chunks.join('')
  return texts.filter((text) => heap.includes(text))
}
