import { browserTests, type Locator, type Page } from '@scoregw/browser'
import { describe, expect, it } from 'vitest'
import { watchedPage } from './support/browser.ts'
import { reachByKeyboard, screenAndAccessibilityFaults, searchIn, settled } from './support/console.ts'
import { ADMIN_TOKEN, ENTRY, HOUR_MS, type TestGateway, testGateway } from './support/gateway.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'
const PHONE = { width: 390, height: 844 }
/** More often than any page has something to stop at. */
const MOST_STOPS = 120

/** How a person uses the controls of a page. */
interface Hands {
  press(what: Locator): Promise<void>
  write(field: Locator, text: string): Promise<void>
}

describe.runIf(browserTests && isDeep)('a newcomer with a phone', { timeout: 300_000 }, () => {
  it.each([
    ['fingers', fingers],
    ['a keyboard', keyboard],
  ] as const)(
    'a newcomer finds out why a user was refused an hour ago and lifts the limit, with %s',
    async (_name, handsOf) => {
      const gateway = await refusedAnHourAgo()
      const { page, faults } = await watchedPage({ viewport: PHONE, hasTouch: true })
      const { press, write } = handsOf(page)
      const looksRight = async (): Promise<void> => expect(await screenAndAccessibilityFaults(page)).toEqual([])
      // All that a newcomer knows is the address.
      await page.goto(gateway.gateway.addresses.gateway)
      await looksRight()
      await press(page.getByRole('link', { name: 'Console' }))
      await write(page.getByLabel('Token'), ADMIN_TOKEN)
      await press(page.getByRole('button', { name: 'Sign in' }))
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await press(page.getByRole('link', { name: 'Users' }))
      await page.getByRole('heading', { name: 'Users' }).waitFor()
      await write(searchIn(page), 'dem')
      await page.getByText('1 user', { exact: true }).waitFor()
      await press(page.getByRole('link', { name: 'demo' }))
      await settled(page)
      await looksRight()
      await expect
        .poll(() => page.locator('.refusal').allTextContents())
        .toEqual([expect.stringMatching(/^Personal, write, 1 hour1 × · 1 hour agomusic\.upsert needed 15 tokens/)])
      await write(page.getByRole('textbox', { name: 'Write, 1 hour', exact: true }), '200')
      const limits = page.locator('section').filter({ has: page.getByRole('heading', { name: 'This user’s limits' }) })
      await looksRight()
      await press(limits.getByRole('button', { name: 'Save', exact: true }))
      await limits.getByText('Saved.', { exact: true }).waitFor()
      expect((await upsert(gateway)).status).toBe(200)
      expect(faults).toEqual([])
    },
  )
})

const upsert = ({ send }: TestGateway): ReturnType<TestGateway['send']> =>
  send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })

/** A gateway with a user who was refused an hour ago, and would be now. */
async function refusedAnHourAgo(): Promise<TestGateway> {
  const gateway = await testGateway()
  const { clock } = gateway
  const useUp = async (): Promise<number> => {
    for (let each = 0; each < 4; each++) await upsert(gateway)
    return (await upsert(gateway)).status
  }
  expect(await useUp()).toBe(429)
  clock.advance(HOUR_MS)
  for (let each = 0; each < 4; each++) await upsert(gateway)
  return gateway
}

function fingers(): Hands {
  return {
    press: (what) => what.tap(),
    async write(field, text) {
      await field.tap()
      await field.fill(text)
    },
  }
}

/** Goes from one thing to the next until it is there, as a person without a pointer has to. */
function keyboard(page: Page): Hands {
  const reach = (what: Locator): Promise<void> => reachByKeyboard(page, what, MOST_STOPS)
  return {
    async press(what) {
      await reach(what)
      await page.keyboard.press('Enter')
    },
    async write(field, text) {
      await reach(field)
      await page.keyboard.press('Control+A')
      await page.keyboard.type(text)
    },
  }
}
