import { browserTests, type Page } from '@scoregw/browser'
import { describe, expect, it } from 'vitest'
import { goTo, openConsole, screenAndAccessibilityFaults, settled, signedIn, signIn } from './support/console.ts'
import { ENTRY, testGateway } from './support/gateway.ts'

const PHONE = { width: 390, height: 844 }
const SPECIFIED = ['Limits', 'Users', 'Errors', 'Credentials', 'Audit trail']

describe.runIf(browserTests)('the console of a gateway with some extras', () => {
  it('with EXTRAS=none the console has only the specification’s pages, and each works', async () => {
    const gateway = await testGateway({ env: { EXTRAS: 'none' } })
    const { page, requests, faults } = await signedIn(gateway, '', { viewport: PHONE })
    await expect.poll(() => navigation(page)).toEqual(SPECIFIED)
    // The first page is the first of them.
    await expect.poll(() => page.locator('nav.pages [aria-current=page]').textContent()).toBe('Limits')
    for (const hash of ['#/settings', '#/settings/history', '#/users', '#/users/demo', '#/errors', '#/audit']) {
      await goTo(page, hash)
      await page.locator('main h1').waitFor()
      await expect.poll(async () => [hash, ...(await page.getByRole('alert').allTextContents())]).toEqual([hash])
    }
    await goTo(page, '#/users/demo')
    await expect.poll(() => page.getByRole('link', { name: 'Why is demo refused?' }).count()).toBe(0)
    // A bookmark of a page that this gateway runs without.
    for (const [hash, label, name] of [
      ['#/overview', 'Overview', 'overview'],
      ['#/why/demo?operation=music.upsert', 'Refusals', 'why'],
      ['#/alerts?after=7', 'Alerts', 'alerts'],
    ] as const) {
      await goTo(page, hash)
      await page.getByRole('heading', { name: `The page “${label}” isn’t enabled on this gateway.` }).waitFor()
      await page.getByText(`EXTRAS=all, or add “${name}”`).waitFor()
      expect(await screenAndAccessibilityFaults(page)).toEqual([])
    }
    await goTo(page, '#/nothing')
    await page.getByText('Page not found').waitFor()
    const answers = await Promise.all(requests.map(async (each) => [(await each.response())?.status(), each.url()]))
    expect(answers.filter(([status]) => status === 404)).toEqual([])
    expect(faults).toEqual([])
  })

  it('the overview shows only the parts of running extras', async () => {
    for (const [extras, labels] of [
      ['overview', ['Overview', ...SPECIFIED]],
      [
        'overview,alerts,why',
        ['Overview', 'Limits', 'Users', 'Refusals', 'Errors', 'Alerts', 'Credentials', 'Audit trail'],
      ],
    ] as const) {
      const isAll = extras !== 'overview'
      const gateway = await testGateway({ env: { EXTRAS: extras } })
      for (let each = 0; each < 5; each++)
        await gateway.send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
      const { page, faults } = await signedIn(gateway, '')
      await expect.poll(() => navigation(page)).toEqual(labels)
      await page.getByText('Live, as of').waitFor()
      await settled(page)
      await page.getByRole('heading', { name: 'Most refused' }).waitFor()
      const [alerts, refusals] = [
        page.getByRole('heading', { name: 'Alerts', exact: true }),
        page.getByRole('link', { name: 'Why is demo refused?' }),
      ]
      await expect.poll(async () => [await alerts.count(), await refusals.count()]).toEqual(isAll ? [1, 1] : [0, 0])
      expect(faults).toEqual([])
    }
  })

  it('the console shows every page if an older gateway has no list of extras', async () => {
    const { page } = await openConsole(await testGateway(), { isAlone: true })
    const notFound = { error: 'not_found', msg: 'There is no such path.', requestId: 'earlier' }
    await page.route('**/admin/extras', (route) => route.fulfill({ status: 404, json: notFound }))
    await signIn(page)
    const all = ['Overview', 'Limits', 'Users', 'Refusals', 'Errors', 'Alerts', 'Credentials', 'Audit trail']
    await expect.poll(() => navigation(page)).toEqual(all)
  })
})

async function navigation(page: Page): Promise<string[]> {
  return page.locator('nav.pages a').allTextContents()
}
