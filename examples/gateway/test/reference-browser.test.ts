import { browserTests, type Locator, type Page } from '@scoregw/browser'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { carriedBy, keptBy, rememberedBy, type Watched, watchedPage } from './support/browser.ts'
import { type TestGateway, testGateway, USER_TOKEN } from './support/gateway.ts'

const BOT_TOKEN = 'bt_test-bot-0123456789'
const CHART_API_KEY = 'mk_test-key-0123456789'
const IN_BODY = 'typed-into-a-body-4711'
const HALF_TYPED = 'bt_half-typed-4713'
const TYPED = [BOT_TOKEN, IN_BODY, HALF_TYPED]

/** Other tests and their servers may have the machine. */
const WAITING = { timeout: 20_000 }
const isDeep = process.env.QUOTA_TEST_DEEP === '1'

describe.runIf(browserTests && slowTests)('the interactive reference in a browser', { timeout: 180_000 }, () => {
  /** A page of a gateway of its own. */
  async function reference(path: string): Promise<Watched & Pick<TestGateway, 'gateway'>> {
    const { gateway } = await testGateway({ env: { BOT_TOKEN, CHART_API_KEY } })
    const watched = await watchedPage({ isAlone: true })
    await watched.page.goto(`${gateway.addresses.gateway}/reference/${path}`)
    await operations(watched.page)
    return { ...watched, gateway }
  }

  it('choosing another service forgets everything that was typed, also for the way back', async () => {
    const watched = await reference('sync')
    const { page, requests, faults } = watched
    const sync = operation(page, 'Sync-sync')
    await authorize(page, BOT_TOKEN)
    await openOperation(sync)
    await sync.locator('textarea').fill(JSON.stringify({ qq: 1, note: IN_BODY }))
    expect(await execute(sync)).toBe('422')
    expect(await keptBy(page, TYPED)).toEqual([BOT_TOKEN, IN_BODY])
    expect(await carriedBy(requests, TYPED)).toEqual([BOT_TOKEN, IN_BODY])

    await forgets(watched, () => choose(page, 'Chart preview'))
    await forgets(watched, () => page.goBack())
    await openOperation(sync)
    const sent = requests.length
    expect(await execute(sync)).toBe('401')
    expect(await carriedBy(requests.slice(sent), TYPED)).toEqual([])

    // Typed, and not sent off yet.
    await typeCredential(page, HALF_TYPED)
    expect(await keptBy(page, TYPED)).toEqual([HALF_TYPED])
    await forgets(watched, () => page.goForward())
    await expect.poll(() => page.title(), WAITING).toBe('Chart preview - API reference')

    // Left and come back to, with a browser that keeps the pages it left.
    await typeCredential(page, HALF_TYPED)
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    expect(await keptBy(page, TYPED)).toEqual([])
    await forgets(watched, () =>
      page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"),
    )
    expect(faults).toEqual([])
  })

  it('requests go to each service with its own credential and nowhere else', async () => {
    const { page, requests, faults, gateway } = await reference(isDeep ? '' : 'sync')
    // Sixty operations take seconds to be read, twelve do not.
    if (isDeep) {
      const scores = operation(page, 'Score-readMusic')
      await authorize(page, USER_TOKEN)
      await openOperation(scores)
      expect(await execute(scores)).toBe('200')
      await choose(page, 'Score sync')
    }
    await authorize(page, BOT_TOKEN)
    const sync = operation(page, 'Sync-sync')
    await openOperation(sync)
    await sync.locator('textarea').fill(
      JSON.stringify({
        qq: 20_002,
        records: [{ song_id: 101, level_index: 3, type: 'SD', achievements: 100.5, dxScore: 1500, fc: '', fs: '' }],
      }),
    )
    expect(await execute(sync)).toBe('200')
    await expect.poll(() => sync.locator('.live-responses-table').textContent()).toContain('"imported": 1')

    await choose(page, 'Chart preview')
    await authorize(page, CHART_API_KEY)
    const chart = operation(page, 'Chart-readChart')
    await openOperation(chart)
    await chart.locator('tr[data-param-name="chartKey"] input').fill('101:standard:4')
    expect(await execute(chart)).toBe('200')

    const hosts = Object.values(gateway.addresses).map((address) => new URL(address).host)
    const others = requests.map((request) => new URL(request.url())).filter(({ host }) => host !== '')
    expect(others.filter(({ host }) => !hosts.includes(host)).map(({ href }) => href)).toEqual([])
    expect(faults).toEqual([])

    // The services do not answer pages of this origin.
    await expect.poll(() => page.locator('#home').isVisible()).toBe(false)
    await page.goto(page.url().replace('127.0.0.1', 'localhost'))
    await expect.poll(() => page.locator('#home').isVisible()).toBe(true)
  })
})

/** Waits until the operations of the chosen service are shown. */
async function operations(page: Page): Promise<void> {
  await page.locator('.opblock').first().waitFor()
}

/** Chooses another service, and waits until it is shown. */
async function choose(page: Page, service: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: service }).click()
  await shows(page, service)
}

/** Waits until the document of a service is there. */
async function shows(page: Page, service: string, title = 'API reference'): Promise<void> {
  await expect.poll(() => page.title().catch(() => ''), WAITING).toBe(`${service} - ${title}`)
  await operations(page)
}

/** Checks that an action loads another document, and that neither it nor any later request has earlier input. */
async function forgets({ page, requests }: Watched, act: () => Promise<unknown>): Promise<void> {
  await page.evaluate('window.isOldDocument = true')
  const sent = requests.length
  await act()
  await expect.poll(() => page.evaluate('"isOldDocument" in window').catch(() => true), WAITING).toBe(false)
  await operations(page)
  await expect.poll(() => page.locator('.auth-wrapper > .authorize.unlocked').count()).toBe(1)
  expect(await keptBy(page, TYPED)).toEqual([])
  expect(await carriedBy(requests.slice(sent), TYPED)).toEqual([])
  if (isDeep) expect(await rememberedBy(page, TYPED)).toEqual([])
}

async function typeCredential(page: Page, credential: string): Promise<void> {
  await page.locator('.auth-wrapper > .authorize').click()
  await page.locator('.auth-container input').fill(credential)
}

async function authorize(page: Page, credential: string): Promise<void> {
  await typeCredential(page, credential)
  await page.locator('.auth-btn-wrapper .authorize').click()
  await page.locator('.auth-btn-wrapper .btn-done').click()
}

function operation(page: Page, id: string): Locator {
  return page.locator(`#operations-${id}`)
}

async function openOperation(of: Locator): Promise<void> {
  await of.locator('.opblock-summary-control').click()
  await of.locator('.execute').waitFor()
}

/** Sends the request that was typed; resolves to the answer's status. */
async function execute(of: Locator): Promise<string | undefined> {
  await of.locator('.execute').click()
  const status = of.locator('.live-responses-table tbody .response-col_status').first()
  await status.waitFor()
  return (await status.textContent())?.trim().slice(0, 3)
}
