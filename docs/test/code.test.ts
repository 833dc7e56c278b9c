import { expect, it } from 'vitest'
import { pages, readPage, shownFiles } from './markdown.ts'

const texts = pages().map(readPage)

it.each(shownFiles)('%s is on a page unchanged', (path) => {
  const block = `\n\`\`\`ts\n${readPage(path)}\`\`\`\n`
  expect(texts.filter((text) => text.includes(block))).toHaveLength(1)
})

it('the policy file on its page is that of the example', () => {
  const [, shown] = /```json\n(.*?)^```/ms.exec(readPage('docs/guide/decision-service.md')) ?? []
  expect(shown).toBe(readPage('examples/shared-policy/policy.json'))
})
