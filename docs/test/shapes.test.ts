import { quotaExceededBody } from '@scoregw/quota/http'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { quota } from '../code/shapes.ts'
import { readPage } from './markdown.ts'

/** A JSON sample of the page, by the name in the comment above it. */
function sample(name: string): unknown {
  const [, text = 'null'] =
    new RegExp(`<!-- sample ${name} -->\\n+\`\`\`json\\n(.*?)^\`\`\``, 'ms').exec(
      readPage('docs/reference/shapes.md'),
    ) ?? []
  return JSON.parse(text)
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const subject = { user: 'ann', team: 'blue' }

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 7, 6, 14, 6, 26) }))
afterAll(() => void vi.useRealTimers())

it('the samples of decisions, statuses, bodies and settings are what the engine returns', async () => {
  expect(asJson(await quota.settings.get())).toEqual(sample('settings'))
  await quota.reserve({ subject, operation: 'chat' })
  await quota.consume({ subject, operation: 'look' })
  const decision = await quota.consume({ subject, operation: 'look' })
  if (decision.allowed) throw new Error('expected a refusal')
  expect(asJson(decision)).toEqual(sample('decision'))
  expect(asJson(quotaExceededBody(decision))).toEqual(sample('exceeded'))
  const status = asJson(await quota.status(subject)) as { readonly limits: { readonly atOnce: unknown } }
  expect({ ...status, limits: { atOnce: status.limits.atOnce } }).toEqual(sample('status'))
  const stored = await quota.subjects.set({ user: 'ann' }, { plan: 'pro', limits: { steady: 5 } })
  const { version: _version, revision: _revision, ...settings } = stored
  expect(asJson(settings)).toEqual(sample('subject'))
})

/** The names in the first column of the tables below a heading. */
function rows(page: string, heading: string): string[] {
  const [, section = ''] = readPage(page).split(`## ${heading}\n`)
  const cells = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]*?) *\|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name = '']) => name))
}

it.each([
  ['Settings', 'settings'],
  ["A subject's settings", 'subject'],
])('the table of "%s" has a row for every member', (heading, name) => {
  const members = Object.keys(sample(name) as object).filter((member) => !['version', 'revision'].includes(member))
  expect(rows('docs/reference/shapes.md', heading)).toEqual(members)
})
