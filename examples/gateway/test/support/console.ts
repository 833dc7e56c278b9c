import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from '@scoregw/browser'
import type { MinuteOutcomes } from '@scoregw/quota/adaptive'
import { sqlOutcomes } from '@scoregw/quota-sql'
import { COUNTERS } from '../../src/db/schema.ts'
import { openSqlite } from '../../src/db/sqlite.ts'
import { accessibilityFaults } from './accessibility.ts'
import { type Watched, type WatchOptions, watchedPage } from './browser.ts'
import { ADMIN_TOKEN, type TestGateway } from './gateway.ts'
import { screenFaults } from './screen-rules.ts'
import { closedInTheEnd } from './test-database.ts'

const MINUTE_MS = 60_000
/** Git ignores it. */
const ARTEFACTS = join(import.meta.dirname, '../../.artifacts')

/** The console's page, before anybody signs in. */
export async function openConsole(
  { gateway }: Pick<TestGateway, 'gateway'>,
  options: WatchOptions = {},
): Promise<Watched> {
  const watched = await watchedPage(options)
  await watched.page.goto(`${gateway.addresses.gateway}/admin/`)
  return watched
}

/** Goes from one thing to the next until it is there, as a person without a pointer has to. */
export async function reachByKeyboard(page: Page, what: Locator, mostStops: number): Promise<void> {
  await what.waitFor()
  for (let stop = 0; stop < mostStops; stop++) {
    if ((await what.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`no way by keyboard to ${what}`)
}

export async function signIn(page: Page, token: string = ADMIN_TOKEN): Promise<void> {
  await page.locator('#token').fill(token)
  await page.locator('.sign-in button[type=submit]').click()
}

/** The console with an administrator signed in, on one of its pages. */
export async function signedIn(
  gateway: Pick<TestGateway, 'gateway'>,
  hash = '#/settings',
  options: WatchOptions = {},
): Promise<Watched> {
  const watched = await openConsole(gateway, options)
  await signIn(watched.page)
  await watched.page.locator('nav.pages').waitFor()
  await goTo(watched.page, hash)
  return watched
}

/** Goes to a page of the console without a new document, which would forget the token. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await settled(page)
}

/** Waits until nothing is loaded any more. */
export async function settled(page: Page): Promise<void> {
  // What a change of the page brings is there after it was painted once.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  await page.locator('main:not(:has(.skeleton, [aria-busy=true]))').waitFor()
}

/** A picture of the whole page, for people to look at. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true })
  const viewport = page.viewportSize()
  if (viewport === null) throw new Error('the page has no size')
  // As high as the page is, so that what sticks to the window's edge is where the page ends.
  const height = await page.evaluate<number>('document.documentElement.scrollHeight')
  await page.setViewportSize({ ...viewport, height })
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`), animations: 'disabled' })
  await page.setViewportSize(viewport)
}

/** The faults of a page on its screen: layout and accessibility. */
export async function screenAndAccessibilityFaults(page: Page): Promise<string[]> {
  return [...(await screenFaults(page)), ...(await accessibilityFaults(page))]
}

/** A week of traffic, by the hour of the day, with a bad time in it; the numbers are always the same. */
export function badWeek(untilMs: number, badFromMs: number, badMinutes: number): MinuteOutcomes[] {
  const until = Math.floor(untilMs / MINUTE_MS)
  const badFrom = Math.floor(badFromMs / MINUTE_MS)
  return Array.from({ length: 7 * 1_440 }, (_each, index) => {
    const minute = until - 7 * 1_440 + index
    const calls = Math.round(24 + 16 * Math.sin(((minute % 1_440) / 1_440 - 0.3) * 2 * Math.PI))
    const isBad = minute >= badFrom && minute < badFrom + badMinutes
    // A few failures are always there.
    const codeZero = isBad ? Math.round(calls * 0.34) : Number(minute % 97 === 0)
    const serverError = isBad ? Math.round(calls * 0.16) : Number(minute % 61 === 0)
    return {
      minute,
      calls,
      codeZero,
      serverError,
      clientError: Math.round(calls * 0.05),
      businessFail: Number(minute % 41 === 0),
      refused: 0,
      quotaUnavailable: 0,
    }
  })
}

/** Writes outcomes into the gateway's database, as the gateway does it. */
export async function addOutcomes({ dataDir }: TestGateway, minutes: readonly MinuteOutcomes[]): Promise<void> {
  const db = await closedInTheEnd(openSqlite(dataDir))
  await sqlOutcomes({ db, prefix: COUNTERS }).add(minutes)
}

/** Turns the clock step by step, and lets the adaptive factor be judged at each. */
export async function tickUntil({ gateway, clock }: TestGateway, untilMs: number, stepMs: number): Promise<void> {
  const chore = gateway.app.chores.find(({ what }) => what === 'moving the adaptive factor')
  if (chore === undefined) throw new Error('nothing moves the factor')
  while (clock.now() < untilMs) {
    clock.advance(Math.min(stepMs, untilMs - clock.now()))
    await chore.run()
  }
}

/** Changes the settings as another administrator would. */
export async function changeSettings({ send }: Pick<TestGateway, 'send'>, change: object): Promise<void> {
  const { body, headers } = await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
  const { version: _, ...document } = body
  const answer = await send('PUT', '/admin/quota/settings', {
    token: ADMIN_TOKEN,
    headers: { 'If-Match': headers.get('ETag') ?? '' },
    body: { ...document, ...change },
  })
  if (answer.status !== 200) throw new Error(`the settings were refused: ${JSON.stringify(answer.body)}`)
}

export function field(page: Page | Locator, name: string): Locator {
  return page.getByRole('textbox', { name, exact: true })
}

export function section(page: Page, name: string): Locator {
  return page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) })
}

export async function chooseIn(page: Page, label: string, value: string): Promise<void> {
  await page.getByLabel(label).selectOption(value)
}

/** Saves, and waits until it is done. */
export async function save(form: Page | Locator): Promise<void> {
  await form.getByRole('button', { name: 'Save', exact: true }).click()
  await form.getByText('Saved.', { exact: true }).waitFor()
}

/** Agrees to changes that others notice, and waits until they are saved. */
export async function confirmedSave(page: Page, form: Page | Locator = page): Promise<void> {
  await form.getByRole('button', { name: 'Save', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Save these changes?' })
  await question.getByRole('button', { name: 'Save', exact: true }).click()
  await form.getByText('Saved.', { exact: true }).waitFor()
}

/** The list of users' search. The header has one as well. */
export function searchIn(page: Page): Locator {
  return page.locator('main').getByRole('searchbox')
}

/** What the save bar says that saving would change. */
export function changesIn(form: Page | Locator): Promise<string[]> {
  return form.locator('.save-bar .scroll li').allTextContents()
}
