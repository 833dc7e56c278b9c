import { browserTests, type Locator } from '@scoregw/browser'
import { adaptiveLaw, initialFactor } from '@scoregw/quota/adaptive'
import { sqlFactor } from '@scoregw/quota-sql'
import { manualClock } from '@scoregw/quota-testkit'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { COUNTERS } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import {
  addOutcomes,
  badWeek,
  changeSettings,
  changesIn,
  chooseIn,
  goTo,
  save,
  screenAndAccessibilityFaults,
  section,
  signedIn,
  tickUntil,
} from './support/console.ts'
import { ADMIN_TOKEN, HOUR_MS, START, testGateway } from './support/gateway.ts'
import { shared } from './support/shared.ts'
import { closedInTheEnd } from './support/test-database.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'

describe.runIf(browserTests && slowTests)('pages of the console', () => {
  it('an invalid id in a link sends no request, so the token goes nowhere else', async () => {
    const { page, requests } = await signedIn(await testGateway())
    const before = requests.length
    for (const id of ['..', '.', '%2e%2e', '..%2f..%2fadmin', 'a%20b']) {
      await goTo(page, `#/users/${id}`)
      await page.getByText('Page not found').waitFor()
    }
    const withToken = requests.slice(before).filter((request) => 'authorization' in request.headers())
    expect(withToken.map((request) => request.url())).toEqual([])
    await goTo(page, '#/users/demo')
    await expect
      .poll(() => requests.slice(before).map((request) => new URL(request.url()).pathname))
      .toContain('/admin/users/demo/quota')
  })

  it('the console issues and revokes bot and chart credentials and shows who did what', async () => {
    const gateway = await testGateway({ env: { BOT_TOKEN: 'bt_test-bot-0123456789' } })
    const { page, faults } = await signedIn(gateway, '#/credentials')
    const { sync, charts } = gateway.gateway.addresses
    const statusWith = async (kind: string, token: string): Promise<number> => {
      const [url, name] =
        kind === 'Bot tokens' ? [`${sync}/api/bot/sync`, 'Bot-Token'] : [`${charts}/api/v1/charts`, 'X-API-Key']
      const method = kind === 'Bot tokens' ? 'POST' : 'GET'
      return (await fetch(url, { method, headers: { [name]: token } })).status
    }
    for (const [kind, name] of [
      ['Bot tokens', 'Bot name'],
      ['Chart keys', 'Key name'],
    ] as const) {
      const list = section(page, kind)
      await list.getByLabel(name).fill('nightly')
      await list.getByRole('button', { name: 'Issue' }).click()
      const token = await list.getByLabel('New credential').inputValue()
      expect([kind, await statusWith(kind, token)]).not.toEqual([kind, 401])
      await list.getByRole('button', { name: 'Revoke nightly' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect([kind, await statusWith(kind, token)]).toEqual([kind, 401])
      await list.getByLabel('New credential').waitFor({ state: 'detached' })
    }

    await goTo(page, '#/audit')
    const entries = page.locator('.audit > li')
    await expect.poll(() => entries.count()).toBe(4)
    await expect.poll(() => entries.nth(3).textContent()).toMatch(/^issued a bot token .*name: nightlyadmin.*#1$/)
    // Others go on meanwhile; pages neither lack nor repeat anything.
    const body = { add: 1 }
    const topUp = (): Promise<unknown> =>
      gateway.send('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body })
    await Promise.all(Array.from({ length: 60 }, topUp))
    await page.getByRole('button', { name: 'Reload' }).click()
    await expect.poll(() => entries.count()).toBe(50)
    const seqs = await numbers(entries)
    await page.getByRole('button', { name: 'Next page' }).click()
    await expect.poll(() => entries.count()).toBe(14)
    expect([...seqs, ...(await numbers(entries))]).toEqual(Array.from({ length: 64 }, (_each, index) => 64 - index))
    await expect.poll(() => page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Previous page' }).click()
    await expect.poll(() => entries.count()).toBe(50)
    expect(faults).toEqual([])
  })

  describe.runIf(isDeep)('the errors page', () => {
    const opened = shared(async () => {
      const badFrom = START - 3 * HOUR_MS
      const gateway = await testGateway({ clock: manualClock(badFrom) })
      await changeSettings(gateway, { mode: 'adaptive' })
      const { page, faults } = await signedIn(gateway, '#/errors')
      await page.getByText('The factor hasn’t moved yet.').waitFor()

      await addOutcomes(gateway, badWeek(START, badFrom, 30).slice(-360))
      await tickUntil(gateway, START, 10 * 60_000)
      await goTo(page, '#/audit')
      await goTo(page, '#/errors')
      const { series } = (await gateway.send('GET', '/admin/usage/failure-rate', { token: ADMIN_TOKEN })).body
      const bad = series.findIndex((bucket: { codeZero: number }) => bucket.codeZero > 50)
      const { calls, codeZero } = series[bad]
      const readout = page.locator('.readout')
      const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 }).format(codeZero / calls)
      const shown = `${codeZero} (${share})`
      return { gateway, page, faults, series, bad, codeZero, shown, readout, slider: page.getByRole('slider') }
    })

    it('the errors page shows the outcomes of a step at the pointer', async () => {
      const { page, series, bad, shown, readout } = opened()
      await expect.poll(() => page.locator('.totals').textContent()).toContain('The last 7 days')
      // By pointer: the middle of the bar.
      const box = (await page.locator('.u-over').boundingBox())!
      await page.mouse.move(box.x + ((bad + 0.5) / series.length) * box.width, box.y + 20)
      await expect.poll(() => readout.textContent()).toContain(shown)
      // Beside the pointer, and on the chart.
      const [label, plot] = [(await readout.boundingBox())!, (await page.locator('.plot').boundingBox())!]
      const pointer = box.x + ((bad + 0.5) / series.length) * box.width
      expect(Math.min(Math.abs(label.x - pointer), Math.abs(label.x + label.width - pointer))).toBeLessThan(24)
      expect([label.x >= plot.x, label.x + label.width <= plot.x + plot.width]).toEqual([true, true])
      await expect.poll(() => page.locator('.of-time').textContent()).toMatch(/^Time in \S+ \(UTC([+-]\d\d:\d\d)?\)/)
    })

    it('the errors page shows the outcomes of a step by keys', async () => {
      const { page, series, bad, shown, readout, slider } = opened()
      // By keys, from the end.
      await page.mouse.move(0, 0)
      await slider.focus()
      await page.keyboard.press('End')
      for (let step = series.length - 1; step > bad; step--) await page.keyboard.press('ArrowLeft')
      await expect.poll(() => readout.textContent()).toContain(shown)
      await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe(String(bad + 1))
    })

    it('the errors page shows the chart as a table', async () => {
      const { page, series, codeZero } = opened()
      await page.getByText('Show the failures as a table').click()
      const rows = page.locator('details tbody tr')
      const failed = series.filter((bucket: { failureRate: number }) => bucket.failureRate > 0)
      await expect.poll(() => rows.count()).toBe(failed.length)
      await expect
        .poll(async () => (await rows.allTextContents()).filter((text) => text.includes(`%${codeZero}`)))
        .toHaveLength(1)
    })

    it('the errors page lists the factor’s moves with their reasons', async () => {
      const { gateway, page } = opened()
      const { history } = (await gateway.send('GET', '/admin/quota/adaptive', { token: ADMIN_TOKEN })).body
      const moves = page.locator('.moves > li')
      await expect.poll(() => moves.count()).toBe(history.length)
      await expect
        .poll(() => moves.last().textContent())
        .toMatch(/1\.00 → 0\.90.*Lowered from 1\.00 to 0\.90: .* requests failed/)
    })

    it('the errors page says in another mode what the factor would do, also in Chinese', async () => {
      const { gateway, page, faults } = opened()
      // Settings that are not in force are not shown as if they were.
      await changeSettings(gateway, { mode: 'normal' })
      await goTo(page, '#/audit')
      await goTo(page, '#/errors')
      await expect.poll(() => page.locator('.reasons dd').last().textContent()).toMatch(/^Would (rise|fall|stay) /)
      await chooseIn(page, 'Language', 'zh-CN')
      const moves = page.locator('.moves > li')
      await expect.poll(() => moves.last().textContent()).toMatch(/1\.00 → 0\.90.*由 1\.00 降至 0\.90：/)
      expect(faults).toEqual([])
    })
  })

  it('the errors page counts errors by operation and status, and zooms to a day', async () => {
    const gateway = await testGateway()
    const { db } = gateway.gateway.app
    await addOutcomes(gateway, badWeek(START, START - 30 * HOUR_MS, 30))
    const counts = (ago: number, operation: string, status: number, count: number) => ({
      ...{ half_hour: Math.floor((START - ago * HOUR_MS) / (HOUR_MS / 2)), operation, status, count },
      last_at: START - ago * HOUR_MS,
    })
    const rows = [
      counts(30, 'POST /v1/update-lx', 0, 40),
      counts(29, 'POST /v1/update-lx', 0, 5),
      counts(29, 'POST /v1/music/upsert', 500, 3),
      counts(100, 'GET /me/quota', 503, 7),
    ]
    await db.insertInto('error_counts').values(rows).execute()
    const { page, faults } = await signedIn(gateway, '#/errors')
    const shown = section(page, 'Server errors by operation').locator('tbody tr')
    const all = async (): Promise<string[]> =>
      (await shown.allTextContents()).map((text) => text.replace(/Aug \d, 2026.*$/, ''))
    await expect
      .poll(all)
      .toEqual(['POST /v1/update-lxNo response (httpStatus 0)45', 'GET /me/quota5037', 'POST /v1/music/upsert5003'])
    expect(await screenAndAccessibilityFaults(page)).toEqual([])

    // By keys: the day of the last failing step.
    const slider = page.getByRole('slider')
    await expect.poll(() => slider.getAttribute('aria-valuemax')).toBe('336')
    await slider.focus()
    for (const key of ['End', ...Array.from({ length: 58 }, () => 'ArrowLeft'), 'Enter']) await page.keyboard.press(key)
    await expect.poll(() => slider.getAttribute('aria-valuemax')).toBe('144')
    await expect.poll(() => page.evaluate('location.hash')).toMatch(/^#\/errors\?day=2026-08-0\d$/)
    await expect.poll(() => page.getByLabel('Range').inputValue()).toMatch(/^2026-08-0\d$/)
    await expect.poll(all).toEqual(['POST /v1/update-lxNo response (httpStatus 0)45', 'POST /v1/music/upsert5003'])
    await page.goBack()
    await expect.poll(() => slider.getAttribute('aria-valuemax')).toBe('336')
    // A link with something else shows the week.
    await goTo(page, '#/errors?day=yesterday')
    await expect.poll(all).toHaveLength(3)
    // By the list of days.
    await page.getByLabel('Range').selectOption({ index: 1 })
    await page.getByText('No server errors in this range.').waitFor()
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('the errors page shows the level that failed', async () => {
    const gateway = await testGateway()
    const factorStore = sqlFactor({ db: await closedInTheEnd(openSqlite(gateway.dataDir)), prefix: COUNTERS })
    const start = initialFactor()
    const failed = { levelHundredths: 105, retryAt: START + 2 * HOUR_MS }
    const counts = { calls: 3_000, errors: 0, recentCalls: 500, recentErrors: 0 }
    const state = adaptiveLaw({ ...start, memory: { ...start.memory, failed } }, counts, START)
    await factorStore.compareAndSet(0, 1, { ...state, history: state.reason === null ? [] : [state.reason] })
    const { page, faults } = await signedIn(gateway, '#/errors')
    const shown = section(page, 'Factor now')
    await expect
      .poll(() => shown.textContent())
      .toMatch(/Errors began at 1\.05\. It is tried again at .*6, .* or later\./)
    await expect
      .poll(() => page.locator('.moves > li').textContent())
      .toContain('Stays at 1.00: errors are below the low rate. Errors began at 1.05')
    expect(await screenAndAccessibilityFaults(page)).toEqual([])

    await page.setViewportSize({ width: 390, height: 844 })
    await chooseIn(page, 'Language', 'zh-CN')
    await page.getByText('错误始于 1.05').first().waitFor()
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  it('a credential is rotated in two steps, and the former one works until it expires', async () => {
    const gateway = await testGateway()
    const { sync } = gateway.gateway.addresses
    const isKnown = async (token: string): Promise<boolean> =>
      (await fetch(`${sync}/api/bot/sync`, { method: 'POST', headers: { 'Bot-Token': token } })).status !== 401
    const former = (await gateway.send('POST', '/admin/bots', { token: ADMIN_TOKEN, body: { name: 'nightly' } })).body
    const { page, faults } = await signedIn(gateway, '#/credentials')
    const bots = section(page, 'Bot tokens')
    await bots.getByText(`nightly …${former.token.slice(-4)}never used`).waitFor()
    await bots.getByRole('button', { name: 'Rotate nightly' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rotate “nightly”?' })
    await dialog.getByLabel('The former one expires').selectOption('in 1 hour')
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    const token = await bots.getByLabel('New credential').inputValue()
    expect([token === former.token, await isKnown(former.token), await isKnown(token)]).toEqual([false, true, true])
    // The former one isn't rotated twice.
    await bots.getByText('expires').waitFor()
    await expect.poll(() => bots.getByRole('button', { name: 'Rotate nightly' }).count()).toBe(1)
    gateway.clock.advance(HOUR_MS)
    expect([await isKnown(former.token), await isKnown(token)]).toEqual([false, true])
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
  })

  describe('the audit trail', () => {
    const opened = shared(async () => {
      const gateway = await testGateway()
      const { page, faults } = await signedIn(gateway, '#/audit')
      await page.getByText('No changes yet').waitFor()
      const read = async (path: string): Promise<ReturnType<typeof JSON.parse>> =>
        (await gateway.send('GET', `/admin/${path}`, { token: ADMIN_TOKEN })).body
      const before = await read('quota/settings')
      const base = structuredClone(before.base)
      base.personal.read['1h'] = 200
      const site = { enabled: false, multiplier: 1 }
      await changeSettings(gateway, { mode: 'lenient', base, custom: before.base, site, prices: { 'user.data': 7 } })
      const put = (overrides: object): Promise<unknown> =>
        gateway.send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: { overrides, bypassSite: true } })
      await put({ write: { '1h': 90 } })
      await put({ write: { '1h': 0 }, read: { '1d': 5 } })
      await changeSettings(gateway, { mode: 'conservative', prices: { 'user.data': 7, 'user.music': 9 } })
      return { gateway, page, faults, read, before, entries: page.locator('.audit > li') }
    })

    it('the audit trail is filtered by action, administrator and subject, in its address', async () => {
      const { page, gateway, entries } = opened()
      await gateway.send('POST', '/admin/users/carol/tokens', { token: ADMIN_TOKEN, body: {} })
      await page.getByRole('button', { name: 'Reload' }).click()
      await page.getByText('6 entries').waitFor()
      await page.getByLabel('Action').selectOption('user-quota.change')
      await page.getByText('2 entries').waitFor()
      await page.getByLabel('Action').selectOption('All')
      await page.getByLabel('Id that it is about').fill('carol')
      await page.getByText('2 entries').waitFor()
      await expect
        .poll(() => entries.allTextContents())
        .toEqual([expect.stringMatching(/^issued a token for carol/), expect.stringMatching(/^created the user carol/)])
      await expect.poll(() => page.evaluate('location.hash')).toBe('#/audit?subject=carol')
      await page.getByLabel('Id of the administrator').fill('nobody')
      await page.getByText('No entries match.').waitFor()
      expect(await screenAndAccessibilityFaults(page)).toEqual([])
    })

    it('the limits link to their history, and a change of them is undone by the form, with a summary', async () => {
      const { page, read, before, entries } = opened()
      await goTo(page, '#/settings')
      await page.getByRole('link', { name: 'History' }).click()
      await page.getByText('2 entries').waitFor()
      const custom = (from: string, to: string): unknown =>
        expect.stringMatching(new RegExp(`^Custom .*: ${from} → ${to}$`))
      await expect
        .poll(() => entries.last().locator('.changes li').allTextContents())
        .toEqual([
          'Mode: Normal → Lenient',
          'Base value: Personal, read, 1 hour: 120 → 200',
          ...Array.from({ length: 12 }, () => custom('none', '\\d+')),
          'Site-wide limits apply: ✓ → off',
          'Price of user.data: default → 7',
        ])
      await page.getByRole('button', { name: 'Undo change 1', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor()
      await expect
        .poll(() => changesIn(page))
        .toEqual([
          'Mode: Conservative → Normal',
          'Base value: Personal, read, 1 hour: 200 → 120',
          ...Array.from({ length: 12 }, () => custom('\\d+', 'none')),
          'Site-wide limits apply: off → ✓',
          'Price of user.data: 7 → default',
        ])
      expect((await read('quota/settings')).version).toBe(2)
      expect(await screenAndAccessibilityFaults(page)).toEqual([])
      await save(page)
      // What was changed since, and isn't part of the undone change, stays.
      const now = await read('quota/settings')
      expect([now.mode, now.base, now.custom, now.prices]).toEqual(['normal', before.base, null, { 'user.music': 9 }])
    })

    it('a change of one user’s limits is undone in the same way', async () => {
      const { page, faults, read, entries } = opened()
      await goTo(page, '#/users/demo')
      await section(page, 'This user’s limits').getByRole('link', { name: 'History' }).click()
      await page.getByText('2 entries').waitFor()
      await expect
        .poll(() => entries.first().locator('.changes li').allTextContents())
        .toEqual(['Read, 1 day: default → 5', 'Write, 1 hour: 90 → 0'])
      await entries.first().getByRole('button', { name: 'Undo' }).click()
      const limits = section(page, 'This user’s limits')
      await expect.poll(() => changesIn(limits)).toEqual(['Read, 1 day: 5 → default', 'Write, 1 hour: 0 → 90'])
      await save(limits)
      expect((await read('users/demo/quota')).overrides).toMatchObject({ write: { '1h': 90 }, read: { '1d': null } })
      await page.setViewportSize({ width: 390, height: 844 })
      await chooseIn(page, 'Language', 'zh-CN')
      expect(await screenAndAccessibilityFaults(page)).toEqual([])
      expect(faults).toEqual([])
    })
  })
})

async function numbers(entries: Locator): Promise<number[]> {
  return (await entries.locator('.seq').allTextContents()).map((text) => Number(text.replace('#', '')))
}
