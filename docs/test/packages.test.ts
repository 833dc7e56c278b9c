import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readPage, root } from './markdown.ts'

/** Packages that offer something besides types. */
function packages(): string[] {
  const folder = join(root, 'packages')
  const indexOf = (name: string): string => join(folder, name, 'src', 'index.ts')
  return readdirSync(folder).filter(
    (name) => existsSync(indexOf(name)) && /^export (?!type\b)/m.test(readFileSync(indexOf(name), 'utf8')),
  )
}

it.each(['README.md', 'ARCHITECTURE.md', 'docs/index.md'])('every package is named in %s', (page) => {
  expect(packages()).toContain('quota')
  const text = readPage(page)
  expect(packages().filter((name) => !new RegExp(`@scoregw/${name}(?![\\w-])`).test(text))).toEqual([])
})
