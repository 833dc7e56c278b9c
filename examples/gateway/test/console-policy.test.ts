import { browserTests } from '@scoregw/browser'
import { describe, expect, it } from 'vitest'
import { gatewayPolicyOf, LAYERS, WINDOWS } from '../src/quota/policy.ts'
import { field, goTo, save, section, settled, signedIn } from './support/console.ts'
import { ADMIN_TOKEN, HOUR_MS, type TestGateway, testGateway } from './support/gateway.ts'
import { shared } from './support/shared.ts'

const policy = gatewayPolicyOf(
  [
    { label: 'burst', lengthMs: 90_000, tokens: { read: 30, write: 20 } },
    ...WINDOWS,
    { label: '7d', lengthMs: 168 * HOUR_MS, tokens: { read: 5_000, write: 2_500 } },
  ],
  [
    ...LAYERS,
    { name: 'device', scope: 'Device', shared: false, times: { every: 2 } },
    { name: 'campus', scope: 'Campus', shared: true, times: { every: 10 } },
  ],
)

const read = async ({ send }: TestGateway, path: string): Promise<unknown> =>
  (await send('GET', `/admin/${path}`, { token: ADMIN_TOKEN })).body

describe.runIf(browserTests)('the console under a custom policy', () => {
  const opened = shared(async () => {
    const gateway = await testGateway({ policy })
    return { gateway, ...(await signedIn(gateway)) }
  })

  it('the settings list custom windows and layers', async () => {
    const { page } = opened()
    const groups = ['Personal', 'Site-wide', 'Device', 'Campus'].flatMap((layer) => [
      `${layer} · Read`,
      `${layer} · Write`,
    ])
    await expect.poll(() => page.locator('.limits .group').allTextContents()).toEqual(groups)
    const rows = page.locator('.limits tbody').first().locator('tr:not(.group) th')
    await expect
      .poll(() => rows.allTextContents())
      .toEqual(['burst (90 seconds)', '1 hour', '5 hours', '1 day', '7 days'])
    await page.getByText('A user, in burst (90 seconds): 45 read, 30 write').waitFor()
  })

  it('the settings store limits, multipliers and switches of custom layers', async () => {
    const { gateway, page } = opened()
    await field(page, 'Base value: Campus, read, 7 days').fill('12345')
    await page.getByLabel('Multiplier of the campus limits').fill('0.5')
    await page.getByRole('switch', { name: 'Site-wide limits apply' }).uncheck()
    await save(page)
    const settings = await read(gateway, 'quota/settings')
    expect(settings).toMatchObject({
      base: { campus: { read: { burst: 300, '7d': 12_345 } }, device: { write: { '7d': 5_000 } } },
      campus: { enabled: true, multiplier: 0.5 },
      site: { enabled: false },
    })
  })

  it('a user’s page stores overrides and bypasses of custom layers', async () => {
    const { gateway, page } = opened()
    await goTo(page, '#/users/demo')
    const device = section(page, 'This user’s limits: Device')
    await field(device, 'Write, 7 days').fill('77')
    await save(device)
    const personal = section(page, 'This user’s limits: Personal')
    await personal.getByRole('switch', { name: 'Campus limits don’t apply to this user' }).check()
    await save(personal)
    expect(await read(gateway, 'users/demo/quota?layer=device')).toMatchObject({
      overrides: { write: { '7d': 77 } },
      bypassCampus: false,
    })
    expect(await read(gateway, 'users/demo/quota')).toMatchObject({ bypassCampus: true, bypassSite: false })
  })

  it('a user’s page shows the usage of custom windows and offers custom layers for a reset', async () => {
    const { page } = opened()
    await goTo(page, '#/users/demo')
    await settled(page)
    const usage = section(page, 'Current usage')
    const meters = usage.getByRole('meter')
    await expect.poll(() => meters.count()).toBe(20)
    await usage.getByRole('meter', { name: 'Device, write, 7 days' }).waitFor()
    await usage.getByRole('button', { name: 'Reset usage' }).click()
    const layers = page.getByRole('dialog').getByLabel('Which layer').locator('option')
    await expect
      .poll(() => layers.allTextContents())
      .toEqual([
        'Personal: this user only',
        'Site-wide: shared by everyone',
        'Device: this user only',
        'Campus: shared by everyone',
      ])
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  })

  it('the Chinese console shows names without a translation as the policy writes them', async () => {
    const { page, faults } = opened()
    // Names that nobody has put into Chinese are read as the policy writes them.
    await page.getByLabel('Language').selectOption('zh-CN')
    await goTo(page, '#/settings')
    await expect
      .poll(() => page.locator('.limits .group').allTextContents())
      .toEqual(['个人', '全站', 'Device', 'Campus'].flatMap((layer) => [`${layer} · 读取`, `${layer} · 写入`]))
    await page.getByText('7 天').first().waitFor()
    await page.getByLabel('Campus限额的倍率').waitFor()
    expect(faults).toEqual([])
  })
})
