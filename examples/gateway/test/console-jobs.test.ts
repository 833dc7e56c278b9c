import { browserTests, type Locator, type Page } from '@scoregw/browser'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { changesIn, reachByKeyboard, section, settled, signedIn } from './support/console.ts'
import { ADMIN_TOKEN, ENTRY, type TestGateway, testGateway } from './support/gateway.ts'

/** What an administrator does by keyboard, and how many steps it took. */
interface Hands {
  readonly page: Page
  /** Goes to a control with Tab and presses Enter. */
  press(what: Locator): Promise<void>
  /** Types, which replaces what is there. */
  write(field: Locator, text: string): Promise<void>
  /** Chooses another of several values with the arrow keys. */
  choose(among: Locator, key: string): Promise<void>
  /** Presses the keys of a shortcut. */
  keys(...keys: string[]): Promise<void>
  steps(): number
}

describe.runIf(browserTests && slowTests)('the five jobs of an administrator, by keyboard', () => {
  it('raising a limit for a user takes 3 steps', async () => {
    const { gateway, hands } = await atWork()
    const { page, write, keys } = hands
    await findUser(hands, 'Demo Player')
    await write(page.getByRole('textbox', { name: 'Write, 1 hour', exact: true }), '200')
    const limits = section(page, 'This user’s limits')
    await expect.poll(() => changesIn(limits)).toEqual(['Write, 1 hour: default → 200'])
    await keys('Enter')
    await limits.getByText('Saved.', { exact: true }).waitFor()
    expect((await upsert(gateway)).status).toBe(200)
    expect(hands.steps()).toBe(3)
  })

  it('seeing why a user was refused takes 1 step', async () => {
    const { hands } = await atWork()
    await findUser(hands, 'demo')
    const reason = /music\.upsert needed 15 tokens, and 60 of 60 were used\. Room again at/
    await expect.poll(() => hands.page.locator('.refusal p').last().textContent()).toMatch(reason)
    expect(hands.steps()).toBe(1)
  })

  it('switching to adaptive takes 3 steps', async () => {
    const { gateway, hands } = await atWork()
    const { page, press, choose, keys } = hands
    await press(page.getByRole('link', { name: 'Limits' }))
    await settled(page)
    await choose(page.locator('input[name=mode]:checked'), 'ArrowRight ArrowRight')
    await expect.poll(() => changesIn(page)).toEqual(['Mode: Normal → Adaptive'])
    await keys('Enter')
    await page.getByText('Saved.', { exact: true }).waitFor()
    const { body } = await gateway.send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
    expect([body.mode, hands.steps()]).toEqual(['adaptive', 3])
  })

  it('watching errors takes 1 step', async () => {
    const { gateway, hands } = await atWork()
    const { db } = gateway.gateway.app
    await db.schema.alterTable('tickets').renameTo('away').execute()
    expect((await gateway.send('POST', '/v1/user/charge')).status).toBe(500)
    await db.schema.alterTable('away').renameTo('tickets').execute()
    await hands.press(hands.page.getByRole('link', { name: 'Errors' }))
    await hands.page.getByRole('row', { name: /^POST \/v1\/user\/charge 500 1 / }).waitFor()
    expect(hands.steps()).toBe(1)
  })

  it('rotating a token takes 4 steps', async () => {
    const { gateway, hands } = await atWork()
    const { page, press, keys } = hands
    const issue = { token: ADMIN_TOKEN, body: { label: 'phone' } }
    const former = (await gateway.send('POST', '/admin/users/demo/tokens', issue)).body.token
    await findUser(hands, 'demo')
    await press(page.getByRole('button', { name: 'Rotate phone' }))
    await page.getByRole('dialog', { name: 'Rotate “phone”?' }).waitFor()
    await keys('Tab', 'Enter')
    const token = await page.getByLabel('New credential').inputValue()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await press(page.getByRole('button', { name: 'Copy' }))
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(token)
    for (const each of [former, token]) {
      expect((await gateway.send('GET', '/me/quota', { token: each })).status).toBe(200)
    }
    expect(hands.steps()).toBe(4)
  })

  it('the header finds users by id and name, and lists them if there are several', async () => {
    const { gateway, hands } = await atWork()
    const { page } = hands
    for (const id of ['dem', 'demi', '%/?'.replace('/', '')])
      await gateway.send('PUT', `/admin/users/${encodeURIComponent(id)}`, { token: ADMIN_TOKEN, body: {} })
    const find = async (text: string): Promise<void> => {
      await page.evaluate('document.activeElement.blur()')
      await page.keyboard.press('/')
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    const title = (name: string): Promise<void> => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    await find('dem')
    await title('dem')
    await find('DEMO PL')
    await title('demo')
    await find('%?')
    await title('%?')
    await find('de')
    await title('Users')
    await page.getByText('3 users').waitFor()
    await find('x'.repeat(128))
    await title('x'.repeat(128))
    await page.getByText('not found').waitFor()
    // In a field it's a character.
    await find('')
    await title('Users')
    const field = page.locator('main').getByRole('searchbox')
    await field.focus()
    await page.keyboard.type('a/')
    await expect.poll(() => field.inputValue()).toBe('a/')
  })

  it('what an administrator does in the console isn’t traffic', async () => {
    const { gateway, hands } = await atWork()
    const rate = async (): Promise<number> =>
      (await gateway.send('GET', '/admin/usage/failure-rate', { token: ADMIN_TOKEN })).body.summary.calls
    const before = await rate()
    for (const name of ['Limits', 'Users', 'Refusals', 'Errors', 'Credentials', 'Audit trail']) {
      await hands.press(hands.page.getByRole('link', { name, exact: true }))
      await settled(hands.page)
    }
    await findUser(hands, 'nobody')
    await hands.page.getByText('No id or name begins with').waitFor()
    expect(await rate()).toBe(before)
  })
})

const upsert = ({ send }: TestGateway): ReturnType<TestGateway['send']> =>
  send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })

/** A user who was refused, and an administrator who has signed in. */
async function atWork(): Promise<{ readonly gateway: TestGateway; readonly hands: Hands }> {
  const gateway = await testGateway()
  await gateway.send('PUT', '/admin/users/demo', { token: ADMIN_TOKEN, body: { name: 'Demo Player' } })
  for (let each = 0; each < 5; each++) await upsert(gateway)
  const { page } = await signedIn(gateway, '#/overview', { isAlone: true })
  return { gateway, hands: handsOn(page) }
}

async function findUser({ page, keys }: Hands, text: string): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.type(text)
  await keys('Enter')
  await settled(page)
}

/** More often than any page has something to stop at. */
const MOST_STOPS = 80

function handsOn(page: Page): Hands {
  let steps = 0
  const reach = (what: Locator): Promise<void> => reachByKeyboard(page, what, MOST_STOPS)
  const keys = async (...all: string[]): Promise<void> => {
    steps++
    for (const key of all) await page.keyboard.press(key)
  }
  return {
    page,
    keys,
    steps: () => steps,
    async press(what) {
      await reach(what)
      await keys('Enter')
    },
    async write(field, text) {
      await reach(field)
      steps++
      await page.keyboard.press('Control+A')
      await page.keyboard.type(text)
    },
    async choose(among, key) {
      await reach(among)
      await keys(...key.split(' '))
    },
  }
}
