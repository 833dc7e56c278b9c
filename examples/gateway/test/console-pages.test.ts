import { browserTests, type Locator } from '@scoregw/browser'
import { adaptiveLaw, initialFactor } from '@scoregw/quota/adaptive'
import { sqlFactor } from '@scoregw/quota-sql'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { COUNTERS } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import {
  addOutcomes,
  badWeek,
  changeSettings,
  chooseIn,
  goTo,
  screenAndAccessibilityFaults,
  section,
  signedIn,
  tickUntil,
} from './support/console.ts'
import { ADMIN_TOKEN, HOUR_MS, START, testGateway } from './support/gateway.ts'
import { shared } from './support/shared.ts'
import { closedInTheEnd } from './support/test-database.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'

describe.runIf(browserTests)('pages of the console', () => {
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
    await expect.poll(() => entries.nth(3).textContent()).toMatch(/^issued a bot token .*name nightlyadmin.*#1$/)
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
      await page.getByText('Show the chart as a table').click()
      const rows = page.locator('.buckets tbody tr')
      const failed = series.filter((bucket: { failureRate: number }) => bucket.failureRate > 0)
      await expect.poll(() => rows.count()).toBe(failed.length)
      await expect
        .poll(async () => (await rows.allTextContents()).filter((text) => text.includes(`%${codeZero}`)))
        .toHaveLength(1)
      await page.getByRole('switch', { name: 'Show only steps with failures' }).uncheck()
      await expect.poll(() => rows.count()).toBe(336)
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

    it('the last day of errors has its own address and smaller steps', async () => {
      const { page, slider } = opened()
      // The last day has an address of its own, in smaller steps.
      await page.getByRole('button', { name: '24 h' }).click()
      await expect.poll(() => slider.getAttribute('aria-valuemax')).toBe('144')
      await expect.poll(() => page.evaluate('location.hash')).toBe('#/errors?range=24h')
      await page.goBack()
      await expect.poll(() => slider.getAttribute('aria-valuemax')).toBe('336')
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

  it('the errors page shows the level that failed', async () => {
    const gateway = await testGateway()
    const factorStore = sqlFactor({ db: await closedInTheEnd(openSqlite(gateway.dataDir)), prefix: COUNTERS })
    const start = initialFactor()
    const failed = { levelHundredths: 105, retryAt: START + 2 * HOUR_MS }
    const counts = { calls: 3_000, errors: 0, recentCalls: 500, recentErrors: 0 }
    const state = adaptiveLaw({ ...start, memory: { ...start.memory, failed } }, counts, START)
    await factorStore.compareAndSet(0, 1, { ...state, history: state.reason === null ? [] : [state.reason] })
    const { page, faults } = await signedIn(gateway, '#/errors')
    const shown = section(page, 'Failed level')
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

  describe('the history of limits', () => {
    const opened = shared(async () => {
      const gateway = await testGateway()
      const { page, faults } = await signedIn(gateway, '#/settings/history')
      await page.getByText('No changes yet').waitFor()
      const settings = async (): Promise<ReturnType<typeof JSON.parse>> =>
        (await gateway.send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })).body
      const before = await settings()
      const base = structuredClone(before.base)
      base.personal.read['1h'] = 200
      const custom = structuredClone(before.base)
      await changeSettings(gateway, {
        mode: 'lenient',
        base,
        custom,
        site: { enabled: false, multiplier: 1 },
        prices: { 'user.data': 7 },
      })
      for (let count = 0; count < 60; count++)
        await gateway.send('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body: { add: 1 } })
      await changeSettings(gateway, { mode: 'conservative', prices: { 'user.data': 7, 'user.music': 9 } })
      return { page, faults, gateway, settings, before, custom, entries: page.locator('.versions > li') }
    })

    it('the history lists each change of the limits', async () => {
      const { page, entries } = opened()
      await page.getByRole('link', { name: '← Limits' }).click()
      await page.getByRole('link', { name: 'History' }).click()
      await expect.poll(() => entries.count()).toBe(2)
      await expect.poll(() => page.title()).toBe('History of limits · Score gateway')
      await expect
        .poll(() => entries.last().locator('.changes li').allTextContents())
        .toEqual([
          'Mode: Normal → Lenient',
          'Base value: Personal, read, 1 hour: 120 → 200',
          expect.stringMatching(/^Custom: nothing → personal\.read\.1h 120, /),
          'Site-wide limits apply: ✓ → off',
          'Price of user.data: default → 7',
        ])
    })

    it('the dialog to undo a change leaves out what was changed again since', async () => {
      const { page } = opened()
      await page.getByRole('button', { name: 'Undo change 1', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Undo this change' })
      const mode = dialog.getByRole('checkbox', { name: 'Mode: Conservative → Normal changed again since' })
      await mode.waitFor()
      // Later changes by others are not overwritten without confirmation.
      await expect
        .poll(async () => [await mode.isChecked(), await dialog.getByRole('checkbox', { checked: true }).count()])
        .toEqual([false, 4])
      expect(await screenAndAccessibilityFaults(page)).toEqual([])
    })

    it('an undo isn’t made on values that changed meanwhile, and then undoes only its change', async () => {
      const { page, gateway, settings, before, custom } = opened()
      const dialog = page.getByRole('dialog', { name: 'Undo this change' })
      // Another change is faster: nothing is undone on values that were not shown.
      await changeSettings(gateway, { prices: { 'user.data': 9, 'user.music': 9 } })
      await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
      await dialog.getByText('Someone else saved first.').waitFor()
      expect((await settings()).custom).toEqual(custom)
      await expect.poll(() => dialog.getByRole('checkbox', { checked: true }).count()).toBe(3)
      await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
      await page.getByText('Undone.').waitFor()
      const now = await settings()
      expect(now).toMatchObject({
        mode: 'conservative',
        prices: { 'user.data': 9, 'user.music': 9 },
        site: { enabled: true },
        version: 4,
      })
      expect([now.base, now.custom]).toEqual([before.base, null])
    })

    it('an undone change is a change that can be undone', async () => {
      const { page, faults, settings, custom, entries } = opened()
      const dialog = page.getByRole('dialog', { name: 'Undo this change' })
      // An undoing is a change: it is undone as any other.
      await expect.poll(() => entries.count()).toBe(4)
      await page.getByRole('button', { name: 'Undo change 64' }).click()
      await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
      await expect.poll(async () => (await settings()).custom).toEqual(custom)
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
