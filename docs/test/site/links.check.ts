import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { builtPages, fileOf } from './built-site.ts'

const ORIGIN = 'http://site'
const htmlOf = (path: string): string => readFileSync(fileOf(path) ?? '', 'utf8')
const html = new Map(builtPages().map((path) => [path, htmlOf(path)]))
const idsOf = new Map(
  [...html].map(([path, text]) => [path, new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => unescaped(id)))]),
)

function unescaped(text = ''): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}

/** The fault of an address on a page; `undefined`: it leads somewhere, or out of the site. */
function faultOf(page: string, address: string): string | undefined {
  const { origin, pathname, hash } = new URL(address, ORIGIN + page)
  if (origin !== ORIGIN) return undefined
  if (fileOf(pathname) === undefined) return `${page}: ${address} leads nowhere`
  const ids = idsOf.get(pathname)
  if (hash === '' || ids === undefined || ids.has(decodeURIComponent(hash.slice(1)))) return undefined
  return `${page}: ${address} has no such heading`
}

it('every link on every page of the site leads to a file and a heading', () => {
  expect(html.size).toBeGreaterThan(50)
  let checked = 0
  const faults = [...html].flatMap(([page, text]) =>
    [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].flatMap(([, address]) => {
      checked++
      return faultOf(page, unescaped(address)) ?? []
    }),
  )
  expect(faults).toEqual([])
  expect(checked).toBeGreaterThan(1_000)
})

it('every heading of a page has an address of its own', () => {
  for (const [page, text] of html) {
    const ids = [...text.matchAll(/<h\d[^>]* id="([^"]*)"/g)].map(([, id]) => id)
    expect([page, new Set(ids).size]).toEqual([page, ids.length])
    expect([page, /<h1[ >]/.test(text)]).toEqual([page, true])
  }
})

it('llms.txt lists every handwritten page, each available as Markdown', () => {
  const text = readFileSync(fileOf('/llms.txt') ?? '', 'utf8')
  const named = [...text.matchAll(/\]\((\/[^)]+\.md)\)/g)].map(([, path = '']) => path)
  expect(named.filter((path) => fileOf(path) === undefined)).toEqual([])
  for (const path of ['/guide/getting-started.md', '/guide/algorithms.md', '/reference/errors.md']) {
    expect(named).toContain(path)
  }
  expect(named.length).toBeGreaterThan(50)
  // Each with a description, so that a program that reads knows which to open.
  const bare = text.split('\n').filter((line) => line.startsWith('- ') && !/\]\(\S+\): \S.{19}/.test(line))
  expect(bare).toEqual([])
  expect(readFileSync(fileOf('/llms-full.txt') ?? '', 'utf8').length).toBeGreaterThan(100_000)
})
