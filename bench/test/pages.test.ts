import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pagesNow } from '../src/pages.ts'

const root = join(import.meta.dirname, '../..')

test.each(Object.entries(pagesNow()))('%s shows the committed results (npm run bench -- pages)', (page, content) => {
  const file = join(root, page)
  expect(existsSync(file) ? readFileSync(file, 'utf8') : undefined).toBe(content)
})
