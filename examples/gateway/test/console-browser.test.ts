import { browserTests, type Page } from '@scoregw/browser'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { openSqlite } from '../src/db/sqlite.ts'
import { OPERATION_NAMES, policy } from '../src/quota/policy.ts'
import { carriedBy, keptBy, rememberedBy } from './support/browser.ts'
import {
  addOutcomes,
  badWeek,
  changeSettings,
  changesIn,
  chooseIn,
  confirmedSave,
  field,
  goTo,
  openConsole,
  picture,
  save,
  screenAndAccessibilityFaults,
  searchIn,
  section,
  settled,
  signedIn,
  signIn,
} from './support/console.ts'
import { ADMIN_TOKEN, ENTRY, HOUR_MS, START, type TestGateway, testGateway, USER_TOKEN } from './support/gateway.ts'
import { shared } from './support/shared.ts'
import { closedInTheEnd } from './support/test-database.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'
const MODES = ['conservative', 'normal', 'lenient', 'custom'] as const

describe.runIf(browserTests)('the console in a browser', () => {
  it('the console lets administrators in, never stores their token, and forgets it at sign-out', async () => {
    const gateway = await testGateway()
    const { page, requests, faults } = await openConsole(gateway, { isAlone: true })
    // As Chromium has it where the system's language is `POSIX`.
    await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })`)
    await page.reload()
    await signIn(page, 'gw_not-a-token')
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('token isn’t valid')
    await signIn(page, USER_TOKEN)
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('isn’t an administrator')
    await signIn(page, ADMIN_TOKEN)
    await page.locator('nav.pages').waitFor()
    expect(await keptBy(page, [ADMIN_TOKEN])).toEqual([])
    await expect.poll(() => storages(page)).toEqual(['', '', ''])

    await chooseIn(page, 'Language', 'zh-CN')
    await chooseIn(page, '外观', 'dark')
    const reloaded = page.waitForEvent('domcontentloaded')
    await page.getByRole('button', { name: '退出登录' }).click()
    await reloaded
    await page.getByRole('heading', { name: '登录' }).waitFor()
    // What a person prefers stays; the token does not.
    await expect.poll(() => page.evaluate('getComputedStyle(document.body).colorScheme')).toBe('dark')
    await expect
      .poll(() => storages(page))
      .toEqual(['{"score-gateway-console.language":"zh-CN","score-gateway-console.theme":"dark"}', '', ''])
    expect(await keptBy(page, [ADMIN_TOKEN])).toEqual([])
    if (isDeep) expect(await rememberedBy(page, [ADMIN_TOKEN])).toEqual([])

    const { host } = new URL(gateway.gateway.addresses.gateway)
    expect([...new Set(requests.map((request) => new URL(request.url()).host))]).toEqual([host])
    const withToken = (
      await Promise.all(
        requests.map(async (each) => ((await carriedBy([each], [ADMIN_TOKEN])).length > 0 ? [each.url()] : [])),
      )
    ).flat()
    expect(withToken.every((url) => new URL(url).pathname.startsWith('/admin/'))).toBe(true)
    expect(faults).toEqual([])
  })

  it.runIf(isDeep)('the console shows the limits of each mode, and they are the effective ones', async () => {
    const gateway = await testGateway()
    const { page, faults } = await signedIn(gateway)
    const prices = page.locator('.prices tbody tr')
    const { operations } = policy
    await expect
      .poll(async () => (await prices.allTextContents()).sort())
      .toEqual(OPERATION_NAMES.map((name) => `${name}${operations[name].cost}`).sort())

    await page.getByRole('button', { name: 'Copy base values' }).click()
    await field(page, 'Custom value: Personal, read, 1 hour').fill('77')
    await field(page, 'Base value: Personal, write, 1 hour').fill('61')
    await page.getByLabel('Multiplier of the site-wide limits').fill('1.5')
    for (const mode of MODES) {
      await page.locator(`input[name=mode][value=${mode}]`).check()
      const shown = await shownLimits(page)
      await save(page)
      expect([mode, await limitsOf(gateway)]).toEqual([mode, shown])
    }
    await page.locator('input[name=mode][value=adaptive]').check()
    const ranges = ['90–180now 120', '45–91now 61', '3,375–6,750now 4,500']
    await expect.poll(() => shownLimits(page)).toEqual(expect.arrayContaining(ranges))
    await page.getByRole('button', { name: 'Discard changes' }).click()

    await page.getByRole('switch', { name: 'Site-wide limits apply' }).uncheck()
    await field(page, 'Price of user.music').fill('11')
    await save(page)
    expect((await limitsOf(gateway)).slice(6)).toEqual([])
    await gateway.send('POST', '/v1/user/music')
    expect((await gateway.send('GET', '/me/quota')).body.windows.read[0]).toMatchObject({ limit: 77, used: 11 })

    // Input is checked before it is sent, and stored values without effect are reported.
    await field(page, 'Price of user.music').fill('-1')
    await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(1)
    await field(page, 'Base value: Site-wide, read, 1 day').fill('1e5')
    await page.getByLabel('Multiplier of the site-wide limits').fill('4.001')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(3)
    expect(await settingsOf(gateway)).toMatchObject({ prices: { 'user.music': 11 } })
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(0)
    await field(page, 'Custom value: Personal, write, 1 hour').fill('3')
    await save(page)
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('music.upsert')
    expect((await gateway.send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })).status).toBe(429)

    await page.locator('input[name=mode][value=normal]').check()
    await page.getByRole('button', { name: 'Clear custom values' }).click()
    await field(page, 'Price of user.music').fill('')
    await save(page)
    const { body } = await gateway.send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
    expect(body).toMatchObject({ mode: 'normal', custom: null, prices: {}, site: { enabled: false, multiplier: 1.5 } })
    expect(faults).toEqual([])
  })

  it('the limits show faults at their fields, and the save bar only with changes', async () => {
    const gateway = await testGateway()
    const { page, faults } = await signedIn(gateway, '#/settings', { viewport: { width: 390, height: 844 } })
    const saves = page.getByRole('button', { name: 'Save', exact: true })
    await field(page, 'Base value: Personal, read, 1 hour').waitFor()
    await expect.poll(() => saves.count()).toBe(0)
    // On a phone the limit after saving stands beside its value.
    const value = field(page, 'Base value: Personal, read, 1 hour')
    await value.fill('200')
    await page.locator('input[name=mode][value=lenient]').check()
    const result = page.locator('.limits tbody tr', { has: value }).locator('td.after')
    await expect.poll(() => result.textContent()).toBe('300')
    const box = (await result.boundingBox())!
    expect(box.x + box.width).toBeLessThanOrEqual(390)
    // Custom values are folded until they are wanted.
    const custom = field(page, 'Custom value: Personal, read, 1 hour')
    await expect.poll(() => custom.count()).toBe(0)
    await page.getByRole('button', { name: 'Show custom values' }).click()
    await custom.waitFor()

    await field(page, 'Price of user.data').fill('-1')
    await saves.click()
    await page.locator('[aria-invalid=true]').waitFor()
    await page.getByText('Nothing was saved. Correct the marked fields.').waitFor()
    await field(page, 'Price of user.data').fill('3')
    await save(page)
    await expect.poll(() => saves.count()).toBe(0)
    // The button is gone; the keyboard goes on from what says so.
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Saved.')
    expect(await settingsOf(gateway)).toMatchObject({ mode: 'lenient', prices: { 'user.data': 3 } })
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('the second administrator who saves settings sees what the first one changed, and saves again', async () => {
    const gateway = await testGateway()
    const [first, second] = await Promise.all([signedIn(gateway), signedIn(gateway)])
    await field(second.page, 'Base value: Personal, read, 1 hour').fill('200')
    await field(second.page, 'Base value: Personal, read, 5 hours').fill('700')
    await second.page.getByLabel('Multiplier of the site-wide limits').fill('2')

    await field(first.page, 'Base value: Personal, read, 1 hour').fill('300')
    await first.page.locator('input[name=mode][value=lenient]').check()
    await first.page.getByLabel('Multiplier of the site-wide limits').fill('2')
    await save(first.page)

    const trySaving = async (...theirs: readonly string[]): Promise<void> => {
      await second.page.getByRole('button', { name: 'Save', exact: true }).click()
      const notice = second.page.getByRole('alert').filter({ hasText: 'Someone else saved first' })
      await expect.poll(() => notice.locator('li').allTextContents()).toEqual(theirs)
    }
    await trySaving(
      'Mode: Normal → Lenient',
      'Base value: Personal, read, 1 hour: 120 → 300',
      'Multiplier of the site-wide limits: 1 → 2',
    )
    expect(await settingsOf(gateway)).toMatchObject({ version: 1, mode: 'lenient' })
    // What both changed to the same is no change any more.
    await expect
      .poll(() => changesIn(second.page))
      .toEqual(['Base value: Personal, read, 1 hour: 300 → 200', 'Base value: Personal, read, 5 hours: 400 → 700'])
    if (isDeep) await picture(second.page, 'conflict-en-light')

    // And another change is faster once more.
    await changeSettings(gateway, { prices: { 'user.data': 3 } })
    await trySaving('Price of user.data: default → 3')
    await save(second.page)
    expect(await settingsOf(gateway)).toMatchObject({
      version: 3,
      mode: 'lenient',
      base: { personal: { read: { '1h': 200, '5h': 700 } } },
      site: { multiplier: 2 },
      prices: { 'user.data': 3 },
    })
    expect([...first.faults, ...second.faults]).toEqual([])
  })

  describe('a user’s page in the console', () => {
    const opened = shared(async () => {
      const gateway = await testGateway()
      const { page, faults } = await openConsole(gateway, { isAlone: true })
      await page.clock.install()
      await signIn(page)
      await page.getByRole('link', { name: 'Users' }).click()
      await page.getByRole('button', { name: 'New user' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Id', { exact: true }).fill('demo')
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.getByText('A user with this id already exists.').waitFor()
      await dialog.getByLabel('Id', { exact: true }).fill('eve#1%?')
      await dialog.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('heading', { name: 'eve#1%?' }).waitFor()
      await settled(page)
      const path = `/admin/users/${encodeURIComponent('eve#1%?')}`
      const read = async (rest: string): Promise<ReturnType<typeof JSON.parse>> =>
        (await gateway.send('GET', `${path}${rest}`, { token: ADMIN_TOKEN })).body

      const tokens = section(page, 'Tokens')
      await tokens.getByLabel('Label').fill('phone')
      await tokens.getByRole('button', { name: 'Issue a token' }).click()
      const token = await tokens.getByLabel('New credential').inputValue()
      expect((await gateway.send('POST', '/v1/user/music', { token })).status).toBe(200)
      return { gateway, page, faults, path, read, tokens, token }
    })

    it('the page of a new user shows a token once and copies it', async () => {
      const { page, tokens, token } = opened()
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await tokens.getByRole('button', { name: 'Copy' }).click()
      await tokens.getByRole('button', { name: 'Copied', exact: true }).waitFor()
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(token)
      await tokens.getByRole('button', { name: 'I’ve copied it' }).click()
      await expect.poll(() => keptBy(page, [token])).toEqual([])
    })

    it('a user’s limits and bypass are saved, with a warning below a price', async () => {
      const { gateway, page, read, token } = opened()
      const limits = section(page, 'This user’s limits')
      await limits.getByLabel('Read, 1 hour').fill('9')
      await limits.getByLabel('Write, 1 day').fill('0')
      await limits.getByRole('switch').check()
      await expect
        .poll(() => changesIn(limits))
        .toEqual([
          'Read, 1 hour: default → 9',
          'Write, 1 day: default → 0: blocks this user',
          'Site-wide limits don’t apply to this user: off → ✓',
        ])
      await confirmedSave(page, limits)
      expect(await read('/quota')).toMatchObject({
        overrides: { read: { '1h': 9, '5h': null }, write: { '1d': 0 } },
        bypassSite: true,
      })
      await expect.poll(() => limits.getByRole('alert').textContent()).toContain('below the price')
      expect((await gateway.send('POST', '/v1/ticket/clear', { token, body: {} })).status).toBe(429)
      expect((await gateway.send('POST', '/v1/user/music', { token })).status).toBe(200)
    })

    it('a user’s usage updates by itself and can be reset', async () => {
      const { gateway, page, token } = opened()
      const usage = section(page, 'Current usage')
      const hour = usage.getByRole('meter', { name: 'Personal, read, 1 hour' })
      // The bars are requested again by themselves.
      const full = async (): Promise<number> => Number(await hour.getAttribute('value'))
      await page.clock.fastForward(5_000)
      await expect.poll(full).toBeCloseTo(8 / 9, 5)
      await expect.poll(() => usage.getByRole('meter').count()).toBe(6)
      await usage.getByRole('button', { name: 'Reset' }).click()
      await page.getByRole('dialog').getByLabel('Which requests').selectOption('read')
      await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
      await expect.poll(full).toBe(0)
      expect((await gateway.send('POST', '/v1/user/music', { token })).status).toBe(200)
    })

    it('a user’s limits that another administrator changed meanwhile keep both changes', async () => {
      const { gateway, page, path, read } = opened()
      const limits = section(page, 'This user’s limits')
      await limits.getByRole('button', { name: 'Use defaults' }).click()
      // Another administrator changes the same user's limits meanwhile.
      const body = { overrides: { read: { '1h': 9, '1d': 5 }, write: { '1d': 0 } }, bypassSite: true }
      await gateway.send('PUT', `${path}/quota`, { token: ADMIN_TOKEN, body })
      await limits.getByRole('button', { name: 'Save', exact: true }).click()
      await expect
        .poll(() => limits.getByRole('alert').locator('li').allTextContents())
        .toEqual(['Read, 1 day: default → 5'])
      await save(limits)
      expect(await read('/quota')).toMatchObject({ overrides: { read: { '1h': null, '1d': 5 } }, bypassSite: false })
    })

    it('a user’s profile is saved, and a new administrator needs a confirmation', async () => {
      const { gateway, page, read, token } = opened()
      const profile = section(page, 'Profile')
      await profile.getByLabel('Name').fill('Eve 伊芙')
      await profile.getByLabel('Role').selectOption('admin')
      await profile.getByLabel('Linked QQ').fill('55555')
      await profile.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('dialog').getByText('Role: Player → Administrator: can change everything here').waitFor()
      expect(await read('')).toMatchObject({ name: 'eve#1%?', role: 'player' })
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      await confirmedSave(page, profile)
      expect((await gateway.send('GET', '/admin/quota/settings', { token })).status).toBe(200)
    })

    it('a user’s credits can be set, and not below 0', async () => {
      const { page, read } = opened()
      const credits = section(page, 'Ticket credits')
      await credits.getByLabel('Balance').fill('-3')
      await credits.getByRole('button', { name: 'Save', exact: true }).click()
      await credits.getByText('Enter a whole number from 0 to 1,000,000,000.').waitFor()
      await credits.getByText('Nothing was saved.').waitFor()
      await credits.getByLabel('Balance').fill('1,234')
      await save(credits)
      expect(await read('')).toMatchObject({ balance: 1_234 })
    })

    it('a revoked token disappears and stops working', async () => {
      const { gateway, page, tokens, token } = opened()
      await tokens.getByRole('button', { name: 'Revoke phone' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await tokens.getByText('This user has no tokens.').waitFor()
      expect((await gateway.send('POST', '/v1/user/music', { token })).status).toBe(401)
    })

    it('the users list finds the beginnings of names', async () => {
      const { page, faults } = opened()
      await page.getByRole('link', { name: 'All users' }).click()
      await searchIn(page).fill('eve 伊')
      await expect
        .poll(() => page.locator('tbody tr').allTextContents())
        .toEqual([expect.stringMatching(/^eve#1%\? Administrator\s*Eve 伊芙 · QQ 55555/)])
      await searchIn(page).fill('nobody like this')
      await page.getByText('No id or name begins with “nobody like this”.').waitFor()
      expect(faults).toEqual([])
    })
  })

  it('the console can be used with only a keyboard', async () => {
    const gateway = await testGateway()
    const { page, faults } = await openConsole(gateway, { viewport: { width: 360, height: 740 } })
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await page.locator('#token').focus()
    await page.keyboard.type(ADMIN_TOKEN)
    await press('Enter')
    await page.locator('nav.pages').waitFor()
    await settled(page)
    await page.locator('header select').first().focus()
    // Where the focus is as soon as the page is another one, before anything is painted.
    await page.evaluate(`new MutationObserver(() => {
      if (document.querySelector('h1')?.textContent === 'Users') window.focusedAtOnce ??= document.activeElement.id
    }).observe(document.body, { childList: true, subtree: true, characterData: true })`)
    // Past both selections and signing out, to the third page.
    await press('Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Enter')
    await page.getByRole('heading', { name: 'Users' }).waitFor()
    expect(await page.evaluate('[window.focusedAtOnce, document.activeElement.id]')).toEqual(['content', 'content'])
    await press('Tab', 'Tab', 'Tab', 'Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('frank')
    await press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => page.locator(':focus').textContent()).toBe('New user')
    await press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('frank')
    await press('Enter')
    await page.getByRole('heading', { name: 'frank' }).waitFor()
    await goTo(page, '#/settings')
    await page.locator('input[name=mode]:checked').focus()
    await press('ArrowRight')
    await expect.poll(() => page.locator('input[name=mode]:checked').inputValue()).toBe('lenient')
    await expect.poll(() => changesIn(page)).toEqual(['Mode: Normal → Lenient'])
    await press('Enter')
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await settingsOf(gateway)).toMatchObject({ mode: 'lenient' })
    expect(faults).toEqual([])
  })

  it.runIf(isDeep)('the console stays fast with 10,000 users and a week of data', async () => {
    const gateway = await testGateway({ clock: manualClock(START - HOUR_MS) })
    const db = await closedInTheEnd(openSqlite(gateway.dataDir))
    for (let from = 0; from < 10_000; from += 1_000) {
      const rows = Array.from({ length: 1_000 }, (_each, index) => {
        const id = `player-${String(from + index).padStart(5, '0')}`
        return { id, name: `Player ${from + index}`, role: 'player' as const, created_at: START, touched_at: START }
      })
      await db.insertInto('users').values(rows).execute()
    }
    await addOutcomes(gateway, badWeek(START - HOUR_MS, START - 9 * HOUR_MS, 60))
    const { page, faults } = await signedIn(gateway)
    const timed = async (what: string, act: () => Promise<unknown>): Promise<void> => {
      const started = performance.now()
      await act()
      const ms = performance.now() - started
      console.log(`${what}: ${ms.toFixed(0)} ms`)
      expect(ms).toBeLessThan(10_000)
    }
    await timed('first page of users', () => goTo(page, '#/users'))
    await timed('next page of users', async () => {
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByRole('link', { name: 'player-00048' }).waitFor()
    })
    await timed('a search that finds one at the end', async () => {
      await searchIn(page).fill('player 9999')
      await page.getByRole('link', { name: 'player-09999' }).waitFor()
    })
    await timed('the page of one user', async () => {
      await page.getByRole('link', { name: 'player-09999' }).click()
      await page.getByRole('heading', { name: 'player-09999' }).waitFor()
      await settled(page)
    })
    await timed('a week of errors', async () => {
      await goTo(page, '#/errors')
      await page.locator('.u-over').waitFor()
    })
    await timed('the week as a table', async () => {
      await page.getByText('Show the failures as a table').click()
      await page.locator('details tbody tr').nth(100).waitFor()
    })
    expect(faults).toEqual([])
  })
})

/** The twelve limits after saving, as the table shows them before. */
function shownLimits(page: Page): Promise<string[]> {
  return page.locator('.limits td.after').allTextContents()
}

/** The limits that hold for the demo's user: personal and site-wide, read and write. */
async function limitsOf({ send }: TestGateway): Promise<string[]> {
  const { windows } = (await send('GET', '/me/quota')).body
  const limit = (scope: string): string[] =>
    [...windows.read, ...windows.write]
      .filter((window) => window.scope === scope)
      .map((window) => window.limit.toLocaleString('en'))
  return [...limit('Personal'), ...limit('Site')]
}

async function settingsOf({ send }: TestGateway): Promise<unknown> {
  return (await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })).body
}

/** What local storage, session storage and cookies hold. */
function storages(page: Page): Promise<string[]> {
  return page.evaluate(
    '[localStorage, sessionStorage].map((each) => each.length === 0 ? "" : JSON.stringify(Object.fromEntries(Object.entries(each).sort()))).concat(document.cookie)',
  )
}
