import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { basePath, builtPages, fileOf } from './built-site.ts'

const base = basePath().slice(0, -1)
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
  const { origin, pathname, hash } = new URL(address, ORIGIN + base + page)
  if (origin !== ORIGIN) return undefined
  const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : undefined
  if (path === undefined || fileOf(path) === undefined) return `${page}: ${address} leads nowhere`
  const ids = idsOf.get(path)
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
  const links = [...text.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, link = '']) => new URL(link))
  const named = links.map(({ pathname }) => pathname.slice(base.length))
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

it('every page names its address, its language’s twin and what a preview shows; the sitemap lists it', () => {
  const sitemap = readFileSync(fileOf('/sitemap.xml') ?? '', 'utf8')
  for (const [page, text] of html) {
    const canonical = /<link rel="canonical" href="([^"]*)"/.exec(text)?.[1] ?? ''
    expect([page, canonical]).toEqual([page, expect.stringMatching(/^https:\/\//)])
    expect([page, new URL(canonical).pathname]).toEqual([page, base + page])
    expect([page, sitemap.includes(`<loc>${canonical}</loc>`)]).toEqual([page, true])
    const [, image = ''] = /property="og:image" content="([^"]*)"/.exec(text) ?? []
    expect([page, fileOf(new URL(image).pathname.slice(base.length))]).toEqual([page, expect.any(String)])
    expect([page, /property="og:title" content="[^"]+"/.test(text)]).toEqual([page, true])
    const twins = [...text.matchAll(/hreflang="([^"]+)" href="([^"]+)"/g)]
    if (page.startsWith('/zh/')) expect([page, twins.length]).toEqual([page, 3])
    for (const [, language, address = ''] of twins) {
      const twin = new URL(address).pathname.slice(base.length)
      expect([page, language, html.has(twin)]).toEqual([page, language, true])
      expect(twin.startsWith('/zh/')).toBe(language === 'zh-CN')
    }
  }
})
