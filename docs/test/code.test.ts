import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pages, readPage, root } from './markdown.ts'

const folder = join(root, 'docs/code')
const texts = pages().map(readPage)

it.each(readdirSync(folder))('docs/code/%s is on a page unchanged', (name) => {
  const block = `\n\`\`\`ts\n${readFileSync(join(folder, name), 'utf8')}\`\`\`\n`
  expect(texts.filter((text) => text.includes(block))).toHaveLength(1)
})
