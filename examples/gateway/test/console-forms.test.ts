import { browserTests, type Locator, type Page } from '@scoregw/browser'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { keptBy } from './support/browser.ts'
import {
  changesIn,
  chooseIn,
  field,
  goTo,
  openConsole,
  save,
  searchIn,
  section,
  signedIn,
  signIn,
} from './support/console.ts'
import { ADMIN_TOKEN, type TestGateway, testGateway } from './support/gateway.ts'
import { shared } from './support/shared.ts'

/** Otherwise one form stands for all. */
const isDeep = process.env.QUOTA_TEST_DEEP === '1'

/** A form: where it is, its input, and how it is sent off. */
interface Form {
  readonly hash: string
  input(page: Page): Locator
  readonly text: string
  submit(page: Page): Promise<void>
  /** Whether it was done. */
  isDone(gateway: TestGateway, token: string): Promise<boolean>
}

const FORMS: Readonly<Record<string, Form>> = {
  limits: {
    hash: '#/settings',
    input: (page) => field(page, 'Base value: Personal, read, 1 hour'),
    text: '1,234',
    submit: (page) => page.getByRole('button', { name: 'Save', exact: true }).click(),
    isDone: async (...by) => (await read(...by, 'quota/settings')).base.personal.read['1h'] === 1_234,
  },
  'limits of a user': {
    hash: '#/users/demo',
    input: (page) => section(page, 'This user’s limits').getByLabel('Read, 1 hour'),
    text: '１２',
    submit: (page) => section(page, 'This user’s limits').getByRole('button', { name: 'Save', exact: true }).click(),
    isDone: async (...by) => (await read(...by, 'users/demo/quota')).overrides.read['1h'] === 12,
  },
  profile: {
    hash: '#/users/demo',
    input: (page) => section(page, 'Profile').getByLabel('Name'),
    text: 'Demo 2',
    submit: (page) => section(page, 'Profile').getByRole('button', { name: 'Save', exact: true }).click(),
    isDone: async (...by) => (await read(...by, 'users/demo')).name === 'Demo 2',
  },
  credits: {
    hash: '#/users/demo',
    input: (page) => section(page, 'Ticket credits').getByLabel('Balance'),
    text: '1,000',
    submit: (page) => section(page, 'Ticket credits').getByRole('button', { name: 'Save', exact: true }).click(),
    isDone: async (...by) => (await read(...by, 'users/demo')).balance === 1_000,
  },
  token: {
    hash: '#/users/demo',
    input: (page) => section(page, 'Tokens').getByLabel('Label'),
    text: 'tablet',
    submit: (page) => section(page, 'Tokens').getByRole('button', { name: 'Issue a token' }).click(),
    isDone: async (...by) => JSON.stringify(await read(...by, 'users/demo/tokens')).includes('tablet'),
  },
  bot: {
    hash: '#/credentials',
    input: (page) => page.getByLabel('Bot name'),
    text: 'nightly bot',
    submit: (page) => page.getByRole('button', { name: 'Issue a bot token' }).click(),
    isDone: async (...by) => JSON.stringify(await read(...by, 'bots')).includes('nightly bot'),
  },
  'chart key': {
    hash: '#/credentials',
    input: (page) => page.getByLabel('Key name'),
    text: 'viewer',
    submit: (page) => page.getByRole('button', { name: 'Issue a chart key' }).click(),
    isDone: async (...by) => JSON.stringify(await read(...by, 'chart-keys')).includes('viewer'),
  },
}

describe.runIf(browserTests && slowTests)('forms of the console', () => {
  it('forms keep their input while other pages are open and after signing in again', async () => {
    const gateway = await testGateway()
    const { page, faults } = await openConsole(gateway)
    let token = await nextToken(gateway, ADMIN_TOKEN)
    await signIn(page, ` Authorization: Bearer ${token}\n`)
    await page.locator('nav.pages').waitFor()
    for (const { hash, input, text } of Object.values(FORMS)) {
      await goTo(page, hash)
      await input(page).fill(text)
    }
    await expect.poll(() => unsaved(page)).toEqual(['Limits', 'Users', 'Credentials'])
    await goTo(page, '#/users')
    await expect.poll(() => page.locator('main .notice a').allTextContents()).toEqual(['demo'])

    for (const [index, [name, { hash, input, text, submit, isDone }]] of Object.entries(FORMS).entries()) {
      await goTo(page, hash)
      await expect.poll(async () => [name, await input(page).inputValue()]).toEqual([name, text])
      if (index > 0 && !isDeep) {
        await submit(page)
        await expect.poll(async () => [name, await isDone(gateway, token)]).toEqual([name, true])
        continue
      }
      token = await nextToken(gateway, token)
      await submit(page)
      const again = page.getByRole('dialog', { name: 'Sign in' })
      await again.waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      expect([name, await keptBy(page, [ADMIN_TOKEN, token])]).toEqual([name, []])
      expect([name, await isDone(gateway, token)]).toEqual([name, false])
      await signIn(page, token)
      await again.waitFor({ state: 'detached' })
      await expect.poll(async () => [name, await input(page).inputValue()]).toEqual([name, text])
      await submit(page)
      await expect.poll(async () => [name, await isDone(gateway, token)]).toEqual([name, true])
    }
    await expect.poll(() => unsaved(page)).toEqual([])
    expect(faults).toEqual([])
  })

  describe('forms of several administrators', () => {
    const opened = shared(async () => {
      const gateway = await testGateway()
      const { page, faults } = await signedIn(gateway, '#/users/demo')
      const put = (id: string, body: object, headers: Record<string, string> = {}): Promise<{ status: number }> =>
        gateway.send('PUT', `/admin/users/${id}`, { token: ADMIN_TOKEN, body, headers })
      return { gateway, page, faults, put }
    })

    it('a profile that another administrator changed meanwhile shows their changes and keeps mine', async () => {
      const { gateway, page, put } = opened()
      const profile = section(page, 'Profile')
      await profile.getByLabel('Name').fill('Mine')
      await put('demo', { name: 'Theirs', qq: 55_555 })
      await profile.getByRole('button', { name: 'Save' }).click()
      await profile.getByText('Someone else saved first.').waitFor()
      await expect
        .poll(() => profile.getByRole('alert').locator('li').allTextContents())
        .toEqual(['Name: demo → Theirs', 'Linked QQ: 10001 → 55555'])
      await expect.poll(() => changesIn(profile)).toEqual(['Name: Theirs → Mine'])
      expect(await read(gateway, ADMIN_TOKEN, 'users/demo')).toMatchObject({ name: 'Theirs' })
      await save(profile)
      expect(await read(gateway, ADMIN_TOKEN, 'users/demo')).toMatchObject({ name: 'Mine', qq: 55_555 })
    })

    it('a balance that changed meanwhile is shown before it is set', async () => {
      const { gateway, page } = opened()
      const credits = section(page, 'Ticket credits')
      await credits.getByLabel('Balance').fill('5')
      await gateway.send('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body: { add: 7 } })
      await credits.getByRole('button', { name: 'Save', exact: true }).click()
      await credits.getByText('Ticket credits: 10 → 17').waitFor()
      await expect.poll(() => changesIn(credits)).toEqual(['Ticket credits: 17 → 5'])
      await save(credits)
      expect(await read(gateway, ADMIN_TOKEN, 'users/demo')).toMatchObject({ balance: 5 })
    })

    it('a new administrator isn’t made when the question is cancelled', async () => {
      const { gateway, page } = opened()
      await goTo(page, '#/users/demo')
      const profile = section(page, 'Profile')

      // Nobody becomes one who is not there any more when it is confirmed, or by a slip.
      await profile.getByLabel('Role').selectOption('admin')
      await profile.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      expect(await read(gateway, ADMIN_TOKEN, 'users/demo')).toMatchObject({ role: 'player' })
    })

    it('an administrator whose role is removed keeps typed input and signs in as another', async () => {
      const { gateway, faults, put } = opened()
      // The role may go while its holder works; the token is good for a player still.
      await put('carol', { role: 'admin' })
      const carol = (await gateway.send('POST', '/admin/users/carol/tokens', { token: ADMIN_TOKEN, body: {} })).body
        .token
      const other = await signedIn(gateway, '#/credentials')
      await other.page.getByLabel('Bot name').fill('half typed')
      await gateway.send('PUT', '/admin/users/admin', { token: carol, body: { role: 'player' } })
      await other.page.getByRole('button', { name: 'Issue a bot token' }).click()
      await other.page.getByRole('dialog', { name: 'Sign in' }).waitFor()
      await signIn(other.page, ADMIN_TOKEN)
      await expect
        .poll(() => other.page.getByRole('alert').allTextContents())
        .toContain('This token is valid, but its user isn’t an administrator. Use an administrator’s token.')
      await signIn(other.page, carol)
      await other.page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => other.page.getByLabel('Bot name').inputValue()).toBe('half typed')
      expect([...faults, ...other.faults]).toEqual([])
    })
  })

  it.runIf(isDeep)('every view has an address and a title', async () => {
    const gateway = await testGateway()
    const ids = Array.from({ length: 120 }, (_each, index) => `player-${String(index).padStart(3, '0')}`)
    for (const id of ids) await gateway.gateway.app.users.create({ id, name: `Player ${id}`, role: 'player' })
    const { page, faults } = await signedIn(gateway, '#/users')
    const titles = new Set([await page.title()])
    const first = (): Promise<string | null> => page.locator('tbody th a').first().textContent()
    await searchIn(page).fill('PLAYER-')
    await expect.poll(first).toBe('player-000')
    for (const next of ['player-050', 'player-100']) {
      await page.getByRole('button', { name: 'Next page' }).click()
      await expect.poll(first).toBe(next)
    }
    await page.getByText('Page 3').waitFor()
    const address = await page.evaluate<string>('location.hash')
    await page.getByRole('link', { name: 'player-107' }).click()
    await page.getByRole('heading', { name: 'player-107' }).waitFor()
    titles.add(await page.title())
    await page.goBack()
    await expect.poll(first).toBe('player-100')
    await expect.poll(() => searchIn(page).inputValue()).toBe('PLAYER-')
    await expect.poll(() => page.evaluate('location.hash')).toBe(address)
    await page.getByText('Page 3').waitFor()
    await page.getByRole('link', { name: 'player-107' }).click()
    await page.getByRole('link', { name: 'All users' }).click()
    await expect.poll(first).toBe('player-100')
    await page.getByRole('button', { name: 'Previous page' }).click()
    await expect.poll(first).toBe('player-050')

    // Opened by its address: nobody knows what was before.
    const other = await signedIn(gateway, address)
    await expect.poll(() => other.page.locator('tbody th a').first().textContent()).toBe('player-100')
    await other.page.getByRole('button', { name: 'First page' }).click()
    await expect.poll(() => other.page.locator('tbody th a').first().textContent()).toBe('player-000')

    for (const hash of ['#/settings', '#/errors', '#/credentials', '#/audit', '#/nothing']) {
      await goTo(page, hash)
      titles.add(await page.title())
    }
    expect(titles.size).toBe(7)
    await chooseIn(page, 'Language', 'zh-CN')
    await goTo(page, '#/users/player-107')
    await expect.poll(() => page.title()).toBe('player-107 · 用户 · 成绩网关')
    await goTo(page, '#/users/nobody')
    await page.getByText('未找到用户“nobody”，可能已删除。').waitFor()
    expect(faults).toEqual([])
  })

  it('forms report an unreachable gateway and an invalid token, and work afterwards', async () => {
    const gateway = await testGateway()
    const { page } = await openConsole(gateway, { isAlone: true })
    for (const wrong of ['令牌', 'Bearer gw_not-a-token']) {
      await signIn(page, wrong)
      await page.getByText('This token isn’t valid.').waitFor()
      await page.locator('#token').fill('')
    }
    await signIn(page)
    await page.locator('nav.pages').waitFor()
    await goTo(page, '#/settings')
    await field(page, 'Base value: Personal, read, 1 hour').fill('5')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The gateway didn’t respond.').waitFor()
    await goTo(page, '#/users')
    await page.getByText('The gateway didn’t respond.').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'demo' }).waitFor()
    await goTo(page, '#/settings')
    await expect.poll(() => field(page, 'Base value: Personal, read, 1 hour').inputValue()).toBe('5')
  })
})

async function read({ send }: TestGateway, token: string, path: string): Promise<ReturnType<typeof JSON.parse>> {
  return (await send('GET', `/admin/${path}`, { token })).body
}

/** A new token of the administrator's; the one before is revoked. */
async function nextToken({ send }: TestGateway, token: string): Promise<string> {
  const path = '/admin/users/admin/tokens'
  const { items } = (await send('GET', path, { token })).body
  const issued = (await send('POST', path, { token, body: {} })).body
  for (const { id } of items) await send('DELETE', `${path}/${id}`, { token: issued.token })
  return issued.token
}

/** The pages that are marked. */
async function unsaved(page: Page): Promise<string[]> {
  const links = page.locator('nav.pages a').filter({ has: page.getByRole('img', { name: 'unsaved changes' }) })
  return links.allTextContents()
}
