import { join } from 'node:path'
import { browserTests, type Page } from '@scoregw/browser'
import { manualClock } from '@scoregw/quota-testkit'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { accessibilityFaults } from './support/accessibility.ts'
import {
  addOutcomes,
  badWeek,
  changeSettings,
  field,
  goTo,
  openConsole,
  picture,
  section,
  settled,
  signedIn,
  signIn,
  tickUntil,
} from './support/console.ts'
import { ADMIN_TOKEN, ENTRY, HOUR_MS, START, type TestGateway, testGateway } from './support/gateway.ts'
import { screenFaults } from './support/screen-rules.ts'
import { keyboardFaults } from './support/tab-stops.ts'

/** Each page, and what of it has to be on the first screen of a phone, since people come for it. */
const PAGES = {
  overview: '.figure:nth-child(4) .figure-value',
  refusals: '.refusal',
  settings: 'input[name=mode]:checked',
  users: '.entries li a',
  'users/demo': 'meter',
  errors: '.plot',
  credentials: '.credentials li, form input',
  audit: '.entries .changes li',
  nothing: 'h1',
} as const
/** For people to look at, whatever else is run. */
const wantsPictures = process.env.CONSOLE_PICTURES === '1'
const isDeep = process.env.QUOTA_TEST_DEEP === '1'
const NAMES = Object.keys(PAGES) as (keyof typeof PAGES)[]
const LOOKS = [
  ['en', 'light'],
  ['zh-CN', 'dark'],
  ['en', 'dark'],
  ['zh-CN', 'light'],
] as const
const PHONE = { width: 390, height: 844 }
const DESK = { width: 1440, height: 900 }
const SCREENS = isDeep || wantsPictures ? [PHONE, { width: 768, height: 1024 }, DESK] : [PHONE, DESK]
const MANY_USERS = 5_000
/** As long as can be, of letters that are as wide as can be, and with what turns text around. */
const LONG = 'w'.repeat(128)
const NAMED = {
  [LONG]: 'Wide',
  'long-name': 'W'.repeat(64),
  'long-words': '很长的名字'.repeat(12),
  turned: 'ad\u202enim\u202c\u200b',
  hebrew: 'עדה לאבלייס',
}

/** How much of the pages moved without anybody having done anything: Chromium's measure, 0.1 of which is "good". */
const LAYOUT_SHIFT = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    resolve(list.getEntries().filter((entry) => !entry.hadRecentInput).reduce((sum, { value }) => sum + value, 0))
  }).observe({ type: 'layout-shift', buffered: true })
  setTimeout(resolve, 300, 0)
})`
const DOCS_PICTURE = join(import.meta.dirname, '../../../docs/gateway/console.png')

describe.runIf(browserTests && slowTests)('the looks of the console', { timeout: 600_000 }, () => {
  it('every page is accessible and fits every screen, in both languages and themes', async () => {
    const gateway = await busyGateway((isDeep ? 30 : 120) * 60_000)
    const { page, faults } = await openConsole(gateway, { viewport: DESK })
    const complaints: string[] = []
    await look(complaints, page, 'sign-in')
    await signIn(page)
    await page.locator('nav.pages').waitFor()
    for (const name of NAMES) await goTo(page, `#/${name}`)
    expect(await page.evaluate(LAYOUT_SHIFT)).toBeLessThan(0.1)
    for (const name of NAMES) {
      await goTo(page, `#/${name}`)
      await look(complaints, page, name.replace('/', '-'), PAGES[name])
    }
    await goTo(page, `#/users/${LONG}`)
    await look(complaints, page, 'long-id')
    expect(complaints).toEqual([])
    expect(faults).toEqual([])
  })

  it('forms with input, dialogs, orders and a zoomed chart are accessible and fit every screen', async () => {
    const gateway = await busyGateway(120 * 60_000)
    const { page, faults } = await signedIn(gateway, '#/settings', { viewport: DESK })
    const complaints: string[] = []
    const step = (name: string): Promise<void> => fits(complaints, page, { name, of: 'used' })
    await field(page, 'Base value: Personal, write, 1 hour').fill('0')
    for (const price of ['user.data', 'user.music', 'music.upsert', 'charge.2'])
      await field(page, `Price of ${price}`).fill('30')
    await step('changes')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').waitFor()
    await step('question')
    await page.keyboard.press('Escape')
    await goTo(page, `#/users/${LONG}`)
    await section(page, 'Profile').getByLabel('Name').fill('x'.repeat(64))
    await step('user-changes')
    await goTo(page, '#/credentials')
    await page.getByRole('button', { name: 'Rotate nightly' }).click()
    await step('rotate')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await page.getByLabel('New credential').waitFor()
    await step('rotated')
    await goTo(page, '#/users?sort=refusals')
    await step('most-refused')
    await goTo(page, '#/errors?day=2026-08-05')
    await step('day')
    expect(complaints).toEqual([])
    expect(faults).toEqual([])
  })

  it('pages without data are accessible and fit every screen', async () => {
    const { page, faults } = await signedIn(await testGateway(), '#/overview', { viewport: DESK })
    const complaints: string[] = []
    for (const name of NAMES) {
      await goTo(page, `#/${name}`)
      await look(complaints, page, `empty-${name.replace('/', '-')}`)
    }
    expect([complaints, faults]).toEqual([[], []])
  })

  it('pages whose answers don’t come, and pages of a stopped gateway, are accessible and fit every screen', async () => {
    const gateway = await testGateway()
    const { page } = await signedIn(gateway, '#/settings', { viewport: DESK, isAlone: true })
    const complaints: string[] = []
    // Answers that come when they are no longer waited for.
    let answer = (): void => undefined
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/admin/**', async (route) => {
      await answered
      await route.continue().catch(() => undefined)
    })
    for (const name of NAMES.filter((each) => !['settings', 'nothing'].includes(each))) {
      await page.evaluate(`location.hash = '#/${name}'`)
      await page.locator('.skeleton').first().waitFor()
      await look(complaints, page, `slow-${name.replace('/', '-')}`)
    }
    answer()
    await page.unroute('**/admin/**')
    await goTo(page, '#/nothing')
    await gateway.stop()
    for (const name of NAMES.filter((each) => each !== 'nothing')) {
      await page.evaluate(`location.hash = '#/${name}'`)
      await page
        .locator(name === 'overview' ? '.notice' : '.notice.bad')
        .first()
        .waitFor()
      await look(complaints, page, `stopped-${name.replace('/', '-')}`)
    }
    expect(complaints).toEqual([])
  })

  it('every control is reachable with the Tab key and shows its focus', async () => {
    const gateway = await busyGateway(120 * 60_000)
    const { page } = await openConsole(gateway, { viewport: DESK })
    const complaints: string[] = []
    const tryKeys = async (name: string): Promise<void> => {
      complaints.push(...(await keyboardFaults(page)).map((fault) => `${name}: ${fault}`))
    }
    await tryKeys('sign-in')
    await signIn(page)
    await page.locator('nav.pages').waitFor()
    for (const name of Object.keys(PAGES)) {
      await goTo(page, `#/${name}`)
      await tryKeys(name)
    }
    expect(complaints).toEqual([])
  })

  it.runIf(process.env.CONSOLE_PICTURE === '1')(
    'the picture of the documentation is taken from the console',
    async () => {
      const gateway = await busyGateway(60_000)
      const { page } = await openConsole(gateway, { viewport: { width: 1180, height: 760 } })
      await signIn(page)
      await page.locator('nav.pages').waitFor()
      await goTo(page, '#/errors')
      await pointAtBurst(page)
      await page.screenshot({ path: DOCS_PICTURE })
    },
  )

  /** A page as people see it; in a quick run on each screen, and in one of the four looks each. */
  async function look(complaints: string[], page: Page, name: string, essential?: string): Promise<void> {
    const number = [...NAMES, 'sign-in'].findIndex((each) => name.endsWith(each.replace('/', '-')))
    const some = wantsPictures ? LOOKS.slice(0, 2) : [LOOKS[number % LOOKS.length] ?? LOOKS[0]]
    const looks = isDeep ? LOOKS : some
    for (const [language, theme] of looks) {
      await chooseLook(page, language, theme)
      await fits(complaints, page, { name, essential, of: `${language}-${theme}` })
    }
  }

  /** A page as it is, on each screen. */
  async function fits(complaints: string[], page: Page, { name, essential, of }: Looked): Promise<void> {
    for (const screen of SCREENS) {
      await page.setViewportSize(screen)
      if (!/^(?:slow|stopped)-/.test(name)) await settled(page)
      await page.evaluate('scrollTo(0, 0)')
      const found = [...(await screenFaults(page)), ...(await missing(page, essential))]
      // Sizes change little of what it looks at, and it takes its time.
      if (isDeep || screen === PHONE) found.push(...(await accessibilityFaults(page)))
      complaints.push(...found.map((fault) => `${name}, ${of}, ${screen.width}: ${fault}`))
      if (isDeep || wantsPictures) await picture(page, `${name}-${of}-${screen.width}`)
    }
  }
})

interface Looked {
  readonly name: string
  /** What has to be on the first screen of a phone. */
  readonly essential?: string | undefined
  /** The language and the theme. */
  readonly of: string
}

async function chooseLook(page: Page, language: string, theme: string): Promise<void> {
  await page.locator('header select').nth(0).selectOption(language)
  await page.locator('header select').nth(1).selectOption(theme)
}

/** What people come to a page for, where it is not on the first screen. */
async function missing(page: Page, essential: string | undefined): Promise<string[]> {
  const { width, height } = page.viewportSize() ?? PHONE
  if (essential === undefined || width > 640) return []
  const box = await page.locator(essential).first().boundingBox()
  const isOnScreen = box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + 20 <= height
  return isOnScreen ? [] : [`not on the first screen: ${essential}`]
}

/** A gateway with a week of traffic and a bad time in it, which the adaptive factor answered to; and some changes. */
async function busyGateway(stepMs: number): Promise<TestGateway> {
  const badFrom = START - 40 * HOUR_MS
  const gateway = await testGateway({ clock: manualClock(badFrom - HOUR_MS) })
  await changeSettings(gateway, { mode: 'adaptive' })
  await addOutcomes(gateway, badWeek(START, badFrom, 200))
  await tickUntil(gateway, badFrom + 8 * HOUR_MS, Math.min(stepMs, 10 * 60_000))
  await tickUntil(gateway, START, stepMs)
  const send = (method: string, path: string, body: object): Promise<unknown> =>
    gateway.send(method, path, { token: ADMIN_TOKEN, body })
  await send('PUT', '/admin/users/carol', { name: 'Carol', qq: 123_456_789 })
  for (const [id, name] of Object.entries(NAMED)) await send('PUT', `/admin/users/${id}`, { name })
  await send('PUT', '/admin/users/demo/quota', { overrides: { write: { '1h': 120 } } })
  await send('POST', '/admin/bots', { name: 'nightly' })
  await send('POST', '/admin/users/demo/tokens', { label: 'phone' })
  for (let count = 0; count < 10; count++) await gateway.send('POST', '/v1/user/music')
  const upsert = { body: { musicList: [ENTRY] } }
  for (let count = 0; count < 11; count++) await gateway.send('POST', '/v1/music/upsert', upsert)
  await makeNoise(gateway)
  await addUsers(gateway)
  return gateway
}

/** Many users, of whom some did something today; and errors. */
async function addUsers({ gateway: { app } }: TestGateway): Promise<void> {
  const day = Math.floor((START + 8 * HOUR_MS) / (24 * HOUR_MS))
  for (let from = 0; from < MANY_USERS; from += 500) {
    const numbers = Array.from({ length: 500 }, (_each, index) => from + index)
    const idOf = (number: number): string => `player-${String(number).padStart(5, '0')}`
    const users = numbers.map((number) => {
      const name = number % 3 === 0 ? idOf(number) : `Player ${number}`
      return { id: idOf(number), name, role: 'player' as const, created_at: START, touched_at: START }
    })
    await app.db.insertInto('users').values(users).execute()
    const days = numbers.map((number) => ({
      ...{ user_id: idOf(number), day, requests: number, tokens: number * 4, failures: 0, refusals: number % 7 },
      last_at: START - (number % 500) * 60_000,
    }))
    await app.db.insertInto('usage_days').values(days).execute()
  }
  const half_hour = Math.floor((START - 38 * HOUR_MS) / (HOUR_MS / 2))
  const errors = [
    ['POST /v1/update-lx', 0, 431],
    ['POST /v1/music/upsert', 503, 77],
    ['GET /me/quota', 500, 2],
  ] as const
  const rows = errors.map(([operation, status, count]) => {
    return { half_hour, operation, status, count, last_at: START - 37 * HOUR_MS }
  })
  await app.db.insertInto('error_counts').values(rows).execute()
}

/** Some who spend and are refused. */
async function makeNoise({ gateway: { app } }: TestGateway): Promise<void> {
  for (const subject of ['demo', 'carol', ...Object.keys(NAMED)]) {
    for (let count = 0; count < 5; count++) await app.quota.consume({ subject, operation: 'music.upsert' })
    await app.quota.consume({ subject, operation: 'user.music', cost: 100 })
  }
  await app.quota.consume({ subject: 'carol', operation: 'user.music', cost: 100 })
}

/** The pointer is on the middle of the bad time. */
async function pointAtBurst(page: Page): Promise<void> {
  const box = await page.locator('.plot .u-over').boundingBox()
  if (box === null) throw new Error('there is no chart')
  await page.mouse.move(box.x + box.width * (1 - 38 / 168), box.y + box.height / 2)
  await settled(page)
}
