import { browserTests, type Locator, type Page } from '@scoregw/browser'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { accessibilityFaults } from './support/accessibility.ts'
import { carriedBy, keptBy, rememberedBy, type Watched, type WatchOptions, watchedPage } from './support/browser.ts'
import { picture } from './support/console.ts'
import { contrastOf } from './support/contrast.ts'
import { ENTRY, type TestGateway, testGateway, USER_TOKEN } from './support/gateway.ts'
import { screenFaults } from './support/screen-rules.ts'

const BOT_TOKEN = 'bt_test-bot-0123456789'
const CHART_API_KEY = 'mk_test-key-0123456789'
const IN_BODY = 'typed-into-a-body-4711'
const IN_PARAMETER = 'typed-into-a-parameter-4712'
const HALF_TYPED = 'gw_half-typed-4713'
const TYPED = [USER_TOKEN, IN_BODY, IN_PARAMETER, HALF_TYPED]

/** Other tests and their servers may have the machine. */
const WAITING = { timeout: 20_000 }

/** For people to look at, whatever else is run. */
const wantsPictures = process.env.CONSOLE_PICTURES === '1'
const isDeep = process.env.QUOTA_TEST_DEEP === '1'

describe.runIf(browserTests && slowTests)(
  'the interactive reference in a browser',
  { timeout: isDeep ? 600_000 : 180_000 },
  () => {
    /** The page of a gateway of its own. */
    async function reference(
      hash = '',
      options: WatchOptions = {},
    ): Promise<Watched & Pick<TestGateway, 'gateway' | 'send'>> {
      const { gateway, send } = await testGateway({ env: { BOT_TOKEN, CHART_API_KEY } })
      const watched = await watchedPage(options)
      await watched.page.goto(`${gateway.addresses.gateway}/reference/${hash}`)
      await operations(watched.page)
      return { ...watched, gateway, send }
    }

    it.runIf(isDeep)('choosing another service clears everything that was typed', async () => {
      const watched = await reference('', { isAlone: true })
      const { page, requests, faults } = watched
      const upsert = operation(page, 'Score-upsertMusic')
      const charge = operation(page, 'Ticket-buyTicket')

      await authorize(page, USER_TOKEN)
      await openOperation(charge)
      await charge.locator('tr[data-param-name="Idempotency-Key"] input').fill(IN_PARAMETER)
      await openOperation(upsert)
      await upsert.locator('textarea').fill(JSON.stringify({ musicList: [], note: IN_BODY }))
      expect(await execute(upsert)).toBe('422')
      const everything = [USER_TOKEN, IN_BODY, IN_PARAMETER]
      expect(await keptBy(page, TYPED)).toEqual(everything)
      expect(await carriedBy(requests, TYPED)).toEqual([USER_TOKEN, IN_BODY])
      if (isDeep) expect(await rememberedBy(page, TYPED)).toEqual(everything)

      await forgets(watched, () => choose(page, 'Score sync'))
      await forgets(watched, () => choose(page, 'Gateway'))
      await openOperation(charge)
      await openOperation(upsert)
      expect(await keptBy(page, TYPED)).toEqual([])
      const sent = requests.length
      expect(await execute(upsert)).toBe('401')
      expect(await carriedBy(requests.slice(sent), TYPED)).toEqual([])
      expect(faults).toEqual([])
      if (!isDeep) return

      // Typed, and not sent off yet.
      await typeCredential(page, HALF_TYPED)
      expect(await keptBy(page, TYPED)).toEqual([HALF_TYPED])
      await forgets(watched, () => page.goBack())
      await expect.poll(() => page.title()).toBe('Score sync - API reference')

      await authorize(page, HALF_TYPED)
      await forgets(watched, () => page.reload())
      await authorize(page, HALF_TYPED)
      await forgets(watched, () => page.goForward())
      await expect.poll(() => page.title()).toBe('Gateway - API reference')

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
      const { page, requests, faults, gateway } = await reference(isDeep ? '' : '#sync')
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
    })

    it.runIf(isDeep)(
      'the reference finds operations, shows price and remaining quota, and opens the requested one',
      async () => {
        const { page, faults, send } = await reference('', { viewport: { width: 390, height: 844 } })
        const complaints: string[] = []
        const look = async (what: string, isChecked = isDeep): Promise<void> => {
          for (const scheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme: scheme })
            await painted(page)
            // The checker takes its time where there are many operations.
            const controls =
              what === 'authorize' ? '.modal-ux button' : '.opblock-summary button, .auth-wrapper .authorize'
            for (const control of await page.locator(controls).all()) {
              if (!(await control.isVisible()) || (await contrastOf(control)) >= 3) continue
              complaints.push(`${what}, ${scheme}: not visible: ${await control.getAttribute('aria-label')}`)
            }
            const found = [...(await screenFaults(page)), ...(isChecked ? await accessibilityFaults(page) : [])]
            complaints.push(...found.map((fault) => `${what}, ${scheme}: ${fault}`))
            if (wantsPictures) await picture(page, `reference-${what}-${scheme}`)
          }
        }
        const all = await page.locator('.opblock').count()
        await page.getByRole('searchbox', { name: 'Filter operations' }).fill('put ADMIN/users')
        await expect.poll(() => page.locator('.opblock').count()).toBe(2)
        await page.getByRole('searchbox').fill('')
        await expect.poll(() => page.locator('.opblock').count()).toBe(all)
        await page.getByRole('searchbox').fill('upsertMusic')

        const upsert = operation(page, 'Score-upsertMusic')
        await openOperation(upsert)
        const price = upsert.locator('.price')
        await expect
          .poll(() => price.textContent())
          .toBe('Costs 15 write tokens, unless administrators set another price.')
        await authorize(page, USER_TOKEN)
        await price.getByText('You have 60 write tokens left.').waitFor()
        await upsert.getByRole('textbox', { name: 'Request body' }).fill(JSON.stringify({ musicList: [ENTRY] }))
        expect(await execute(upsert)).toBe('200')
        await price.getByText('You have 45 write tokens left.').waitFor()
        expect((await send('GET', '/me/quota')).body.windows.write[0].remaining).toBe(45)

        // A click on the open operation forgets nothing.
        await page.getByRole('tab', { name: 'Gateway' }).click()
        await painted(page)
        await expect.poll(() => upsert.locator('textarea').inputValue()).toContain('musicList')

        const closed = upsert.locator('tr.response.closed')
        const answers = await upsert.locator('tr.response').count()
        await expect.poll(async () => [answers > 5, await closed.count()]).toEqual([true, answers - 1 - 1])
        await look('operation', true)
        await upsert.getByRole('button', { name: 'Show what 422 looks like' }).click()
        await expect.poll(() => closed.count()).toBe(answers - 3)
        await page.locator('.auth-wrapper > .authorize').click()
        await look('authorize')
        await page.locator('.auth-btn-wrapper .btn-done').click()

        await page.getByRole('link', { name: '简体中文' }).click()
        await shows(page, '网关', 'API 参考')
        await page.getByRole('searchbox', { name: '筛选操作' }).fill('upsertMusic')
        await openOperation(upsert)
        await expect.poll(() => price.textContent()).toBe('消耗 15 点写入额度，除非管理员另行定价。')
        await upsert.getByRole('button', { name: '执行' }).waitFor()
        expect(await keptBy(page, TYPED)).toEqual([])
        await look('zh')
        expect(complaints).toEqual([])
        expect(faults).toEqual([])
      },
    )

    it.runIf(isDeep)('the reference is usable with a keyboard, on a phone and in the dark', async () => {
      const { page, faults } = await reference('#charts', {
        colorScheme: 'dark',
        viewport: { width: 360, height: 740 },
      })
      await authorize(page, HALF_TYPED)
      await page.getByRole('tab', { name: 'Chart preview' }).focus()
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowRight')
      await expect.poll(() => page.locator(':focus').textContent()).toBe('Score sync')
      expect([await page.title(), await keptBy(page, TYPED)]).toEqual(['Chart preview - API reference', []])
      await page.keyboard.press('Enter')
      // The address changes before the document does.
      await shows(page, 'Score sync')
      await expect.poll(() => page.getByRole('tab', { selected: true }).allTextContents()).toEqual(['Score sync'])
      await expect.poll(() => page.getByRole('tabpanel').getByRole('heading', { name: 'Score sync' }).count()).toBe(1)
      await openOperation(operation(page, 'Sync-sync'))
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await expect.poll(() => page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(28, 32, 34)')
      await expect.poll(() => page.locator('#home').isVisible()).toBe(false)
      expect(faults).toEqual([])

      // The services do not answer pages of this origin.
      await page.goto(page.url().replace('127.0.0.1', 'localhost'))
      await expect.poll(() => page.locator('#home').isVisible()).toBe(true)
    })
  },
)

/** Waits until what has changed is on the screen, and named. */
async function painted(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve))))',
  )
}

/** Waits until the operations of the chosen service are shown. */
async function operations(page: Page): Promise<void> {
  await page.locator('.opblock').first().waitFor()
}

/** Chooses another service, and waits until it is shown. */
async function choose(page: Page, service: string): Promise<void> {
  await page.getByRole('tab', { name: service }).click()
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
