import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pages, readPage, root, snippetsOf } from './markdown.ts'

/** Packages that offer something besides types. */
function packages(): string[] {
  const folder = join(root, 'packages')
  const indexOf = (name: string): string => join(folder, name, 'src', 'index.ts')
  return readdirSync(folder).filter(
    (name) => existsSync(indexOf(name)) && /^export (?!type\b)/m.test(readFileSync(indexOf(name), 'utf8')),
  )
}

/** What an app has anyway: the framework's own packages, and what a platform provides. */
const GIVEN = /^(?:@nestjs\/|cloudflare:|node:)/

it.each(pages().filter((page) => /^packages\/.*README\.md$/.test(page)))(
  '%s installs what its code imports',
  (page) => {
    const installed = [...readPage(page).matchAll(/npm install (.*)/g)].flatMap(([, names = '']) => names.split(' '))
    const imported = snippetsOf(page).flatMap(({ code }) =>
      [...code.matchAll(/ from '((?:@[^/']+\/)?[^/']+)/g)].map(([, name = '']) => name),
    )
    expect(imported.filter((name) => !installed.includes(name) && !GIVEN.test(name))).toEqual([])
  },
)

it.each(['README.md', 'ARCHITECTURE.md', 'docs/index.md'])('every package is named in %s', (page) => {
  expect(packages()).toContain('quota')
  const text = readPage(page)
  expect(packages().filter((name) => !new RegExp(`@scoregw/${name}(?![\\w-])`).test(text))).toEqual([])
})
