import { browserTests } from '@scoregw/browser'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import {
  addOutcomes,
  changeSettings,
  goTo,
  openConsole,
  picture,
  screenAndAccessibilityFaults,
  settled,
  signedIn,
  signIn,
} from './support/console.ts'
import { ADMIN_TOKEN, ENTRY, HOUR_MS, type TestGateway, testGateway } from './support/gateway.ts'

const PHONE = { width: 390, height: 844 }
const DESK = { width: 1440, height: 900 }
const upsert = { body: { musicList: [ENTRY] } }
const isDeep = process.env.QUOTA_TEST_DEEP === '1'
const LONG = 'x'.repeat(128)

describe.runIf(browserTests && slowTests)('what administrators watch', () => {
  it('the overview updates by itself and says since when it doesn’t', async () => {
    const gateway = await testGateway()
    const { page, faults } = await openConsole(gateway)
    await signIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText('No requests were refused.').waitFor()
    await refusedOnce(gateway)
    await page.getByText('Personal, write, 1 hour').waitFor()
    await expect.poll(() => page.getByRole('row', { name: /^demo 60$/ }).count()).toBe(1)
    await gateway.stop()
    await page.getByText('Disconnected since').waitFor()
    await expect.poll(() => page.getByText('The figures below are from that time.').count()).toBe(1)
    // The browser logs attempts that fail.
    expect(faults.filter((fault) => !fault.startsWith('Failed to load resource: net::'))).toEqual([])
  })

  it('the overview shows the service’s state in four figures and one line, readable at a glance', async () => {
    const gateway = await testGateway()
    await refusedOnce(gateway)
    gateway.clock.advance(1_000)
    const { page, requests, faults } = await openConsole(gateway, { viewport: DESK })
    await signIn(page)
    const figures = page.locator('.figure')
    await expect
      .poll(() => figures.allTextContents())
      .toEqual([
        expect.stringMatching(/^Requests per second ◐0\.5/),
        expect.stringMatching(/^Refused, last 5 minutes [\d.]+%▲ from 0%/),
        expect.stringMatching(/^Tightest shared limit 96% leftSite-wide, write, 1 hour/),
        expect.stringMatching(/^Adaptive factor ×1\.00/),
      ])
    const state = page.locator('.state-line')
    await expect.poll(() => state.textContent()).toBe('✓ No problems')
    const sizes = await page.evaluate<number[]>(
      "[...document.querySelectorAll('.state-line, .figure-value, .figure-name')].map((each) => parseFloat(getComputedStyle(each).fontSize))",
    )
    expect(sizes).toHaveLength(6)
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(20)
    // On the first screen, without a scroll.
    for (const each of [state, ...(await figures.all())]) {
      const box = (await each.boundingBox())!
      expect(box.y + box.height).toBeLessThan(DESK.height)
    }

    // A shared limit that is nearly full is a problem, and the line leads to the limits.
    await changeSettings(gateway, { site: { enabled: true, multiplier: 0.25 } })
    const { quota } = gateway.gateway.app
    for (const subject of ['a', 'b', 'c', 'd', 'e'])
      for (let each = 0; each < 4; each++) await quota.consume({ subject, operation: 'music.upsert' })
    await page.getByText('1 problem').waitFor()
    await page.getByRole('link', { name: 'Site-wide, write, 1 hour' }).waitFor()

    // The stream and nothing else: what is checked costs no request of its own.
    const paths = requests
      .map((request) => new URL(request.url()).pathname)
      .filter((path) => path.startsWith('/admin/'))
    const asked = paths.filter((path) => !path.startsWith('/admin/assets/') && path !== '/admin/')
    expect([...new Set(asked)].sort()).toEqual(['/admin/overview/events', '/admin/quota/settings'])
    expect(faults).toEqual([])
  })

  it.each([
    ['many', 60, 30, '! 1 problem'],
    ['a few', 60, 6, '✓ No problems'],
    ['many of few requests', 6, 3, '✓ No problems'],
  ])('the overview reports many refusals as a problem: %s', async (_what, calls, refused, expected) => {
    const gateway = await testGateway()
    const last = Math.floor(gateway.clock.now() / 60_000)
    const none = { codeZero: 0, serverError: 0, clientError: 0, businessFail: 0, quotaUnavailable: 0 }
    const minutes = Array.from({ length: 5 }, (_each, ago) => ({ ...none, minute: last - ago, calls, refused }))
    await addOutcomes(gateway, minutes)
    const { page } = await signedIn(gateway, '#/overview')
    await expect.poll(() => page.locator('.state-line').textContent()).toBe(expected)
    const problem = page.getByRole('link', { name: 'of requests in the last 5 minutes' })
    await expect.poll(() => problem.count()).toBe(expected.startsWith('!') ? 1 : 0)
  })

  it('the overview charts outcomes per minute, hour, day and week, readable with the keyboard', async () => {
    const gateway = await testGateway()
    await refusedOnce(gateway)
    // Whole seconds are drawn.
    gateway.clock.advance(1_000)
    const { page, faults } = await signedIn(gateway, '#/overview')
    const slider = page.getByRole('slider')
    // Another range makes another chart, after a frame: a key that comes before goes with the former one.
    const readoutAfter = async (...keys: readonly string[]): Promise<string> => {
      for (const key of keys) await slider.press(key)
      return (await page.locator('.readout').allTextContents()).join()
    }
    for (const [range, steps] of [
      ['1 min', 60],
      ['1 h', 60],
      ['24 h', 144],
      ['7 d', 168],
    ] as const) {
      await page.getByRole('button', { name: range, exact: true }).click()
      await expect.poll(() => slider.getAttribute('aria-valuemax')).toBe(String(steps))
      await expect
        .poll(() => readoutAfter('End'))
        .toMatch(/Refused by a limit1 [\d.]+%Client error0 0%Server error0 0%$/)
      await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/: \d+ requests$/)
      await expect.poll(() => readoutAfter('End', 'ArrowLeft')).toMatch(/Succeeded0 Refused by a limit0/)
    }
    await expect.poll(() => page.evaluate('location.hash')).toBe('#/overview?range=7d')
    expect(faults).toEqual([])
  })

  it('an idle page sends no requests, except for values that change by themselves', async () => {
    const gateway = await testGateway()
    const { page, requests } = await signedIn(gateway, '#/settings', { isAlone: true })
    await page.clock.install()
    const startedAt = Date.now()
    const requested = { users: 0, refusals: 0, credentials: 0, audit: 0, settings: 0, errors: 0 }
    for (const name of Object.keys(requested) as (keyof typeof requested)[]) {
      await goTo(page, `#/${name}`)
      const before = requests.length
      for (let minutes = 0; minutes < 5; minutes++) {
        await page.clock.runFor(60_000)
        await settled(page)
      }
      requested[name] = requests.length - before
    }
    const { errors, ...still } = requested
    expect(still).toEqual({ users: 0, refusals: 0, credentials: 0, audit: 0, settings: 0 })
    // What happened once a minute, from three addresses. The machine's own time passes as well.
    const passedMs = Date.now() - startedAt
    expect([errors >= 15, errors <= 15 + (3 * passedMs) / 60_000 + 3]).toEqual([true, true])
  })

  it('the refusals page says who was refused, by which limit and why, and leads to the user', async () => {
    const gateway = await testGateway()
    const { page, faults } = await signedIn(gateway, '#/refusals', { viewport: PHONE })
    await page.getByText('No one was refused in the last 24 hours.').waitFor()
    await refusedOnce(gateway)
    await gateway.send('POST', '/v1/music/upsert', upsert)
    const overrides = { read: { '1h': 1 } }
    await gateway.send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: { overrides } })
    await gateway.send('POST', '/v1/user/music')
    await page.getByRole('button', { name: 'Reload' }).click()
    const tooDear = 'user.music needed 4 tokens, more than the limit of 1. Waiting doesn’t help.'
    const usedUp = 'music.upsert needed 15 tokens, and 60 of 60 were used. Room again at Aug 6, 2026, '
    await expect
      .poll(() => page.locator('.refusal').allTextContents())
      .toEqual([
        `demoPersonal, read, 1 hour1 × · now${tooDear}`,
        expect.stringContaining(`demoPersonal, write, 1 hour2 × · now${usedUp}`),
      ])
    expect(await screenAndAccessibilityFaults(page)).toEqual([])
    // By keys alone: the first refusal is behind the button.
    await page.getByRole('button', { name: 'Reload' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor()
    await page.getByText(tooDear).waitFor()
    await page.getByText(usedUp).waitFor()
    await page.getByLabel('Language').selectOption('zh-CN')
    await page.getByText('user.music 需要 4 点，超过限额 1，等待无济于事。').waitFor()
    expect(faults).toEqual([])
  })

  it('an administrator on a phone finds out why a user was refused half an hour ago and lifts the limit', async () => {
    const gateway = await testGateway()
    await refusedOnce(gateway)
    gateway.clock.advance(HOUR_MS / 2)
    const { page, faults } = await signedIn(gateway, '#/users/demo', { viewport: PHONE })
    await page.getByText('music.upsert needed 15 tokens, and 60 of 60 were used.').waitFor()
    await expect.poll(() => page.locator('.refusal time').textContent()).toBe('30 minutes ago')
    await page.getByRole('textbox', { name: 'Write, 1 hour' }).fill('200')
    await page.getByRole('button', { name: 'Save', exact: true }).first().click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect((await gateway.send('POST', '/v1/music/upsert', upsert)).status).toBe(200)
    expect(faults).toEqual([])
  })

  it.runIf(isDeep)('the watching pages stay fast with 10,000 users', async () => {
    const gateway = await testGateway()
    const { app } = gateway.gateway
    for (let user = 0; user < 10_000; user++) {
      await app.quota.consume({ subject: `player-${user}`, operation: 'music.upsert', cost: 1 + (user % 60) })
      if (user % 3 === 0) await app.quota.consume({ subject: `player-${user}`, operation: 'music.upsert', cost: 61 })
    }
    const { page, faults } = await signedIn(gateway, '#/overview')
    await page.getByText('Live, as of').waitFor()
    for (const language of ['zh-CN', 'en', 'zh-CN', 'en']) {
      // From the choice to the next frame that shows it.
      const ms = await page.evaluate<number>(`new Promise((resolve) => {
        const started = performance.now()
        const select = document.querySelector('header select')
        select.value = '${language}'
        select.dispatchEvent(new Event('change', { bubbles: true }))
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)))
      })`)
      console.log(`the overview in another language: ${ms.toFixed(0)} ms`)
      expect(ms).toBeLessThan(1_000)
    }
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
    for (let each = 0; each < 3; each++) {
      const started = performance.now()
      await (await fetch(`${gateway.gateway.addresses.gateway}/admin/overview`, { headers })).text()
      console.log(`the figures: ${(performance.now() - started).toFixed(0)} ms`)
    }
    expect(faults).toEqual([])
  })

  it.runIf(isDeep)('the watching pages fit a phone and a desktop, light and dark, in both languages', async () => {
    const gateway = await testGateway()
    const { app } = gateway.gateway
    await app.users.create({ id: LONG, name: LONG.slice(0, 64), role: 'player' })
    for (const id of [LONG, 'carol']) {
      for (let each = 0; each < 5; each++) await app.quota.consume({ subject: id, operation: 'music.upsert' })
      await app.quota.consume({ subject: id, operation: 'user.music' })
    }
    await refusedOnce(gateway)
    await app.quota.consume({ subject: 'carol', operation: 'user.music', cost: 100 })
    gateway.clock.advance(1_000)
    for (const [viewport, colorScheme] of [
      [PHONE, 'light'],
      [DESK, 'dark'],
    ] as const) {
      const { page, faults } = await signedIn(gateway, '#/overview', { viewport, colorScheme })
      for (const language of ['en', 'zh-CN']) {
        await page.locator('header select').first().selectOption(language)
        for (const hash of ['#/overview', '#/refusals', `#/users/${LONG}`]) {
          await goTo(page, hash)
          await page.locator('main :is(section h2, .refusal)').first().waitFor()
          const name = `${hash.slice(2, 10).replaceAll('/', '-')}-${viewport.width}-${language}`
          expect(await screenAndAccessibilityFaults(page), name).toEqual([])
          await picture(page, name)
        }
      }
      expect(faults).toEqual([])
    }
  })
})

/** Five writes, of which the fifth is refused. */
async function refusedOnce({ send }: TestGateway): Promise<void> {
  for (let each = 0; each < 5; each++) await send('POST', '/v1/music/upsert', upsert)
}
